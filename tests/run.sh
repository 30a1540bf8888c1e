#!/usr/bin/env bash
# Builds and runs the tests, including those on the demo model. --full adds long tables, many seeds, sanitizers and
# fuzzing. A failure stops nothing; the end lists failures and skipped tests.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/app/packages.sh"
. "$here/app/demo_model.sh"

usage="usage: tests/run.sh [--full | --sanitized | --threads | --fuzz]

Builds in build-tests/, optimised and with asserts, and runs all suites but the longest. Others:
  --sanitized  the same in build-asan/, with the address and undefined-behaviour sanitizers, without the tests of
               kernels, of the emulator, and of real windows and terminals; other tests open
               build-tests/libcuda_emulator.so
  --threads    the suites with threads in build-tsan/, with the thread sanitizer
  --fuzz       in build-fuzz/, with clang: every fuzzer for \$FUZZ_SECONDS seconds (120)
  --full       all four, the first with long tables, 1000 seeds, 200 kills and the CPU backend for AArch64, the
               second with every test and check; also
               MCP servers by the Python SDK: tests/mcp/real_servers.sh; also
               the packages: app/package.sh builds them, tests/package_test.sh installs them; also
               the program for AArch64: tests/aarch64/whole.sh builds it, and it answers under qemu

The last line is \"everything passed\" only if everything ran; skipped tests are named with their reasons. A failed suite
of a real window or terminal runs once more, alone; the last lines name it.
On two cores, with the first builds, this run and --sanitized take up to 80 minutes together."

failures=()
retried=()
n_skipped=0

# heading STAGE: prints what begins, and when.
heading() { printf '\n=== %s  %s\n' "$(date +%T)" "$*"; }

# build FOLDER TARGET CMAKE_ARGUMENTS...
build() {
  local folder=$1 target=$2; shift 2
  cmake -S "$here" -B "$folder" -G Ninja -DCMAKE_UNITY_BUILD=ON -DWARPCHAT_TESTS=ON "$@" >&2 && ninja -C "$folder" -k 0 "$target" && return
  failures+=("$(basename "$folder") could not be built")
  return 1
}

