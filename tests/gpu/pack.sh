#!/bin/sh
# Packs what a machine with a GPU needs to check and measure the GPU path if it has nothing but CUDA's driver. The
# archive holds tests and measurements (linked statically except the C library), `chat` without its window and with its
# shared libraries, and the emulator as a driver's library, for a rehearsal. It also holds the scripts, the small models
# with exact logits, and llama.cpp's source if tests/gpu/fetch_llama.sh fetched it. Result: build/gpu-check.tar.xz,
# which tests/gpu/run.sh unpacks. Fails if archive and repository together exceed $TRAVEL_MIB (64).
#   tests/gpu/pack.sh [BUILD_DIRECTORY]
# ARCHIVE: another output file; AS_BUILT=1: packs the directory as it is, for this machine only; XZ_LEVEL: compression
# (-9, because the programs are alike). On two cores the first build takes some 20 minutes.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/portable}
archive=${ARCHIVE:-$root/build/gpu-check.tar.xz}
most=${TRAVEL_MIB:-64}
tests="kernels_test gpu_decoder_test gpu_logits_test driver_test gpu_bench"

rm -f "$archive"  # if this fails, no older programs are measured instead
if [ -z "${AS_BUILT:-}" ]; then
  cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DWARPCHAT_PORTABLE=ON \
    -DWARPCHAT_GUI=OFF > /dev/null
  ninja -C "$build" $tests chat cuda_emulator
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pack=$work/gpu-check
mkdir -p "$pack/lib"

# The shared libraries of a program except glibc's, which come with the machine's loader: lines "name path".
libraries() {
  ldd "$1" | awk '/=> \// { print $1, $3 }' |
    grep -vE '^(ld-linux[^ ]*|libc|libm|libpthread|libdl|librt|libresolv|libutil|libanl)\.so' || true
}
for program in $tests chat libcuda_emulator.so; do
  strip -o "$pack/$program" "$build/$program"
  foreign=$(libraries "$pack/$program")
  if [ "$program" != chat ] && [ -n "$foreign" ] && [ -z "${AS_BUILT:-}" ]; then
    echo "pack.sh: $program needs more than the C library: $foreign" >&2
    exit 1
  fi
done
libraries "$build/chat" | while read -r name path; do strip --strip-unneeded -o "$pack/lib/$name" "$path"; done
for script in run.sh run_tests.sh chat_modes.sh compare_llama.sh left_out.txt; do
  cp "$root/tests/gpu/$script" "$pack/"
done

cp -r "${WARPCHAT_REFERENCE_DATA:-$root/tests/models/exact}" "$pack/reference"
if [ -f "$root/build/llama.cpp.tar.gz" ]; then cp "$root/build/llama.cpp.tar.gz" "$pack/"; fi
git -C "$root" describe --always --dirty > "$pack/COMMIT" 2> /dev/null || echo unknown > "$pack/COMMIT"
mkdir -p "$(dirname "$archive")"
tar -C "$work" -cf - gpu-check | xz "${XZ_LEVEL:--9}" > "$archive"

repository=$(cd "$root" && git ls-files -z --cached --others --exclude-standard | xargs -0 stat -c %s 2> /dev/null |
  awk '{ bytes += $1 } END { print bytes + 0 }')
packed=$(stat -c %s "$archive")
echo "$archive: $((packed >> 20)) MiB, the repository $((repository >> 20)) MiB"
if [ $((packed + repository)) -gt $((most << 20)) ]; then
  echo "pack.sh: together they are larger than $most MiB" >&2
  exit 1
fi
