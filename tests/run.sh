#!/usr/bin/env bash
# Builds and runs the tests. --full adds the demo model, long tables, many seeds, sanitizers and fuzzing, goes through
# all of it whatever fails, and lists at the end what did.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/app/packages.sh"
. "$here/app/demo_model.sh"

usage="usage: tests/run.sh [--full | --sanitized | --fuzz]

Builds in build/ and runs all suites. Others:
  --sanitized  the same in build-asan/, with the address and undefined-behaviour sanitizers and asserts
  --fuzz       in build-fuzz/, with clang: every fuzzer for \$FUZZ_SECONDS seconds (120)
  --full       all three, the first with long tables, 1000 seeds, 200 kills, and on the demo model (fetched, 95 MB)

On two idle cores, with the first builds, it takes roughly 20 minutes, --sanitized 40, --full an hour and a half."

failures=()

# heading STAGE: says what begins, and when.
heading() { printf '\n=== %s  %s\n' "$(date +%T)" "$*"; }

# build FOLDER TARGET CMAKE_ARGUMENTS...
build() {
  local folder=$1 target=$2; shift 2
  cmake -S "$here" -B "$folder" -G Ninja -DWARPCHAT_TESTS=ON "$@" >&2 && ninja -C "$folder" -k 0 "$target" && return
  failures+=("$(basename "$folder") could not be built")
  return 1
}

# run_tests FOLDER CMAKE_ARGUMENTS...
run_tests() {
  local folder=$1 failed=$1/Testing/Temporary/LastTestsFailed.log name; shift
  heading "building in $folder"
  build "$folder" all "$@" || return 0
  heading "all suites of $folder"
  rm -f "$failed"
  ctest --test-dir "$folder" --timeout 3600 --output-on-failure -j "$(nproc)" && return
  [ -s "$failed" ] || failures+=("$(basename "$folder"): ctest could not run the suites")
  [ ! -s "$failed" ] || while IFS=: read -r _ name; do failures+=("$(basename "$folder"): $name"); done <"$failed"
}

run_suites() { run_tests "$here/build" -DCMAKE_BUILD_TYPE=Release; }

# Little optimised and with little to debug: so it compiles in half the time, and a trace still names every line.
run_sanitized() {
  export UBSAN_OPTIONS=print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}
  run_tests "$here/build-asan" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" \
    -DCMAKE_CXX_FLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
}

run_fuzzers() {
  local folder=$here/build-fuzz fuzzer name
  heading "building the fuzzers in $folder"
  build "$folder" fuzzers -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER=clang++ -DWARPCHAT_FUZZERS=ON || return 0
  for fuzzer in "$folder"/*_fuzz; do
    name=$(basename "$fuzzer")
    heading "$name for ${FUZZ_SECONDS:-120} s, log: $fuzzer.log"
    (cd "$folder" && "$fuzzer" -max_total_time="${FUZZ_SECONDS:-120}" -rss_limit_mb=1024 -timeout=10 "corpus/$name" \
      >"$fuzzer.log" 2>&1) || { tail -n 40 "$fuzzer.log"; failures+=("$name found a fault: $fuzzer.log"); }
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

report() {
  heading "done"
  [ ${#failures[@]} = 0 ] && { echo "everything passed"; return; }
  printf 'failed: %s\n' "${failures[@]}"
  exit 1
}

case ${1:-} in
  "" | --full | --sanitized | --fuzz) ;;
  -h | --help) echo "$usage"; exit 0 ;;
  *) echo "run.sh: unknown argument $1 (known: --full, --sanitized, --fuzz)" >&2; exit 2 ;;
esac
[ $# -le 1 ] || { echo "run.sh: one argument at most, $# given" >&2; exit 2; }

install_packages $build_packages $test_packages
case ${1:-} in
  "") run_suites ;;
  --sanitized) run_sanitized ;;
  --fuzz) install_packages $full_test_packages && run_fuzzers ;;
  --full)
    install_packages $full_test_packages
    fetch_demo_model
    fetch_cuda_bindings
    WARPCHAT_FULL_TESTS=1 run_suites
    run_sanitized
    run_fuzzers ;;
esac
report
