#!/bin/sh
# Checks and measures the GPU path on a machine with a GPU and nothing but CUDA, where calls are limited in time and
# what comes back in files. Its programs and scripts come in the archive that tests/gpu/pack.sh leaves in build/; it
# unpacks that, if it is not started from inside.
#   tests/gpu/run.sh OUTPUT_FOLDER            does the parts
#   tests/gpu/run.sh merge OUTPUT_FOLDER...   several calls' results as tests/gpu/RESULTS.md and RESULTS.json
# The folder gets RESULTS.md and rows.jsonl, written line by line, RESULTS.json, the rows as one object after each part,
# and log.txt, everything that was printed. Half an hour in three calls, the most important first, one soon after the
# other so that llama.cpp's build is still there:
#   LIMIT=560 PARTS="build decoder logits shapes kernels driver" tests/gpu/run.sh OUT
#   LIMIT=560 PARTS="constants bench" tests/gpu/run.sh OUT
#   LIMIT=440 PARTS="start llama sanitizer" tests/gpu/run.sh OUT
# LIMIT: seconds that the call may take. A part has its own cap; one that fails or hangs is told, and the next begins.
# Further: DEVICE=cuda:1 another GPU, DEVICE=emulator a rehearsal; SHAPES, LOGITS_SHAPES, START_SHAPES, LLAMA_SHAPES and
# BENCH_FLAGS what is measured; FILTER the tests; CAPS="bench=60 constants=30" other caps, in seconds; TEST_SECONDS that
# of a test; PROCESSES how many tests at once; PROGRAMS a folder of programs and scripts in place of the archive's.
set -u
here=$(cd "$(dirname "$0")" && pwd)
started=$(date +%s)
default_parts="build decoder logits shapes kernels driver constants bench start llama sanitizer"

# One JSON object of all rows; a line that was cut short is left out.
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
if [ ! -x "$programs/gpu_bench" ]; then
  archive=$here/../../build/gpu-check.tar.gz
  folder=${TMPDIR:-/tmp}/warpchat-gpu-check
  if [ ! -f "$archive" ]; then
    echo "run.sh: no programs here and no build/gpu-check.tar.gz; tests/gpu/pack.sh makes it" >&2
    exit 1
  fi
  if ! cmp -s "$archive" "$folder/gpu-check.tar.gz"; then
    rm -rf "$folder"
    mkdir -p "$folder"
    tar -C "$folder" -xzf "$archive" || exit 1
    cp "$archive" "$folder/"
  fi
  exec "$folder/gpu-check/run.sh" "$out"
fi

device=${DEVICE:-cuda}
limit=${LIMIT:-1700}
parts=${PARTS:-$default_parts}
shapes=${SHAPES:-qwen2.5-0.5b,qwen2.5-1.5b,qwen2.5-3b,qwen2.5-7b}
results=$out/RESULTS.md log=$out/log.txt
scratch=$(mktemp -d)
export WARPCHAT_TEST_DEVICE="$device" WARPCHAT_RESULTS="$out/rows.jsonl" TMPDIR="$scratch"
export WARPCHAT_PRINT_ACCURACY=1
export LLAMA_FOLDER="${LLAMA_FOLDER:-/tmp/warpchat-llama.cpp}"
[ -d "$programs/reference" ] && export WARPCHAT_REFERENCE_DATA="${WARPCHAT_REFERENCE_DATA:-$programs/reference}"
processes=${PROCESSES:-$(nproc)}
failures=0
build=

