#!/bin/sh
# Assembles every kernel of every known shape for every target, as the driver would. Prints one row each: registers,
# spilled bytes and stack of a thread, calls left in the machine code, calls inside a loop over weights, and resident
# blocks per multiprocessor. Fails for an error, a spill, or a call inside a loop over weights. Such a loop is a
# backward branch around streaming loads (LDG with NA, as for weights, keys and values) or asynchronous copies (LDGSTS,
# UBLKCP), with no smaller one inside. Before sm_90, most calls are shuffles of diverged warps.
#   tests/gpu/assemble.sh CHAT [SHAPES] [TARGETS]
# JOBS: number of parallel jobs. PTXAS=FILE, NVDISASM=FILE: other tools, for example of an older CUDA.
set -eu
chat=$1

find_tool() { # variable's value, name
  if [ -n "$1" ]; then echo "$1"; else command -v "$2" || ls /usr/local/cuda*/bin/"$2" 2> /dev/null | tail -n 1; fi
}

# target, shape: rows and faults of its modules into $folder.
assemble() {
  place=$folder/$1.$2
  "$chat" kernels --shape "$2" --target "$1" --ptx "$place" > "$place.list"
  for text in "$place"/*.ptx; do
    module=$(basename "$text" .ptx)
    if ! "$ptxas" -v -arch="$1" -o "$place/$module.cubin" "$text" > "$place/$module.log" 2>&1; then
      echo "$1 $2 $module: $(head -n 3 "$place/$module.log")" >> "$place.faults"
      continue
    fi
    "$nvdisasm" -c "$place/$module.cubin" > "$place/$module.sass"
    awk -v "target=$1" -v "shape=$2" -v "faults=$place.faults" -f "$rows" "$place.list" "$place/$module.log" \
      "$place/$module.sass" >> "$place.rows"
  done
  rm -r "$place"
}

if [ "${1:-}" = --one ]; then
  chat=$2
  assemble "$3" "$4"
  exit
fi

shapes=${2:-qwen2.5-0.5b qwen2.5-1.5b qwen2.5-3b qwen2.5-7b qwen3-0.6b qwen3-1.7b qwen3-4b qwen3-30b-a3b \
  qwen3.5-4b qwen3.5-9b qwen3.5-27b qwen3.5-35b-a3b}
targets=${3:-sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120}
ptxas=$(find_tool "${PTXAS:-}" ptxas || true)
nvdisasm=$(find_tool "${NVDISASM:-}" nvdisasm || true)
for tool in ptxas nvdisasm; do
  eval "[ -n \"\$$tool\" ]" && continue
  echo "assemble.sh: no $tool; it comes with the CUDA toolkit, nvdisasm with PyPI's nvidia-cuda-nvdisasm, too" >&2
  exit 1
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
rows=$(cd "$(dirname "$0")" && pwd)/assemble_rows.awk
export ptxas nvdisasm folder rows
for target in $targets; do
  for shape in $shapes; do echo "--one $chat $target $shape"; done
done | xargs -P "${JOBS:-$(nproc)}" -L 1 "$0" || true

format='%-8s%-17s%-104s%10s%8s%7s%7s%16s%8s\n'
printf "$format" target shape kernel registers spilled stack calls "in weight loops" blocks
cat "$folder"/*.rows 2> /dev/null | sort | while read -r row; do printf "$format" $row; done
cat "$folder"/*.faults 2> /dev/null | sort || true
kernels=$(cat "$folder"/*.rows 2> /dev/null | wc -l)
faults=$(cat "$folder"/*.faults 2> /dev/null | wc -l)
missing=0
for target in $targets; do
  for shape in $shapes; do [ -s "$folder/$target.$shape.rows" ] || missing=$((missing + 1)); done
done
echo "$kernels kernels assembled, $faults faults, $missing shapes left without a kernel"
[ "$faults" = 0 ] && [ "$missing" = 0 ]
