#!/bin/sh
# Links what a machine with a GPU and nothing but CUDA needs to check and measure the kernels: everything but the C
# library is inside the programs. Leaves build/gpu-check/ with run.sh, and build/gpu-check.tar.xz with the same; unpack
# it there and start run.sh.
#   tests/gpu/pack.sh [BUILD_DIRECTORY]
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/portable}
pack=$root/build/gpu-check
programs="kernels_test gpu_decoder_test gpu_logits_test driver_test gpu_bench"

cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DWARPCHAT_PORTABLE=ON -DWARPCHAT_GUI=OFF > /dev/null
ninja -C "$build" $programs
rm -rf "$pack"
mkdir -p "$pack"
for program in $programs; do
  strip -o "$pack/$program" "$build/$program"
  foreign=$(ldd "$pack/$program" | grep -vE 'linux-vdso|ld-linux|libc\.so|libm\.so|libpthread|libdl' || true)
  if [ -n "$foreign" ]; then
    echo "pack.sh: $program needs more than the C library: $foreign" >&2
    exit 1
  fi
done
cp "$root/tests/gpu/run.sh" "$root/tests/gpu/compare_llama.sh" "$pack/"
if [ -f "$root/build/llama.cpp.tar.gz" ]; then
  cp "$root/build/llama.cpp.tar.gz" "$pack/"
else
  echo "pack.sh: packed without llama.cpp; tests/gpu/fetch_llama.sh fetches it for a comparison"
fi
git -C "$root" describe --always --dirty > "$pack/COMMIT" 2> /dev/null || echo unknown > "$pack/COMMIT"
tar -C "$root/build" -cJf "$pack.tar.xz" gpu-check
du -sh "$pack" "$pack.tar.xz"
if [ "$(du -sm "$pack.tar.xz" | cut -f1)" -gt 64 ]; then
  echo "pack.sh: $pack.tar.xz is larger than 64 MiB" >&2
  exit 1
fi
