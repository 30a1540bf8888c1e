#!/bin/sh
# Compiles the kernels with nvcc into ptx/NAME.TARGET[.FLAVOUR].ptx; with --check, tests whether ptx/ is up to date.
#   compile.sh [--check] [NAME...]     NVCC names the compiler; without one the script skips with a message.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-/usr/local/cuda/bin/nvcc}

# name | targets | flavours besides plain (only for the last target). o0 and debug texts are long, so some kernels have
# none; -use_fast_math only matters for kernels with such mathematics.
table='
async_copies     | 80 90    | lineinfo
atomics          | 75 90    | o0
bulk_copies      | 90       | o0 lineinfo debug
block_barriers   | 75 80    | o0 debug
control_flow     | 75 80 90 | o0 debug lineinfo
conversions      | 80       | o0
device_functions | 75 80 90 | o0 debug lineinfo
divergent_calls  | 90       | o0 debug lineinfo
dot_products     | 75 80 90 | o0 debug
grid_barriers    | 75 80 90 | o0 lineinfo debug
half_arithmetic  | 75 90    | fast
half_conversions | 75 90    | o0
integers         | 75 90    | o0
math_double      | 80       |
math_float       | 75 90    | fast
math_intrinsics  | 75 80    | o0 fast debug
matmul_mma       | 75 80    |
matmul_tiled     | 75 80 90 | o0 debug fast
matmul_wmma      | 75 80    |
memory_access    | 75 80 90 | o0 debug
quantised_gemv   | 75 80 90 | o0 debug lineinfo fast
reductions       | 75 80 90 | o0 debug lineinfo
scan             | 75 80 90 | o0 debug
softmax          | 75 80 90 | o0 debug fast
sort_bitonic     | 75 80 90 | o0 debug
sort_radix       | 75 80 90 | o0 debug
variables        | 75 80 90 | o0 debug lineinfo
video            | 90       |
warp_groups      | 75 80 90 | o0 debug
'

flag_of() {
  case $1 in
    plain) ;;
    o0) echo -Xcicc -O0 ;;
    debug) echo -G ;;
    lineinfo) echo -lineinfo ;;
    fast) echo -use_fast_math ;;
  esac
}

# compile NAME TARGET FLAVOUR FILE. Debug information contains the source's folder and the current one, so both are
# fixed.
place=/tmp/warpchat_cuda
compile() {
  (cd "$place" && "$nvcc" --ptx -std=c++17 -arch="sm_$2" $(flag_of "$3") -o "$4" "$place/$1.cu")
}

check=no
if [ "${1:-}" = --check ]; then
  check=yes
  shift
fi
wanted=" $* "
if ! [ -x "$nvcc" ]; then
  echo "compile.sh: skipped: no nvcc at $nvcc"
  exit 77
fi
mkdir "$place"  # fails if another run is under way
trap 'rm -rf "$place"' EXIT
cp *.cu "$place"
touch -d 2025-01-01 "$place"/*.cu  # debug information also contains the source's time
scratch=$place/ptx
mkdir -p ptx "$scratch"
stale=0
make_one() {
  to=$1.sm_$2.ptx
  [ "$3" = plain ] || to=$1.sm_$2.$3.ptx
  compile "$1" "$2" "$3" "$scratch/$to"
  if [ $check = no ]; then
    mv "$scratch/$to" "ptx/$to"
  elif ! cmp -s "$scratch/$to" "ptx/$to"; then
    echo "compile.sh: ptx/$to is not what $nvcc makes; run compile.sh $1"
    stale=1
  fi
}
while IFS='|' read -r name targets flavours; do
  name=$(echo $name)
  [ -n "$name" ] || continue
  [ "$wanted" = "  " ] || case $wanted in *" $name "*) ;; *) continue ;; esac
  for target in $targets; do make_one "$name" "$target" plain; done
  for flavour in $flavours; do make_one "$name" "$target" "$flavour"; done
done <<TABLE
$table
TABLE
exit $stale
