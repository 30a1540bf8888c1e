#!/usr/bin/env bash
# Builds and runs the tests. --full adds the demo model, sanitizers, long tables, many seeds and
# fuzzing.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/app/packages.sh"
. "$here/app/demo_model.sh"

full=no
for argument in "$@"; do
  case $argument in
    --full) full=yes ;;
    -h | --help) echo "usage: tests/run.sh [--full]"; exit 0 ;;
    *) echo "run.sh: unknown argument $argument (known: --full)" >&2; exit 2 ;;
  esac
done

# run_tests BUILD_FOLDER CMAKE_ARGUMENTS...
run_tests() {
  local build=$1; shift
  cmake -S "$here" -B "$build" -G Ninja -DWARPCHAT_TESTS=ON "$@" >&2
  ninja -C "$build"
  ctest --test-dir "$build" --output-on-failure -j "$(nproc)"
}

run_fuzzers() {
  local build=$here/build-fuzz
  cmake -S "$here" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER=clang++ \
    -DWARPCHAT_FUZZERS=ON -DWARPCHAT_TESTS=ON >&2
  ninja -C "$build" fuzzers
  for fuzzer in "$build"/*_fuzz; do
    echo "fuzzing $(basename "$fuzzer")"
    (cd "$build" && "$fuzzer" -max_total_time="${FUZZ_SECONDS:-120}" -rss_limit_mb=1024 -timeout=10 \
      "corpus/$(basename "$fuzzer")" >"$fuzzer.log" 2>&1) ||
      { tail -n 40 "$fuzzer.log"; fail "$(basename "$fuzzer") found a fault"; }
  done
}

# NVIDIA's Python bindings, which one test runs on the emulator, are in no Debian package. Without them it is skipped.
fetch_cuda_bindings() {
  local folder=$here/build/python
  export PYTHONPATH=$folder${PYTHONPATH:+:$PYTHONPATH}
  python3 -c 'import cuda.bindings' 2>/dev/null && return
  install_packages $download_packages
  python3 -m pip install -q --disable-pip-version-check --target "$folder" cuda-bindings==13.0.3 >&2 ||
    echo "run.sh: cuda-bindings could not be installed; see pip's message above" >&2
}

install_packages $build_packages $test_packages
if [ "$full" = yes ]; then
  export WARPCHAT_FULL_TESTS=1
  install_packages $full_test_packages
  fetch_demo_model
  fetch_cuda_bindings
fi
run_tests "$here/build" -DCMAKE_BUILD_TYPE=Release
if [ "$full" = yes ]; then
  run_tests "$here/build-asan" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_CXX_FLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
  run_fuzzers
fi
