#!/bin/sh
# Packs what a machine with a GPU and nothing but CUDA needs to check and measure the kernels: programs with everything
# but the C library inside, the scripts, the small models with exact logits, and llama.cpp's source where
# tests/gpu/fetch_llama.sh fetched it. Leaves build/gpu-check.tar.gz, which tests/gpu/run.sh unpacks there. Fails where
# archive and repository, which travel together, exceed $TRAVEL_MIB (64).
#   tests/gpu/pack.sh [BUILD_DIRECTORY]
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/portable}
archive=$root/build/gpu-check.tar.gz
most=${TRAVEL_MIB:-64}
programs="kernels_test gpu_decoder_test gpu_logits_test driver_test gpu_bench"

cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DWARPCHAT_PORTABLE=ON -DWARPCHAT_GUI=OFF > /dev/null
ninja -C "$build" $programs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pack=$work/gpu-check
mkdir -p "$pack"
for program in $programs; do
  strip -o "$pack/$program" "$build/$program"
  foreign=$(ldd "$pack/$program" | grep -vE 'linux-vdso|ld-linux|libc\.so|libm\.so|libpthread|libdl' || true)
  if [ -n "$foreign" ]; then
    echo "pack.sh: $program needs more than the C library: $foreign" >&2
    exit 1
  fi
done
for script in run.sh run_tests.sh left_out.txt compare_llama.sh; do cp "$root/tests/gpu/$script" "$pack/"; done

cp -r "${WARPCHAT_REFERENCE_DATA:-$root/tests/models/exact}" "$pack/reference"
if [ -f "$root/build/llama.cpp.tar.gz" ]; then
  cp "$root/build/llama.cpp.tar.gz" "$pack/"
else
  echo "pack.sh: packed without llama.cpp; tests/gpu/fetch_llama.sh fetches it for a comparison"
fi
git -C "$root" describe --always --dirty > "$pack/COMMIT" 2> /dev/null || echo unknown > "$pack/COMMIT"
mkdir -p "$root/build"
tar -C "$work" -czf "$archive" gpu-check

repository=$(cd "$root" && git ls-files -z --cached --others --exclude-standard | xargs -0 stat -c %s 2> /dev/null |
  awk '{ bytes += $1 } END { print bytes + 0 }')
packed=$(stat -c %s "$archive")
echo "$archive: $((packed >> 20)) MiB, the repository $((repository >> 20)) MiB"
if [ $((packed + repository)) -gt $((most << 20)) ]; then
  echo "pack.sh: together they are larger than $most MiB" >&2
  exit 1
fi