say() { printf '%s\n' "$*" >> "$results"; }
elapsed() { echo $(($(date +%s) - started)); }
wanted() { case " $parts " in *" $1 "*) true ;; *) false ;; esac; }
plain() { tr -d '"\\' | tr '\n\t|' '   ' | cut -c1-"$1"; }
write_json() { wrap_rows "$WARPCHAT_RESULTS" > "$scratch/json" && mv "$scratch/json" "$out/RESULTS.json"; }
finish() {
  [ -z "$build" ] || kill "$build" 2> /dev/null
  write_json
  tail -c 15000000 "$log" > "$scratch/log" && cat "$scratch/log" > "$log"  # of what comes back, each file has its limit
  rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 143' INT TERM

# name, exit code, seconds, text: of a part, into all results.
report() {
  case $2 in
    0) verdict=passed ;;
    77) verdict="left out" ;;
    124 | 137) verdict="not finished in time" failures=$((failures + 1)) ;;
    *) verdict="failed ($2)" failures=$((failures + 1)) ;;
  esac
  said=$(printf '%s' "$4" | plain 600)
  say ""
  say "**$1: $verdict**, $3 s. $said"
  printf '{"table":"parts","device":"%s","part":"%s","verdict":"%s","seconds":%s,"said":"%s"}\n' \
    "$device" "$1" "$verdict" "$3" "$said" >> "$WARPCHAT_RESULTS"
  write_json
}

# part, cap: seconds that it may take now: its cap or that of $CAPS, but no more than is left of the call.
within() {
  cap=$2 left=$((limit - $(elapsed) - limit / 50))
  for given in ${CAPS:-}; do
    [ "${given%=*}" != "${1%%-*}" ] || cap=${given#*=}
  done
  [ "$left" -lt "$cap" ] && echo "$left" || echo "$cap"
}

# The standard input to the log, line by line and at most 20,000; tables among it go to the results, too. The last line
# that is none stays in $scratch/last.
take_lines() {
  lines=0
  : > "$scratch/last"
  while IFS= read -r line; do
    lines=$((lines + 1))
    [ "$lines" -gt 20000 ] || printf '%s\n' "$line" >> "$log"
    case $line in
      "|"* | "### "* | "") say "$line" ;;
      *) printf '%s' "$line" > "$scratch/last" ;;
    esac
  done
}

# name, cap, command...: a part whose output is for the log.
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
  take_lines < "$scratch/pipe" &
  reader=$!
  # By a shell that can be ended even where the driver keeps its child from being so.
  timeout -k 5 "$seconds" sh -c '"$@"; exit $?' sh "$@" > "$scratch/pipe" 2>&1
  code=$?
  (sleep 10 && kill "$reader") 2> /dev/null &
  guard=$!
  wait "$reader"
  kill "$guard" 2> /dev/null
  rm "$scratch/pipe"
  report "$name" "$code" "$(($(elapsed) - begun))" "$(cat "$scratch/last")"
}

