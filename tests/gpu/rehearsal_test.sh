#!/bin/sh
# tests/gpu/run.sh on the emulator, in small: every part ends well and leaves its rows, and one that hangs, fails or is
# not there is told by name while the others go on.
#   rehearsal_test.sh FOLDER_OF_PROGRAMS
set -eu
here=$(cd "$(dirname "$0")" && pwd)
built=$(cd "$1" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
programs=$folder/programs
mkdir "$programs"
for name in driver_test kernels_test gpu_decoder_test gpu_logits_test gpu_bench; do ln -s "$built/$name" "$programs/"; done
ln -s "$here"/*.sh "$here/left_out.txt" "$programs/"

fail() {
  echo "rehearsal_test.sh: $*"
  cat "$folder"/*/RESULTS.md "$folder"/*/log.txt
  exit 1
}
contains() { grep -qF -- "$2" "$1" || fail "$1 lacks: $2"; }

# What is left out by name is there under that name.
for program in "$programs"/*_test; do "$program" --gtest_list_tests; done | awk '
  /^[^ ].*\.( |$)/ { suite = $1; next }
  /^  [^ ]/ { print suite $1 }' > "$folder/tests"
sed '/^#/d; s/ .*//' "$here/left_out.txt" | while read -r pattern; do
  grep -qx -- "$(echo "$pattern" | sed 's/[.]/[.]/g; s/[*]/.*/g')" "$folder/tests" || echo "$pattern"
done > "$folder/stale"
[ ! -s "$folder/stale" ] || fail "left_out.txt names no test: $(cat "$folder/stale")"

export DEVICE=emulator FILTER='*qwen2_tied*:SamplingColumns*:DriverErrors*' LOGITS_SHAPES=tiny SHAPES=tiny START_SHAPES=tiny
export BENCH_FLAGS="--depths 0 --tokens 2 --rounds 1 --prompts 32 --batches 2 --predicted h200" PROCESSES=2

# A llama-bench that measures nothing, in its words.
cat > "$folder/llama-bench" <<'END'
#!/bin/sh
case "$*" in
  *"-n 0"*) echo '{"gpu_info": "", "n_prompt": 32, "n_gen": 0, "n_depth": 0, "test_time": "", "avg_ts": 8.0, "stddev_ts": 1}' ;;
  *) echo '{"gpu_info": "", "n_prompt": 0, "n_gen": 2, "n_depth": 0, "test_time": "", "avg_ts": 4.0, "stddev_ts": 1}' ;;
esac
END
chmod +x "$folder/llama-bench"
export LLAMA_BENCH="$folder/llama-bench" LLAMA_SHAPES=tiny ROUNDS=1 TOKENS=2 DEPTHS=0 PROMPTS=32

PARTS="decoder shapes kernels driver constants bench start llama" "$programs/run.sh" "$folder/good" > /dev/null ||
  fail "a part did not pass"
results=$folder/good/RESULTS.md
for part in decoder shapes kernels driver constants bench-tiny start-tiny-first start-tiny-second build llama; do
  contains "$results" "**$part: passed**"
done
contains "$results" "A rehearsal on the emulator"
for test in tg2@d0 pp32; do
  grep -qE "^\| $test \| [0-9.]+ \| (any|stream|graph|persistent) \| [48].0 \| [0-9.]+ \|$" "$results" ||
    fail "llama.cpp is not beside our $test"
done
for table in parts logits constants "read rate" "read ceiling" decode prefill phases "kernels in a stream" products \
  batches start llama.cpp; do
  contains "$folder/good/RESULTS.json" "\"table\":\"$table\""
done
[ "$(ls "$folder/good" | wc -l)" -le 8 ] || fail "more files come back than may"

rm "$programs/gpu_bench" "$programs/driver_test"
printf '#!/bin/sh\necho "half a line"\nsleep 60\n' > "$programs/gpu_bench"
chmod +x "$programs/gpu_bench"
mkdir "$folder/no_models"
export WARPCHAT_REFERENCE_DATA="$folder/no_models" CAPS="constants=3 bench=3"
PARTS="decoder logits driver constants bench sanitizer" "$programs/run.sh" "$folder/bad" > /dev/null &&
  fail "a hang counts as a success"
results=$folder/bad/RESULTS.md
contains "$results" "**decoder: passed**"
contains "$results" "**logits: failed (1)**"
contains "$results" "**driver: failed (1)**"
grep -q '^\*\*constants: not finished in time\*\*, [0-9]* s\. half a line' "$results" || fail "no hang has a last line"
contains "$results" "**bench-tiny: not finished in time**"
contains "$results" "**sanitizer: left out**"

"$programs/run.sh" merge "$folder/good" "$folder/bad"
contains "$programs/RESULTS.md" "**bench-tiny: passed**"
contains "$programs/RESULTS.md" "**driver: failed (1)**"
if command -v python3 > /dev/null; then
  python3 -m json.tool "$programs/RESULTS.json" > /dev/null || fail "RESULTS.json is no JSON"
fi
