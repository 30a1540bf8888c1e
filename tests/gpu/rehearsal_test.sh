#!/bin/sh
# Rehearses tests/gpu/run.sh on the emulator: every part ends well and leaves its rows. A part that hangs, fails or is
# missing is named, and the others continue. With WARPCHAT_FULL_TESTS also from the packed archive in an empty folder,
# where SIGKILL ends it at random moments ($KILLS, 10); what is there then must be whole.
#   rehearsal_test.sh FOLDER_OF_PROGRAMS
set -eu
here=$(cd "$(dirname "$0")" && pwd)
built=$(cd "$1" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export TMPDIR="$folder"
programs=$folder/programs
mkdir "$programs" "$folder/tools"
for name in driver_test kernels_test gpu_decoder_test gpu_logits_test gpu_bench chat libcuda_emulator.so; do
  ln -s "$built/$name" "$programs/"
done
ln -s "$here"/*.sh "$here/left_out.txt" "$programs/"

fail() {
  echo "rehearsal_test.sh: $*"
  cat "$folder"/*/RESULTS.md "$folder"/*/log.txt
  exit 1
}
contains() { grep -qF -- "$2" "$1" || fail "$1 lacks: $2"; }

# Every test in left_out.txt exists under that name.
for program in "$programs"/*_test; do "$program" --gtest_list_tests; done | awk '
  /^[^ ].*\.( |$)/ { suite = $1; next }
  /^  [^ ]/ { print suite $1 }' > "$folder/tests"
sed '/^#/d; s/ .*//' "$here/left_out.txt" | while read -r pattern; do
  grep -qx -- "$(echo "$pattern" | sed 's/[.]/[.]/g; s/[*]/.*/g')" "$folder/tests" || echo "$pattern"
done > "$folder/stale"
[ ! -s "$folder/stale" ] || fail "left_out.txt names no test: $(cat "$folder/stale")"

export DEVICE=emulator FILTER='*qwen2_tied*:SamplingColumns*:DriverErrors*' SHAPES=tiny PROCESSES=2
export BENCH_FLAGS="--depths 0 --tokens 2 --rounds 1 --prompts 32 --batches 2 --predicted h200"
export CONTEND_TOKENS=12 CONTEND_CALLS=load CHAT_TOKENS=24 CHAT_STOPS=1 MODES=persistent

# Stand-ins for NVIDIA's tools with the same output format.
cat > "$folder/tools/nvidia-smi" <<'END'
#!/bin/sh
case "$*" in
  dmon*) while echo "12:00:00 0 70 30"; do sleep 1; done ;;
  *) echo "name, driver_version"; echo "No GPU, 580.1" ;;
esac
END
cat > "$folder/tools/ncu" <<'END'
#!/bin/sh
echo "==PROF== Connected to process 1"
while [ "$1" != --metrics ]; do shift; done
case $2 in *dram*) shift 2; "$@" || exit ;; esac
echo '"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'
echo '"0","1","persistent_decoder","smsp__inst_executed.sum","inst","1,234"'
END
chmod +x "$folder/tools"/*

PATH="$folder/tools:$PATH" PARTS="probe check decoder shapes=tiny kernels driver constants phases=tiny contend=tiny chat=tiny
  start=tiny ncu=tiny racecheck" "$programs/run.sh" "$folder/good" > /dev/null || fail "a part did not pass"
results=$folder/good/RESULTS.md
for part in probe check decoder shapes kernels-device driver constants phases-tiny contend contend-load chat-model \
  chat start-tiny-first start-tiny-second ncu-decoder; do
  contains "$results" "**$part: passed**"
done
contains "$results" "persistent  stream, to the bit    0.0e+00               passed"
contains "$results" "**racecheck: left out**"
contains "$results" "A rehearsal on the emulator"
for table in parts probe logits constants "read rate" "read ceiling" decode prefill phases "kernels in a stream" \
  products batches contention "decoder contention" chat start counters; do
  contains "$folder/good/RESULTS.json" "\"table\":\"$table\""
done
contains "$folder/good/rows.jsonl" '"metric":"smsp__inst_executed.sum","unit":"inst","value":"1,234"'
grep -q '^0| \[       OK \]' "$folder/good/tests.log" || fail "tests.log has no test"
contains "$folder/good/dmon.txt" "0 70 30"
[ "$(ls -A "$folder/good" | wc -l)" -le 8 ] || fail "more files come back than may: $(ls -A "$folder/good")"

rm "$programs/gpu_bench" "$programs/driver_test"
printf '#!/bin/sh\necho "half a line"\nsleep 60\n' > "$programs/gpu_bench"
chmod +x "$programs/gpu_bench"
mkdir "$folder/no_models"
WARPCHAT_REFERENCE_DATA="$folder/no_models" CAPS="constants=2 bench=2" \
  PARTS="decoder logits driver constants bench=tiny nothing" "$programs/run.sh" "$folder/bad" > /dev/null &&
  fail "a hang counts as a success"
results=$folder/bad/RESULTS.md
contains "$results" "**decoder: passed**"
contains "$results" "**logits: failed (1)**"
contains "$results" "**driver: failed (1)**"
grep -q '^\*\*constants: not finished in time\*\*, .* half a line' "$results" || fail "no hang has a last line"
contains "$results" "**bench-tiny: not finished in time**"
contains "$results" "**nothing: failed (2)**"

"$programs/run.sh" merge "$folder/good" "$folder/bad"
contains "$programs/RESULTS.md" "**phases-tiny: passed**"
contains "$programs/RESULTS.md" "**driver: failed (1)**"
if command -v python3 > /dev/null; then
  python3 -m json.tool "$programs/RESULTS.json" > /dev/null || fail "RESULTS.json is no JSON"
  # A last row that was cut short is ignored.
  mkdir "$folder/cut"
  sed 's/"tokens\/s":[0-9.][0-9.]*/"tokens\/s":50.0/' "$folder/good/rows.jsonl" > "$folder/cut/rows.jsonl"
  printf '{"table":"dec' >> "$folder/cut/rows.jsonl"
  "$here/compare.py" "$folder/good/RESULTS.json" "$folder/cut" > "$folder/compared" || fail "compare.py failed"
  grep -qE '^\| tiny, 0, persistent \| [0-9.,]+ \| 50 \| [0-9.]+ \| ([0-9.,/ ]+ \| ){2}[0-9,]+ \|$' \
    "$folder/compared" || fail "no figure stands beside its limits: $(cat "$folder/compared")"
