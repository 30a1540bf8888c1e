#!/bin/sh
# Assembles every kernel of every known shape for every target with ptxas, and fails for an error or a spill.
#   tests/gpu/assemble.sh CHAT [SHAPES] [TARGETS]
# PTXAS=FILE takes that one, as of an older CUDA.
set -eu
chat=$1
shapes=${2:-qwen2.5-0.5b qwen2.5-1.5b qwen2.5-3b qwen2.5-7b qwen3-0.6b qwen3-1.7b qwen3-4b}
targets=${3:-sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120}
ptxas=${PTXAS:-$(command -v ptxas || ls /usr/local/cuda*/bin/ptxas 2> /dev/null | tail -n 1 || true)}
if [ -z "$ptxas" ]; then
  echo "assemble.sh: no ptxas; it comes with the CUDA toolkit" >&2
  exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
faults=0
kernels=0
for target in $targets; do
  for shape in $shapes; do
    "$chat" kernels --shape "$shape" --target "$target" --ptx "$folder/$shape" > /dev/null
    for text in "$folder/$shape"/*.ptx; do
      name="$target $shape $(basename "$text")"
      kernels=$((kernels + $(grep -c '^\.visible \.entry' "$text")))
      if ! "$ptxas" -v -arch="$target" -o /dev/null "$text" > "$folder/log" 2>&1; then
        echo "$name: $(head -n 3 "$folder/log")"
        faults=$((faults + 1))
      elif grep ' bytes spill stores' "$folder/log" | grep -qv ' 0 bytes spill stores, 0 bytes spill loads'; then
        echo "$name: $(grep ' bytes spill stores' "$folder/log" | grep -v ' 0 bytes spill stores, 0 bytes spill loads')"
        faults=$((faults + 1))
      fi
    done
  done
done
echo "$kernels kernels assembled, $faults faults"
[ "$faults" = 0 ]