# name, cap, program, processes, seconds of a test, filter: tests by run_tests.sh, which ends them itself.
tests() {
  name=$1 seconds=$(within "$1" "$2") program=$3 n=$4
  if [ "$seconds" -lt 2 ]; then
    report "$name" 77 0 "no time is left"
    return
  fi
  begun=$(elapsed)
  say ""
  say "## $name"
  printf '\n===== %s, at most %s s\n' "$name" "$seconds" >> "$log"
  WARPCHAT_TEST_SECONDS=${TEST_SECONDS:-$5} timeout -k 5 $((seconds + 15)) "$programs/run_tests.sh" \
    "$programs/$program" "$n" "$seconds" "$scratch/$name" "$6" > "$scratch/$name.out" 2>&1
  code=$?
  for file in "$scratch/$name"/*.log; do
    printf '\n== %s\n' "$file"
    head -c 400000 "$file"
  done >> "$log" 2> /dev/null
  cat "$scratch/$name.out" >> "$log"
  sed -n '2,$s/^/- /p' "$scratch/$name.out" | head -n 200 >> "$results"
  sed -n 's/^accuracy: //p' "$scratch/$name"/*.log 2> /dev/null | sort > "$scratch/accuracy"
  sed 's/\(.*\): {\(.*\), \(.*\)}/- \1: relative error \2, mean KL \3/' "$scratch/accuracy" >> "$results"
  row='{"table":"logits","device":"'$device'","of":"\1","relative error":\2,"mean KL":\3}'
  sed "s/\(.*\): {\(.*\), \(.*\)}/$row/" "$scratch/accuracy" >> "$WARPCHAT_RESULTS"
  report "$name" "$code" "$(($(elapsed) - begun))" "$(head -n 1 "$scratch/$name.out")"
}

say "# GPU results: $parts"
say ""
say "$(date -u +%Y-%m-%dT%H:%M:%SZ), commit $(cat "$programs/COMMIT" 2> /dev/null || echo unknown), device $device"
if [ "$device" = emulator ]; then
  say ""
  say "**A rehearsal on the emulator: every time and rate below is the emulator's, none a GPU's.**"
fi
say ""
say '```'
if command -v nvidia-smi > /dev/null; then
  wanted_facts=name,driver_version,memory.total,clocks.max.mem,clocks.max.sm,clocks.sm,power.limit
  nvidia-smi --query-gpu=$wanted_facts --format=csv >> "$results"
else
  say "no nvidia-smi"
fi
say '```'

if wanted build || wanted llama; then
  # timeout ends its children with it.
  timeout -k 5 "$limit" nice "$programs/compare_llama.sh" build > "$scratch/build.log" 2>&1 &
  build=$!
fi
# Before anything is timed: until it ends, or so many seconds before the end of the call.
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

wanted decoder && tests decoder 120 gpu_decoder_test $((processes < 8 ? processes : 8)) 40 "${FILTER:-*}"
wanted logits && tests logits 100 gpu_logits_test 1 80 '*RealFiles*'
if wanted shapes; then
  export WARPCHAT_SHAPES="${LOGITS_SHAPES:-qwen2.5-0.5b,qwen2.5-1.5b}"
  tests shapes 130 gpu_logits_test 1 100 '*GpuShapes*'
fi
wanted kernels && tests kernels 150 kernels_test "$processes" 40 "${FILTER:-*}"
wanted driver && tests driver 30 driver_test 1 15 "${FILTER:-*}"
if ! wanted llama; then await_build 15; fi

bench="$programs/gpu_bench"
wanted constants && part constants 90 "$bench" constants --device "$device"
if wanted bench; then
  for shape in $(echo "$shapes" | tr , ' '); do
    part "bench-$shape" 130 "$bench" shapes --device "$device" --shapes "$shape" ${BENCH_FLAGS:-}
  done
fi
if wanted start; then
  for shape in $(echo "${START_SHAPES:-qwen2.5-0.5b,qwen2.5-7b}" | tr , ' '); do
    export CUDA_CACHE_PATH="$scratch/cache-$shape"
    mkdir -p "$CUDA_CACHE_PATH"
    for start in first second; do
      part "start-$shape-$start" 30 "$bench" start --device "$device" --shapes "$shape" --start "$start"
    done
    unset CUDA_CACHE_PATH
  done
fi
if wanted llama; then
  await_build 150
  compared=$(echo "${LLAMA_SHAPES:-qwen2.5-0.5b,qwen2.5-7b}" | tr , ' ')
  part llama 240 "$programs/compare_llama.sh" measure "$device" $compared
fi

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2> /dev/null || true)
sanitize() { # tool, cap, program, filter
  left_out=$(sed '/^#/d; s/ .*//' "$programs/left_out.txt" | paste -sd: -)
  part "$1-$3" "$2" "$sanitizer" --tool "$1" --error-exitcode 9 "$programs/$3" --gtest_filter="$4-$left_out"
}
if wanted sanitizer && [ "$device" = emulator ]; then
  report sanitizer 77 0 "it watches a GPU; the emulator has its own checks"
elif wanted sanitizer && [ -z "$sanitizer" ]; then
  report sanitizer 77 0 "compute-sanitizer is not installed"
elif wanted sanitizer; then
  a_few='*Gemv.MatchesDouble/Q4_K:*Gemv.MatchesDouble/Q6_K:*Gemm.MatchesDouble/Q4_K:SamplingColumns*'
  a_few="$a_few:IncrementalAttentionInputs*:FlashAttentionInputs*:KvScatterInputs*"
  sanitize memcheck 60 gpu_decoder_test '*qwen2_tied*:AttentionForms*:PersistentLaunch.GivesTheBits*'
  sanitize memcheck 40 kernels_test "$a_few"
  sanitize racecheck 60 kernels_test "$a_few"
  sanitize synccheck 40 kernels_test "$a_few"
fi
echo "$results: $failures parts failed"
[ "$failures" = 0 ]
