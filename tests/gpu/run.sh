#!/bin/sh
# Checks and measures the GPU path on a machine with a GPU and nothing but CUDA's driver, where calls are limited in
# time and in the files that come back. Programs and scripts come in build/gpu-check.tar.xz, made by tests/gpu/pack.sh.
# Git ignores that file, so name it when you copy to the machine. Outside of the archive, this script unpacks it.
#   tests/gpu/run.sh OUTPUT_FOLDER            runs the parts
#   tests/gpu/run.sh merge OUTPUT_FOLDER...   merges several calls' results into tests/gpu/RESULTS.md and RESULTS.json
#   tests/gpu/compare.py RUN RUN              compares two results, with limits and predictions
# A quarter of an hour takes two calls, one soon after the other, so that the programs are unpacked once:
#   tests/gpu/run.sh OUT                      the first tokens per second come about 100 s after the start
#   PARTS=second tests/gpu/run.sh OUT2        hardware counters, and races in shared memory
# Output: RESULTS.md and rows.jsonl grow line by line; log.txt and tests.log hold what was printed, up to a limit. So a
# killed call keeps what it has measured. RESULTS.json gets all rows after each part, dmon.txt one line of nvidia-smi
# per second.
#
# PARTS: in this order; `first` (the default) and `second` are the lists below. Each part has a cap of its own. If one
# fails or hangs, this is reported and the next one begins. Shapes follow a `=`:
#   probe        whether loading, launching and talking to the device work, and the read bandwidth
#   check        chat check-device: a small model with every kind of layer, every launch mode against the others
#   logits       small real models: every launch mode to the bit, errors against exact logits
#   shapes       the same at real sizes, against the CPU
#   bench=S      tokens per second beside the predictions
#   phases=S     the persistent decoder's stamps, and each kernel beside its prediction
#   contend=S    which calls wait for a running kernel; such calls beside the persistent decoder
#   chat=S       the program itself with drafts in all launch modes, some answers stopped by SIGINT
#   constants    latencies, gaps and rates
#   start=S      from the start to the first token, part by part
#   decoder, kernels, driver   tests; kernels' buffers in device memory, or (kernels=mapped) in the host's
#   ncu=S        counters of the persistent decoder and of a prompt's products, if Nsight Compute is installed
#   racecheck    three groups of kernel tests, if compute-sanitizer is installed
#   build, llama=S   llama.cpp's CUDA backend, built and measured in turns with ours (tests/gpu/fetch_llama.sh)
# LIMIT: seconds for the call (530; 160 for `second`). DEVICE=cuda:1: another GPU; DEVICE=emulator: a small rehearsal;
# DEVICE=emulated-driver: a rehearsal with the emulator as the driver's library and a GPU's sizes, for chat, contend and
# tests. SHAPES: instead of the parts' own; BENCH_FLAGS: added for bench and phases; FILTER: of tests; CAPS="bench=60
# constants=30": other caps in seconds; TEST_SECONDS: limit of a test; PROCESSES: tests at once; CHAT_TOKENS,
# CHAT_STOPS: per answer and mode; PROGRAMS: a folder of programs instead of the archive's.
set -u
here=$(cd "$(dirname "$0")" && pwd)
started=$(date +%s)
first="probe check logits shapes=qwen2.5-0.5b,qwen2.5-1.5b bench=qwen2.5-1.5b contend=qwen2.5-1.5b bench=qwen2.5-7b,qwen2.5-3b
  chat=qwen2.5-0.5b phases=qwen2.5-1.5b,qwen2.5-7b constants decoder kernels driver kernels=mapped"
second="probe ncu=qwen2.5-1.5b racecheck"

# One JSON object of all rows; a line that was cut short is dropped.
wrap_rows() {
  awk 'BEGIN { print "{\"rows\": [" }
    /^\{.*\}$/ { printf "%s%s", separator, $0; separator = ",\n" }
    END { print "\n]}" }' "$@"
}

if [ "${1:-}" = merge ]; then
  shift
  for folder; do cat "$folder/RESULTS.md"; done > "$here/RESULTS.md"
  for folder; do cat "$folder/rows.jsonl"; done | wrap_rows > "$here/RESULTS.json"
  exit