fi
[ -n "${WARPCHAT_FULL_TESTS:-}" ] || exit 0

# llama.cpp beside ours, with a stand-in for llama-bench that prints the same format.
rm "$programs/gpu_bench"
ln -s "$built/gpu_bench" "$programs/"
cat > "$folder/llama-bench" <<'END'
#!/bin/sh
case "$*" in
  *"-n 0"*) echo '{"gpu_info": "", "n_prompt": 32, "n_gen": 0, "n_depth": 0, "test_time": "", "avg_ts": 8.0, "stddev_ts": 1}' ;;
  *) echo '{"gpu_info": "", "n_prompt": 0, "n_gen": 2, "n_depth": 0, "test_time": "", "avg_ts": 4.0, "stddev_ts": 1}' ;;
esac
END
chmod +x "$folder/llama-bench"
LLAMA_BENCH="$folder/llama-bench" ROUNDS=1 TOKENS=2 DEPTHS=0 PROMPTS=32 PARTS="build llama=tiny" \
  "$programs/run.sh" "$folder/llama" > /dev/null || fail "llama.cpp was not measured"
for part in build llama; do contains "$folder/llama/RESULTS.md" "**$part: passed**"; done
for test in tg2@d0 pp32; do
  grep -qE "^\| $test \| [0-9.]+ \| (any|stream|graph|persistent) \| [48].0 \| [0-9.]+ \|$" "$folder/llama/RESULTS.md" ||
    fail "llama.cpp is not beside our $test"
done

# Runs from the archive, in a folder with only the archive and run.sh.
mkdir -p "$folder/empty/tests/gpu" "$folder/empty/build"
AS_BUILT=1 ARCHIVE="$folder/empty/build/gpu-check.tar.xz" TRAVEL_MIB=1000 XZ_LEVEL=-0 "$here/pack.sh" "$built" ||
  fail "nothing was packed"
cp "$here/run.sh" "$folder/empty/tests/gpu/"
export PARTS="probe driver bench=tiny contend=tiny chat=tiny"
DEVICE=emulated-driver PARTS="decoder contend=tiny chat=tiny" "$folder/empty/tests/gpu/run.sh" "$folder/driver" \
  > /dev/null || fail "through the driver's library a part did not pass"
begun=$(date +%s)
"$folder/empty/tests/gpu/run.sh" "$folder/whole" > /dev/null || fail "the archive's parts did not pass"
took=$(($(date +%s) - begun))
n=0
while [ "$n" -lt "${KILLS:-10}" ]; do
  n=$((n + 1))
  setsid "$folder/empty/tests/gpu/run.sh" "$folder/killed-$n" > /dev/null 2>&1 &
  session=$!
  sleep "$(awk -v "n=$$$n" -v "t=$took" 'BEGIN { srand(n); print rand() * t }')"
  for process in $(cat /proc/[0-9]*/stat 2> /dev/null |
    awk -v "session=$session" '{ pid = $1; sub(/.*\) /, ""); if ($4 == session) print pid }'); do
    kill -9 "$process" 2> /dev/null || true
  done
  wait "$session" || true
  python3 - "$folder/whole" "$folder/killed-$n" <<'END' || fail "killed-$n is not whole"
import json, os, re, sys
def read(folder, name):
    path = os.path.join(folder, name)
    return open(path).read() if os.path.exists(path) else ""
whole = [json.loads(line) for line in read(sys.argv[1], "rows.jsonl").splitlines()]
killed, results = read(sys.argv[2], "rows.jsonl"), read(sys.argv[2], "RESULTS.md")
assert killed == "" or killed.endswith("\n"), "a row was cut"
rows = [json.loads(line) for line in killed.splitlines()]
assert [row["table"] for row in rows] == [row["table"] for row in whole[:len(rows)]], "rows are missing"
told = re.findall(r"^\*\*(\S+): passed", results, re.MULTILINE)
parts = [row["part"] for row in rows if row["table"] == "parts"]
assert told[:len(parts)] == parts or told == parts[:len(told)], f"{told} are told, {parts} have rows"
assert abs(len(told) - len(parts)) <= 1, f"{told} are told, {parts} have rows"
if read(sys.argv[2], "RESULTS.json"):
    json.loads(read(sys.argv[2], "RESULTS.json"))
print(f"{sys.argv[2]}: {len(rows)} rows of {len(whole)}, {len(parts)} parts")
END
done
