#!/bin/sh
# Runs the tests of one program on WARPCHAT_TEST_DEVICE in several processes, and continues after a test that hangs,
# crashes, or loses the device.
#   run_tests.sh PROGRAM PROCESSES SECONDS FOLDER [FILTER]
# FOLDER gets each process's log, N.log, whose last line names the test that was running when the process ended. After
# SECONDS all are ended. Prints the results, one line for each test that did not pass. WARPCHAT_TEST_SECONDS: limit of
# one test (30). left_out.txt lists tests that never run. Exit code: 0 if everything ran and nothing failed.
# WARPCHAT_TEST_LOG: a file for the lines of all processes, each after its process number. WARPCHAT_RESULTS: a file for
# errors of logits ("accuracy: NAME: {ERROR, KL}") as rows.
set -u
program=$1 processes=$2 seconds=$3 folder=$4 filter=${5:-*}
here=$(cd "$(dirname "$0")" && pwd)
started=$(date +%s)
export WARPCHAT_TEST_SECONDS="${WARPCHAT_TEST_SECONDS:-30}"
mkdir -p "$folder"
rm -f "$folder"/*.todo "$folder"/*.log

left_out=$(sed '/^#/d; s/ .*//' "$here/left_out.txt" | paste -sd: -)
# These tests talk to the host while they run.
[ "${WARPCHAT_TEST_MEMORY:-}" != device ] || left_out="$left_out:PersistentDecoderHost*"
"$program" --gtest_list_tests --gtest_filter="$filter-$left_out" > "$folder/list" 2>&1
awk -v "n=$processes" -v "folder=$folder" '
  /^[^ ].*\.( |$)/ { suite = $1; next }
  /^  [^ ]/ && suite != "" { print suite $1 > (folder "/" count++ % n ".todo") }' "$folder/list"
if ! ls "$folder"/*.todo > /dev/null 2>&1; then
  echo "no tests in $(basename "$program"): $(tail -n 1 "$folder/list")"
  exit 1
fi

# Argument: number of the process. Copies standard input to its log and, as it comes, to the results. Test output is
# limited to 400,000 bytes; verdicts are never dropped.
keep_lines() {
  n_bytes=0
  row='{"table":"logits","device":"'${WARPCHAT_TEST_DEVICE:-}'","of":"\1","relative error":\2,"mean KL":\3}'
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in
      "["*) ;;
      *)
        n_bytes=$((n_bytes + ${#line} + 1))
        [ "$n_bytes" -le 400000 ] || continue
        ;;
    esac
    printf '%s\n' "$line" >> "$out"
    printf '%s| %s\n' "$1" "$line" >> "${WARPCHAT_TEST_LOG:-/dev/null}"
    case $line in
      "accuracy: "*)
        printf '%s\n' "$line" | sed -n "s/^accuracy: \(.*\): {\(.*\), \(.*\)}/$row/p" \
          >> "${WARPCHAT_RESULTS:-/dev/null}"
        ;;
    esac
  done
}

# Runs a list of tests in as many processes as needed until all have begun.
work() {
  log=${1%.todo}.log out=${1%.todo}.out rest=${1%.todo}.rest number=$(basename "${1%.todo}")
  : > "$log"
  while [ -s "$1" ]; do
    left=$((seconds - $(date +%s) + started))
    [ "$left" -gt 0 ] || break
    : > "$out"
    {
      timeout -k 5 "$left" "$program" --gtest_filter="$(paste -sd: "$1")" --gtest_brief=0 --gtest_color=no
      echo $? > "$out.code"
    } 2>&1 | keep_lines "$number"
    code=$(cat "$out.code")
    cat "$out" >> "$log"
    sed -n 's/^\[ RUN      \] //p' "$out" > "$out.begun"
    case $code in
      1) echo "[   FAIL   ] exit code 1" >> "$log" ;;
    esac
    case $code in
      0 | 1 | 124 | 137) break ;;
    esac
    if [ ! -s "$out.begun" ]; then
      echo "[ NO START ] exit code $code" >> "$log"
      break
    fi
    echo "[   EXIT   ] code $code" >> "$log"
    grep -vxFf "$out.begun" "$1" > "$rest"
    mv "$rest" "$1"
  done
  rm -f "$out" "$out.begun" "$out.code"
}

sort "$folder"/*.todo > "$folder/all"
for list in "$folder"/*.todo; do
  work "$list" &
done
wait

# The last line about a test is its verdict. A test without one crashed, or was running when its process was ended.
awk '
  FILENAME ~ /\/all$/ { verdict[$1] = "not run"; next }
  /^\[ RUN      \] / { verdict[$4] = "did not end"; next }
  /^\[       OK \] / { verdict[$4] = "passed" }
  /^\[  SKIPPED \] [^ ]+.*ms\)/ { verdict[$4] = "skipped" }
  /^\[  FAILED  \] [^ ]+.*ms\)/ { sub(/,$/, "", $4); verdict[$4] = "failed" }
  /^\[   HUNG   \] / { sub(/:$/, "", $4); verdict[$4] = "hung" }
  /^\[   LOST   \] / { sub(/:$/, "", $4); verdict[$4] = "lost the device" }
  /^\[ NO START \] / { outside = "a process did not start" }
  /^\[   FAIL   \] / { exit_codes = 1 }
  END {
    for (test in verdict) {
      ++n[verdict[test]]
      if (verdict[test] != "passed" && verdict[test] != "skipped") bad[++n_bad] = verdict[test] ": " test
    }
    if (exit_codes && !n["failed"]) outside = "something failed outside of the tests"
    printf "%d passed", n["passed"]
    split("skipped,failed,hung,lost the device,did not end,not run", kinds, ",")
    for (i = 1; i <= 6; ++i) if (n[kinds[i]]) printf ", %d %s", n[kinds[i]], kinds[i]
    print (outside == "" ? "" : ", " outside)
    for (i = 1; i <= n_bad; ++i) print bad[i] | "sort"
    close("sort")
    exit n_bad > 0 || outside != ""
  }' "$folder/all" "$folder"/*.log
