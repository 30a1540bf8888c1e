#!/bin/sh
# Writes the machine code of every kernel of the known shapes, one file for each kernel, so that a change which must not
# move it can be checked:
#   tests/gpu/sass.sh CHAT FOLDER [SHAPES] [TARGETS]
#   tests/gpu/sass.sh --compare BEFORE AFTER
# FOLDER gets TARGET.SHAPE.MODULE.KERNEL.sass, in which the kernel's own name is KERNEL and called functions are
# FUNCTION, and rows.txt: target, shape, module, registers, spilled bytes, instructions, checksum, kernel. --compare
# compares checksums and fails unless both folders have the same code, whatever its names.
# JOBS: number of parallel jobs. PTXAS=FILE, NVDISASM=FILE: other tools.
set -eu

find_tool() { # variable's value, name
  if [ -n "$1" ]; then echo "$1"; else command -v "$2" || ls /usr/local/cuda*/bin/"$2" 2> /dev/null | tail -n 1; fi
}

if [ "${1:-}" = --compare ]; then
  for rows in "$2" "$3"; do awk '{ print $1, $2, $3, $7 }' "$rows/rows.txt" | sort > "$rows/sums.txt"; done
  if diff "$2/sums.txt" "$3/sums.txt" > /dev/null; then
    echo "the machine code of $(wc -l < "$3/sums.txt") kernels is the same"
    exit
  fi
  # What only one of the two has, with its numbers and name.
  for pair in "$2 $3 <" "$3 $2 >"; do
    set -- $pair
    awk -v sign="$3" 'FNR == NR { ++n[$0]; next } --n[$1 " " $2 " " $3 " " $7] < 0 { print sign, $0 }' "$2/sums.txt" \
      "$1/rows.txt"
  done
  exit 1
fi

one() { # target, shape
  place=$folder/$1.$2
  mkdir "$place"
  "$chat" kernels --shape "$2" --target "$1" --ptx "$place" > /dev/null
  for text in "$place"/*.ptx; do
    module=$(basename "$text" .ptx)
    "$ptxas" -v -arch="$1" -o "$place/$module.cubin" "$text" 2> "$place/$module.log"
    "$nvdisasm" -c "$place/$module.cubin" | awk -v "out=$folder/$1.$2.$module." '
      /^[\t ]*\.section[\t ]+\.text\./ {
        name = $0
        sub(/^[^,]*\.text\./, "", name); sub(/,.*/, "", name)
        file = out name ".sass"
        delete label_of
        n_labels = 0
      }
      /^\/\/--/ || (/^[\t ]*\.section[\t ]/ && !/\.text\./) { file = "" }
      file != "" && !/^[\t ]*$/ && !/\.nv\.reservedSmem/ {
        gsub(name, "KERNEL")
        gsub(/[A-Za-z0-9_]+_body|(normed|output|gate_up|down)(_ahead)?_gemv[a-z0-9_]*|write_stamp/, "FUNCTION")
        # Labels and functions of the compiler are numbered through the module.
        gsub(/__internal_[0-9]+_/, "__internal_")
        rest = $0
        line = ""
        while (match(rest, /\.L_x_[0-9]+/)) {
          label = substr(rest, RSTART, RLENGTH)
          if (!(label in label_of)) label_of[label] = ".L_" ++n_labels
          line = line substr(rest, 1, RSTART - 1) label_of[label]
          rest = substr(rest, RSTART + RLENGTH)
        }
        print line rest > file
      }'
    awk '/Compiling entry function/ { split($0, part, "'\''"); name = part[2] }
         /spill stores/ { spilled[name] = $5 }
         /Used [0-9]+ registers/ { for (i = 1; i < NF; ++i) if ($i == "Used") print name, $(i + 1), spilled[name] + 0 }' \
      "$place/$module.log" | while read -r name registers spilled; do
      file=$folder/$1.$2.$module.$name.sass
      echo "$1 $2 $module $registers $spilled $(grep -c '^ *\/\*[0-9a-f]*\*\/ ' "$file") $(sha256sum < "$file" | cut -c1-16) $name"
    done > "$place.$module.rows"
  done
  rm -r "$place"
}

if [ "${1:-}" = --one ]; then
  one "$2" "$3"
  exit
fi

chat=$1 folder=$2
shapes=${3:-qwen2.5-0.5b qwen2.5-1.5b qwen2.5-3b qwen2.5-7b qwen3-0.6b qwen3-1.7b qwen3-4b qwen3-30b-a3b \
  qwen3.5-4b qwen3.5-9b qwen3.5-27b qwen3.5-35b-a3b}
targets=${4:-sm_75 sm_80 sm_90 sm_120}
ptxas=$(find_tool "${PTXAS:-}" ptxas || true)
nvdisasm=$(find_tool "${NVDISASM:-}" nvdisasm || true)
for tool in ptxas nvdisasm; do
  eval "[ -n \"\$$tool\" ]" && continue
  echo "sass.sh: no $tool; it comes with the CUDA toolkit, nvdisasm with PyPI's nvidia-cuda-nvdisasm, too" >&2
  exit 1
done
mkdir "$folder"
export chat folder ptxas nvdisasm
for target in $targets; do
  for shape in $shapes; do echo "--one $target $shape"; done
done | xargs -P "${JOBS:-$(nproc)}" -L 1 "$0"
cat "$folder"/*.rows | sort > "$folder/rows.txt"
rm "$folder"/*.rows