fi
if [ $# != 1 ]; then
  echo "usage: run.sh OUTPUT_FOLDER | run.sh merge OUTPUT_FOLDER..." >&2
  exit 2
fi
mkdir -p "$1"
out=$(cd "$1" && pwd)

programs=${PROGRAMS:-$here}
kept=${TMPDIR:-/tmp}/warpchat-gpu-check  # between calls
if [ ! -x "$programs/gpu_bench" ]; then
  archive=${ARCHIVE:-$here/../../build/gpu-check.tar.xz}
  if [ ! -f "$archive" ]; then
    echo "run.sh: no programs here and no build/gpu-check.tar.xz; tests/gpu/pack.sh makes it" >&2
    exit 1
  fi
  if ! cmp -s "$archive" "$kept/gpu-check.tar.xz"; then
    rm -rf "$kept"
    mkdir -p "$kept"
    if command -v xz > /dev/null; then
      xz -dc "$archive"
    else
      python3 -c 'import lzma, shutil, sys; shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer)' "$archive"
    fi | tar -C "$kept" -xf - || exit 1
    cp "$archive" "$kept/"
  fi
  exec "$kept/gpu-check/run.sh" "$out"
fi

device=${DEVICE:-cuda}
case ${PARTS:-first} in
  first) parts=$first limit=${LIMIT:-530} ;;
  second) parts=$second limit=${LIMIT:-160} ;;
  *) parts=$PARTS limit=${LIMIT:-530} ;;
esac
results=$out/RESULTS.md log=$out/log.txt
scratch=$(mktemp -d)
is_rehearsal=false
case $device in
  emulator) is_rehearsal=true ;;
  emulated-driver)
    is_rehearsal=true device=cuda
    mkdir "$scratch/driver"
    ln -s "$(cd "$programs" && pwd)/libcuda_emulator.so" "$scratch/driver/libcuda.so.1"
    export LD_LIBRARY_PATH="$scratch/driver:${LD_LIBRARY_PATH:-}"
    ;;
esac
export WARPCHAT_TEST_DEVICE="$device" WARPCHAT_RESULTS="$out/rows.jsonl" WARPCHAT_TEST_LOG="$out/tests.log"
export WARPCHAT_PRINT_ACCURACY=1
# Compiled kernels are kept for later parts and calls.
export CUDA_CACHE_PATH="${CUDA_CACHE_PATH:-$kept/compute-cache}" CUDA_CACHE_MAXSIZE=4294967296 TMPDIR="$scratch"
mkdir -p "$CUDA_CACHE_PATH"
export LLAMA_FOLDER="${LLAMA_FOLDER:-/tmp/warpchat-llama.cpp}"
[ -d "$programs/reference" ] && export WARPCHAT_REFERENCE_DATA="${WARPCHAT_REFERENCE_DATA:-$programs/reference}"
processes=${PROCESSES:-$(nproc)}
bench="$programs/gpu_bench"
failures=0
build= monitor=

say() { printf '%s\n' "$*" >> "$results"; }
elapsed() { echo $(($(date +%s) - started)); }
plain() { tr -d '"\\' | tr '\n\t|' '   ' | cut -c1-"$1"; }
write_json() { wrap_rows "$WARPCHAT_RESULTS" > "$out/.rows" && mv "$out/.rows" "$out/RESULTS.json"; }
finish() {
  [ -z "$build" ] || kill "$build" 2> /dev/null
  [ -z "$monitor" ] || kill "$monitor" 2> /dev/null
  write_json
  rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 143' INT TERM
: >> "$WARPCHAT_RESULTS"

# Arguments: name, exit code, seconds, text of a part. Writes them to all results.
report() {
  case $2 in
    0) verdict=passed ;;
    77) verdict="left out" ;;
    124 | 137) verdict="not finished in time" failures=$((failures + 1)) ;;
    *) verdict="failed ($2)" failures=$((failures + 1)) ;;
  esac
  said=$(printf '%s' "$4" | plain 600)
  say ""
  say "**$1: $verdict**, $3 s, $(elapsed) s after the start. $said"
  printf '{"table":"parts","device":"%s","part":"%s","verdict":"%s","seconds":%s,"since the start":%s,"said":"%s"}\n' \
    "$device" "$1" "$verdict" "$3" "$(elapsed)" "$said" >> "$WARPCHAT_RESULTS"
  write_json
}