# run_tests FOLDER TARGET SUITES CMAKE_ARGUMENTS...: SUITES are ctest's arguments that choose among the suites; empty: all.
run_tests() {
  local folder=$1 target=$2 suites=$3 failed=$1/Testing/Temporary/LastTestsFailed.log name; shift 3
  local left_out=${failed/Failed/Disabled}
  heading "building in $folder"
  build "$folder" "$target" "$@" || return 0
  heading "suites of $folder"
  rm -rf "$failed" "$left_out" "$folder/reports"
  local code=0 names=()
  ctest --test-dir "$folder" --timeout 3600 --output-on-failure -j "$(nproc)" $suites || code=$?
  [ ! -s "$failed" ] || mapfile -t names < <(cut -d: -f2 "$failed")
  [ $code = 0 ] || [ ${#names[@]} != 0 ] || failures+=("$(basename "$folder"): ctest could not run the suites")
  code=0
  python3 "$here/tests/summary.py" "$folder" || code=$?
  [ $code != 3 ] || n_skipped=$((n_skipped + 1))
  [ $code = 0 ] || [ $code = 3 ] || [ ${#names[@]} != 0 ] || failures+=("$(basename "$folder"): no test ran")
  for name in "${names[@]}"; do
    if passes_alone "$folder" "$name"; then retried+=("$(basename "$folder"): $name")
    else failures+=("$(basename "$folder"): $name"); fi
  done
}

# passes_alone FOLDER SUITE: a real window or terminal may lack time on a busy machine, so it gets a second run, alone.
# Any other suite fails for good.
passes_alone() {
  [[ $(ctest --test-dir "$1" -N -L interactive) == *": $2"$'\n'* ]] || return 1
  heading "$2 once more, alone"
  ctest --test-dir "$1" --timeout 3600 --output-on-failure -R "^$2\$"
}

optimised=(-DCMAKE_BUILD_TYPE=Release -DWARPCHAT_ASSERTS=ON)
# run_suites ON|OFF: with or without the folder aarch64, which is another build, and tests that emulate for half a minute.
run_suites() {
  local filter=*
  [ $1 = ON ] ||
    filter=-StampProfiles.CountEveryPhaseOfSeveralLaunches:GpuFaultsInRuns.AtEveryCallLeaveTheNextOneRight
  GTEST_FILTER=$filter run_tests "$here/build-tests" all "" "${optimised[@]}" -DWARPCHAT_AARCH64_TESTS=$1
}

# Little optimisation and debug information: half the compile time, and a trace still names every line.
sanitized=(-DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1")
# These compute for minutes there, with the same code as small ones.
without_real_models=-RealLanguage.*
# And these for a minute each.
long_with_sanitizers=*DraftsOnAGpu.*:SessionFaults.AHundredSwitchesLeaveNothingBehind:SchedulerOnAFaultyDriver.AFailed*
long_with_sanitizers=$long_with_sanitizers:CpuRuns.GiveEachSequence*:AnswerView.WorkGrows*:*/Products.*avxvnni*

# run_sanitized ON|OFF: with or without the kernel tests, whose machine checks every access itself; the suites of real
# windows and terminals; long tests; and the checks of every pointer. The last double the compile time; most accesses
# through a wrong pointer are also found by the address sanitizer.
run_sanitized() {
  local checks=-fno-sanitize-recover=undefined filter=$without_real_models suites=""
  if [ $1 = OFF ]; then
    checks="$checks -fno-sanitize=null,alignment,object-size,vptr"
    filter=$filter:$long_with_sanitizers
    suites="-LE interactive"
    heading "building the emulator in $here/build-tests"
    build "$here/build-tests" cuda_emulator "${optimised[@]}" || return 0
    export WARPCHAT_EMULATOR=$here/build-tests/libcuda_emulator.so
  fi
  export UBSAN_OPTIONS=print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}
  GTEST_FILTER=$filter run_tests "$here/build-asan" all "$suites" "${sanitized[@]}" \
    -DWARPCHAT_KERNEL_TESTS=$1 \
    -DCMAKE_CXX_FLAGS="-fsanitize=address,undefined $checks -fno-omit-frame-pointer"
}

# The engine's pool, the session's worker with all launch modes, and the window's workers.
run_threads() {
  # A long history, since an access whose calls are forgotten matches no suppression.
  export TSAN_OPTIONS=history_size=7:suppressions=$here/tests/thread_sanitizer.supp${TSAN_OPTIONS:+:$TSAN_OPTIONS}
  GTEST_FILTER=$without_real_models run_tests "$here/build-tsan" threaded_tests '-R ^(engine|session|gui)_test$' \
    "${sanitized[@]}" -DCMAKE_CXX_FLAGS="-fsanitize=thread -fno-omit-frame-pointer"
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

# count_result CODE NAME: of a script that ends with 77 where it cannot run.
count_result() {
  case $1 in
    0) ;;
    77) n_skipped=$((n_skipped + 1)) ;;
    *) failures+=("$2") ;;
  esac
}

# The Debian package and the archive: two builds of the program, and their installation in a scratch folder.
run_packages() {
  heading "building the packages"
  "$here/app/package.sh" || { failures+=("app/package.sh"); return 0; }
  heading "package_test"
  local code=0
  "$here/tests/package_test.sh" || code=$?
  count_result $code tests/package_test.sh
}

# The whole program by a cross compiler, with downloaded packages; under qemu-user it answers.
run_aarch64() {
  heading "the whole program for AArch64"
  local code=0
  "$here/tests/aarch64/whole.sh" || code=$?
  count_result $code tests/aarch64/whole.sh
}

# The MCP client against servers by the Python SDK, which PyPI has.
run_real_mcp_servers() {
  heading "MCP servers by the Python SDK"
  local code=0
  install_packages $download_packages
  "$here/tests/mcp/real_servers.sh" || code=$?
  count_result $code tests/mcp/real_servers.sh
}

# fetch_module MODULE: installs from PyPI what a test needs and no Debian package has. tests/requirements/MODULE.txt
# names every package with the hashes of its files, so that nothing else is installed or run.
export PYTHONPATH=$here/build-python${PYTHONPATH:+:$PYTHONPATH}
fetch_module() {
  local requirements=$here/tests/requirements/${1//./_}.txt
  python3 -c "import $1" 2>/dev/null && return
  install_packages $download_packages
  python3 -m pip install -q --disable-pip-version-check --require-hashes --no-build-isolation --upgrade \
    --target "$here/build-python" -r "$requirements" >&2 ||
    echo "run.sh: $1 could not be installed from $requirements; see pip's message above" >&2
}

report() {
  heading "done"
  [ ${#retried[@]} = 0 ] || printf 'passed only in a second run, alone: %s\n' "${retried[@]}"
  if [ ${#failures[@]} != 0 ]; then
    printf 'failed: %s\n' "${failures[@]}"
    exit 1
  fi
  [ $n_skipped = 0 ] && echo "everything passed" || echo "all that ran passed; what was skipped is named above"
}

case ${1:-} in
  "" | --full | --sanitized | --threads | --fuzz) ;;
  -h | --help) echo "$usage"; exit 0 ;;
  *) echo "run.sh: unknown argument $1 (known: --full, --sanitized, --threads, --fuzz)" >&2; exit 2 ;;
esac
[ $# -le 1 ] || { echo "run.sh: one argument at most, $# given" >&2; exit 2; }

install_packages $build_packages $test_packages
if [ "${1:-}" != --fuzz ]; then
  (fetch_demo_model) || echo "run.sh: without the demo model its tests are skipped" >&2
fi
case ${1:-} in
  "") fetch_module cuda.bindings; run_suites OFF ;;
  --sanitized) run_sanitized OFF ;;
  --threads) run_threads ;;
  --fuzz) install_packages $full_test_packages && run_fuzzers ;;
  --full)
    install_packages $full_test_packages
    for module in cuda.bindings huggingface_hub xllamacpp scikit_build_core; do fetch_module $module; done
    # Compiled here. Not for this processor alone: llama.cpp's AMX code crashes on some.
    CMAKE_ARGS=-DGGML_NATIVE=OFF fetch_module llama_cpp
    WARPCHAT_FULL_TESTS=1 run_suites ON
    run_real_mcp_servers
    run_packages
    run_aarch64
    run_sanitized ON
    run_threads
    run_fuzzers ;;
esac
report
