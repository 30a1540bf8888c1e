#!/bin/sh
# Checks and measures the GPU kernels on this machine in one call, and writes RESULTS.md. Needs the programs that
# tests/gpu/pack.sh links (beside this script, or in build/gpu-check), an NVIDIA driver, and for the memory and race
# checks compute-sanitizer from the CUDA toolkit.
#   tests/gpu/run.sh [OUTPUT_FOLDER]
# DEVICE=cuda:1 chooses a GPU; QUICK=1 leaves the sanitizer and the larger models out; PARTS="tests sanitizer bench"
# does some of these in a call, where a call has a time limit, and adds them to RESULTS.md.
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
results=$out/RESULTS.md
parts=${PARTS:-tests sanitizer bench}
mkdir -p "$out"
failures=0

say() { printf '%s\n' "$*" >> "$results"; }

# name, command...: its verdict into the results, its output into a file.
check() {
  name=$1
  shift
  start=$(date +%s)
  if WARPCHAT_TEST_DEVICE=$device "$@" > "$out/$name.log" 2>&1; then
    verdict=passed
  else
    verdict="**failed** ($?)"
    failures=$((failures + 1))
  fi
  say "| $name | $verdict | $(($(date +%s) - start)) s | $(tail -n 3 "$out/$name.log" | tr '\n|' '  ' | cut -c1-160) |"
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
if wanted tests; then
  check driver "$programs/driver_test" --gtest_brief=1
  check kernels "$programs/kernels_test" --gtest_brief=1 --gtest_filter="-$emulator_only"
  check decoder "$programs/gpu_decoder_test" --gtest_brief=1 --gtest_filter="-*Counts*:*Faults*"
  check logits "$programs/gpu_logits_test"  # of the models in $WARPCHAT_REFERENCE_DATA; skipped without
fi

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2> /dev/null || true)
if ! wanted sanitizer; then
  :
elif [ "${QUICK:-0}" = 1 ]; then
  say "| compute-sanitizer | left out | | |"
elif [ -z "$sanitizer" ]; then
  say "| compute-sanitizer | not installed | | |"
else
  for tool in memcheck racecheck synccheck; do
    check "$tool-kernels" timeout 400 "$sanitizer" --tool $tool --error-exitcode 9 "$programs/kernels_test" \
      --gtest_brief=1 --gtest_filter="-$emulator_only:*64Bits*"
  done
  check memcheck-decoder timeout 400 "$sanitizer" --tool memcheck --error-exitcode 9 "$programs/gpu_decoder_test" \
    --gtest_brief=1 --gtest_filter='*qwen2_tied*:*qwen3*:AttentionForms*'
fi

shapes=${SHAPES:-qwen2.5-0.5b,qwen2.5-1.5b,qwen2.5-3b,qwen2.5-7b,qwen3-0.6b,qwen3-1.7b,qwen3-4b}
[ "${QUICK:-0}" = 1 ] && shapes=${SHAPES:-qwen2.5-0.5b}
if wanted bench; then
  check bench "$programs/gpu_bench" --device "$device" --shapes "$shapes" ${BENCH_FLAGS:-}
  say ""
  cat "$out/bench.log" >> "$results"
fi
echo "$results"
[ "$failures" = 0 ]