# Arguments: part, cap. Prints its seconds: the cap, or that of $CAPS, but at most the rest of the call.
within() {
  cap=$2 left=$((limit - $(elapsed) - limit / 50))
  for given in ${CAPS:-}; do
    [ "${given%=*}" != "${1%%-*}" ] || cap=${given#*=}
  done
  [ "$left" -lt "$cap" ] && echo "$left" || echo "$cap"
}

# Copies standard input to the log line by line, at most one megabyte. Tables also go to the results, and lines of
# Nsight Compute ("id",...,"metric","unit","value") become rows. $scratch/last gets the last other line.
take_lines() {
  n_bytes=0
  : > "$scratch/last"
  while IFS= read -r line; do
    n_bytes=$((n_bytes + ${#line} + 1))
    [ "$n_bytes" -gt 1000000 ] || printf '%s\n' "$line" >> "$log"
    [ "$1" != check ] || say "    $line"
    case $line in
      "|"* | "### "* | "") say "$line" ;;
      '"'[0-9]*)
        row='{"table":"counters","device":"'$device'","part":"'$1'","metric":"\1","unit":"\2","value":"\3"}'
        printf '%s\n' "$line" | sed -n "s/.*,\"\([^\"]*\)\",\"\([^\"]*\)\",\"\([^\"]*\)\"$/$row/p" \
          >> "$WARPCHAT_RESULTS"
        ;;
      *) printf '%s' "$line" > "$scratch/last" ;;
    esac
  done
}

# Arguments: name, cap, command... Runs a part with its output in the log.
part() {
  name=$1 seconds=$(within "$1" "$2")
  shift 2
  if [ "$seconds" -lt 2 ]; then
    report "$name" 77 0 "no time is left"
    return
  fi
  begun=$(elapsed)
  printf '\n===== %s, at most %s s: %s\n' "$name" "$seconds" "$*" >> "$log"
  say ""
  say "## $name"
  mkfifo "$scratch/pipe"
  take_lines "$name" < "$scratch/pipe" &
  reader=$!
  # Starts through a shell, which can be killed even if the driver keeps its child alive.
  timeout -k 5 "$seconds" sh -c '"$@"; exit $?' sh "$@" > "$scratch/pipe" 2>&1
  code=$?
  (sleep 10 && kill "$reader") 2> /dev/null &
  guard=$!
  wait "$reader"
  kill "$guard" 2> /dev/null
  rm "$scratch/pipe"
  report "$name" "$code" "$(($(elapsed) - begun))" "$(cat "$scratch/last")"
}

# Arguments: name, cap, program, processes, seconds per test, filter. run_tests.sh ends the tests itself.
tests() {
  name=$1 seconds=$(within "$1" "$2") program=$3 n=$4
  if [ "$seconds" -lt 2 ]; then
    report "$name" 77 0 "no time is left"
    return
  fi
  begun=$(elapsed)
  say ""
  say "## $name"
  printf '\n===== %s, at most %s s\n' "$name" "$seconds" | tee -a "$log" >> "$WARPCHAT_TEST_LOG"
  WARPCHAT_TEST_SECONDS=${TEST_SECONDS:-$5} timeout -k 5 $((seconds + 15)) "$programs/run_tests.sh" \
    "$programs/$program" "$n" "$seconds" "$scratch/$name" "$6" > "$scratch/$name.out" 2>&1
  code=$?
  head -c 1000000 "$scratch/$name.out" >> "$log"
  sed -n '2,$s/^/- /p' "$scratch/$name.out" | head -n 200 >> "$results"
  sed -n 's/^accuracy: \(.*\): {\(.*\), \(.*\)}/- \1: relative error \2, mean KL \3/p' "$scratch/$name"/*.log \
    2> /dev/null | sort >> "$results"
  report "$name" "$code" "$(($(elapsed) - begun))" "$(head -n 1 "$scratch/$name.out")"
  rm -rf "${scratch:?}/$name"
}

# Before timed parts: waits until llama.cpp's build ends, or until that many seconds before the end of the call.
await_build() {
  [ -n "$build" ] || return 0
  while kill -0 "$build" 2> /dev/null && [ $((limit - $(elapsed))) -gt "$1" ]; do sleep 1; done
  if kill -0 "$build" 2> /dev/null; then
    kill "$build"
    code=124
  else
    wait "$build"
    code=$?
  fi
  build=
  head -c 1000000 "$scratch/build.log" >> "$log"
  say ""
  say "## build"
  report build "$code" "$(elapsed)" "llama.cpp: $(tail -n 1 "$scratch/build.log")"
}

# Path of a CUDA toolkit program, or nothing.
find_tool() { command -v "$1" || ls "/usr/local/cuda/bin/$1" 2> /dev/null || true; }

contend() { # shape
  part contend 15 "$bench" contend --device "$device"
  for call in ${CONTEND_CALLS:-none load allocate query}; do
    part "contend-$call" 10 "$bench" contend --device "$device" --shapes "$1" --call "$call" \
      --tokens "${CONTEND_TOKENS:-512}"
  done
}

chat() { # shape
  part "chat-model" 20 "$bench" write-gguf --folder "$scratch" --shapes "$1"
  part chat 75 "$programs/chat_modes.sh" "$programs/chat" "$device" "$scratch/$1.gguf" "${CHAT_TOKENS:-400}" \
    "${CHAT_STOPS:-2}"
  rm -f "$scratch/$1.gguf"
}

start() { # shape
  cache=$CUDA_CACHE_PATH
  export CUDA_CACHE_PATH="$scratch/cache-$1"
  mkdir -p "$CUDA_CACHE_PATH"
  for start in first second; do
    part "start-$1-$start" 30 "$bench" start --device "$device" --shapes "$1" --start "$start"
  done
  export CUDA_CACHE_PATH="$cache"
}

# The clocks are not locked, because they belong to the machine. Kernels are profiled in one pass: the persistent
# decoder talks to the host while it runs. More metrics need more runs of the program.
ncu() { # shape
  tool=$(find_tool ncu)
  if [ -z "$tool" ]; then
    report ncu 77 0 "Nsight Compute is not installed"
    return
  fi
  counters() { # name, kernel, metrics
    part "ncu-$1" 60 "$tool" --csv --clock-control none --replay-mode application --launch-count 1 \
      --kernel-name "regex:$2" --metrics "$3" "$bench" decode --device "$device" --shapes "$shape" --prompts 512 \
      --tokens 32
  }
  shape=$1
  stalls=
  for reason in no_instruction long_scoreboard short_scoreboard barrier math_pipe_throttle mio_throttle lg_throttle \
    wait not_selected dispatch_stall; do
    stalls=$stalls,smsp__average_warps_issue_stalled_${reason}_per_issue_active.ratio
  done
  # No more metrics than one run counts: with more, the profiler never lets the decoder end.
  no_instruction=smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio
  counters decoder persistent_decoder \
    "dram__bytes_read.sum.per_second,$no_instruction,smsp__inst_executed.sum,lts__t_sector_hit_rate.pct"
  shared=l1tex__data_bank_conflicts_pipe_lsu_mem_shared
  counters products gemms_ \
    "$shared.sum,sm__inst_executed_pipe_tensor.sum,gpu__time_duration.sum,smsp__inst_executed.sum$stalls"
}

racecheck() {
  tool=$(find_tool compute-sanitizer)
  if $is_rehearsal; then
    report racecheck 77 0 "it watches a GPU; the emulator has its own checks"
  elif [ -z "$tool" ]; then
    report racecheck 77 0 "compute-sanitizer is not installed"
  else
    left_out=$(sed '/^#/d; s/ .*//' "$programs/left_out.txt" | paste -sd: -)
    WARPCHAT_TEST_MEMORY=device part racecheck 40 "$tool" --tool racecheck --error-exitcode 9 \
      "$programs/kernels_test" \
      --gtest_filter="*Gemv.MatchesDouble/Q4_K*:*Gemm.MatchesDouble/Q4_K*:IncrementalAttentionInputs*-$left_out"
  fi
}

say "# GPU results: $(echo $parts)"
say ""
say "$(date -u +%Y-%m-%dT%H:%M:%SZ), commit $(cat "$programs/COMMIT" 2> /dev/null || echo unknown), device $device"
if $is_rehearsal; then
  say ""
  say "**A rehearsal on the emulator: every time and rate below is the emulator's, none a GPU's.**"
fi
say ""
say '```'
if command -v nvidia-smi > /dev/null; then
  wanted_facts=name,driver_version,memory.total,clocks.max.mem,clocks.max.sm,clocks.sm,power.limit
  nvidia-smi --query-gpu=$wanted_facts --format=csv >> "$results"
  # Records clocks and power, and keeps the driver from restarting the GPU for each part.
  timeout "$limit" nvidia-smi dmon -s pucm -d 1 -o T > "$out/dmon.txt" 2>&1 &
  monitor=$!
else
  say "no nvidia-smi"
fi
say '```'

case " $parts " in
  *" build "* | *" llama="*)
    # timeout ends the build's children, too.
    timeout -k 5 "$limit" nice "$programs/compare_llama.sh" build > "$scratch/build.log" 2>&1 &
    build=$!
    ;;
