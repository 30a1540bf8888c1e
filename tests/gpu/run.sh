#!/bin/sh
# Checks and measures the GPU kernels on this machine, and writes RESULTS.md. Needs the programs that tests/gpu/pack.sh
# links (beside this script, or in build/gpu-check), an NVIDIA driver, and from the CUDA toolkit compute-sanitizer for
# the memory and race checks and nvcc for the comparison.
#   tests/gpu/run.sh [OUTPUT_FOLDER]
# DEVICE=cuda:1 chooses a GPU; SHAPES=qwen2.5-3b,qwen3-4b the models that are measured; QUICK=1 leaves the sanitizer and
# the larger models out. PARTS="tests bench" does some of these and adds them to RESULTS.md:
#   tests      every test that has a GPU's part
#   sanitizer  the kernels and a decoder under compute-sanitizer
#   bench      tokens per second, kernel by kernel, beside the analytic model
#   build      llama.cpp's CUDA backend, while tests and sanitizer run (tests/gpu/fetch_llama.sh before pack.sh)
#   llama      build, and tokens per second of both in turns
# LIMIT=590 ends the call within so many seconds and says what is unfinished. Where calls last at most ten minutes and
# half an hour is all there is, the most important first, one soon after the other so that the build's folder in /tmp
# (LLAMA_FOLDER) is still there:
#   LIMIT=560 PARTS="tests build" tests/gpu/run.sh OUT
#   LIMIT=560 PARTS="bench llama" SHAPES=qwen2.5-0.5b,qwen2.5-3b,qwen2.5-7b tests/gpu/run.sh OUT
#   LIMIT=440 PARTS=sanitizer tests/gpu/run.sh OUT
set -u
here=$(cd "$(dirname "$0")" && pwd)
programs=$here
[ -x "$programs/gpu_bench" ] || programs=$here/../../build/gpu-check
if [ ! -x "$programs/gpu_bench" ]; then
  echo "run.sh: no programs here; tests/gpu/pack.sh links them" >&2
  exit 1
fi
out=${1:-$here}
device=${DEVICE:-cuda}
export WARPCHAT_TEST_DEVICE="$device"
results=$out/RESULTS.md
parts=${PARTS:-tests sanitizer bench llama}
started=$(date +%s)
mkdir -p "$out"
failures=0

say() { printf '%s\n' "$*" >> "$results"; }

# Seconds for one of n checks that share what is left of LIMIT; 0: no limit.
share() {
  if [ "${LIMIT:-0}" = 0 ]; then
    echo 0
  else
    seconds=$(((LIMIT - $(date +%s) + started) / $1))
    echo $((seconds > 1 ? seconds : 1))
  fi
}

# seconds, command...
within() {
  if [ "$1" = 0 ]; then
    shift
    "$@"
  else
    timeout "$@"
  fi
}

# name, exit code, seconds: a row of the results.
report() {
  case $2 in
    0) verdict=passed ;;
    77) verdict="left out" ;;
    124) verdict="**not finished in time**" failures=$((failures + 1)) ;;
    *) verdict="**failed** ($2)" failures=$((failures + 1)) ;;
  esac
  say "| $1 | $verdict | $3 s | $(tail -n 3 "$out/$1.log" | tr '\n|' '  ' | cut -c1-160) |"
}

# name, share of the time left, command...: its verdict into the results, its output into a file.
check() {
  name=$1
  seconds=$(share "$2")
  shift 2
  start=$(date +%s)
  within "$seconds" "$@" > "$out/$name.log" 2>&1
  report "$name" $? $(($(date +%s) - start))
}

wanted() { case " $parts " in *" $1 "*) true ;; *) false ;; esac; }

[ -n "${PARTS:-}" ] || : > "$results"
say "# GPU results: $parts"
say ""
say "$(date -u +%Y-%m-%dT%H:%M:%SZ), commit $(cat "$programs/COMMIT" 2> /dev/null || echo unknown)"
say ""
say '```'
if command -v nvidia-smi > /dev/null; then
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.mem,clocks.max.sm,power.limit --format=csv >> "$results"
else
  say "no nvidia-smi"
fi
say '```'
say ""
say "| check | verdict | time | last lines |"
say "| --- | --- | ---: | --- |"
# Tests named so need the emulator: they count, or expect a check or a driver's fault to be found.
emulator_only="*Counters*:*Mistake*:*Faults*:*Ptxas*"
if wanted build || wanted llama; then
  within "$(share 1)" nice "$programs/compare_llama.sh" build > "$out/build.log" 2>&1 &
  build=$!
fi
if wanted tests; then
  check driver 1 "$programs/driver_test" --gtest_brief=1
  check kernels 1 "$programs/kernels_test" --gtest_brief=1 --gtest_filter="-$emulator_only"
  check decoder 1 "$programs/gpu_decoder_test" --gtest_brief=1 --gtest_filter="-*Counts*:*Faults*"
  check logits 1 "$programs/gpu_logits_test"  # of the models in $WARPCHAT_REFERENCE_DATA; skipped without
fi

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2> /dev/null || true)
if ! wanted sanitizer; then
  :
elif [ "${QUICK:-0}" = 1 ]; then
  say "| compute-sanitizer | left out | | |"
elif [ -z "$sanitizer" ]; then
  say "| compute-sanitizer | not installed | | |"
else
  left=4
  for tool in memcheck racecheck synccheck; do
    check "$tool-kernels" $left "$sanitizer" --tool $tool --error-exitcode 9 "$programs/kernels_test" \
      --gtest_brief=1 --gtest_filter="-$emulator_only:*64Bits*"
    left=$((left - 1))
  done
  check memcheck-decoder 1 "$sanitizer" --tool memcheck --error-exitcode 9 "$programs/gpu_decoder_test" \
    --gtest_brief=1 --gtest_filter='*qwen2_tied*:*qwen3*:AttentionForms*'
fi

shapes=${SHAPES:-qwen2.5-0.5b,qwen2.5-1.5b,qwen2.5-3b,qwen2.5-7b,qwen3-0.6b,qwen3-1.7b,qwen3-4b}
[ "${QUICK:-0}" = 1 ] && shapes=${SHAPES:-qwen2.5-0.5b}
if [ -n "${build:-}" ]; then  # before anything is timed
  wait "$build"
  report build $? $(($(date +%s) - started))
fi
if wanted bench; then
  checks=1
  if wanted llama; then checks=2; fi
  check bench $checks "$programs/gpu_bench" --device "$device" --shapes "$shapes" ${BENCH_FLAGS:-}
fi
if wanted llama; then
  check llama 1 "$programs/compare_llama.sh" measure "$device" $(echo "$shapes" | tr , ' ')
fi
for table in bench llama; do
  if wanted $table; then
    say ""
    cat "$out/$table.log" >> "$results"
  fi
done
echo "$results"
[ "$failures" = 0 ]