esac

for item in $parts; do
  name=${item%%=*} shapes=
  [ "$name" = "$item" ] || shapes=${item#*=}
  [ "$shapes" = mapped ] || shapes=${SHAPES:-$shapes}
  each=$(echo "$shapes" | tr , ' ')
  case $name in
    probe) part probe 20 "$bench" probe --device "$device" ;;
    check) part check 60 env HOME="$scratch" XDG_STATE_HOME= "$programs/chat" check-device --device "$device" ;;
    logits) tests logits 60 gpu_logits_test 1 50 '*RealFiles*' ;;
    shapes) WARPCHAT_SHAPES="$shapes" tests shapes 60 gpu_logits_test 1 50 '*GpuShapes*' ;;
    bench)
      for shape in $each; do
        part "bench-$shape" 40 "$bench" shapes --device "$device" --shapes "$shape" --depths 0,4096 --prompts 512 \
          --batches 8 --rounds 5 --kernels no ${BENCH_FLAGS:-}
      done
      ;;
    phases)
      for shape in $each; do
        part "phases-$shape" 50 "$bench" shapes --device "$device" --shapes "$shape" --depths 0 --prompts 512 \
          --batches "" --rounds 1 --kernels yes ${BENCH_FLAGS:-}
      done
      ;;
    contend) for shape in $each; do contend "$shape"; done ;;
    chat) for shape in $each; do chat "$shape"; done ;;
    constants) part constants 40 "$bench" constants --device "$device" ;;
    start) for shape in $each; do start "$shape"; done ;;
    decoder) tests decoder 80 gpu_decoder_test $((processes < 8 ? processes : 8)) 40 "${FILTER:-*}" ;;
    kernels)
      memory=device
      [ "$shapes" != mapped ] || memory=mapped
      WARPCHAT_TEST_MEMORY=$memory tests "kernels-$memory" 60 kernels_test "$processes" 40 "${FILTER:-*}"
      ;;
    driver) tests driver 30 driver_test 1 15 "${FILTER:-*}" ;;
    ncu) for shape in $each; do ncu "$shape"; done ;;
    racecheck) racecheck ;;
    build) await_build 15 ;;
    llama)
      await_build 150
      part llama 240 "$programs/compare_llama.sh" measure "$device" $each
      ;;
    *) report "$item" 2 0 "there is no such part; run.sh's head lists them" ;;
  esac
done
echo "$results: $failures parts failed"
[ "$failures" = 0 ]
