#!/bin/sh
# Runs the program on a model with random weights, with drafts, in every launch mode. Two answers run to their end; the
# greedy one repeats itself, so drafts are tried. Then SIGINT stops answers at random moments, from the program's start
# on. All modes must give the same text, a stopped answer must be a prefix of it, and the exit code must tell how it
# ended. One row per run, also to $WARPCHAT_RESULTS. Fails if any run is wrong.
#   chat_modes.sh CHAT DEVICE MODEL TOKENS STOPS
# MODES: launch modes to try; SEED: for the random moments; ANSWER_SECONDS: limit of an answer (15).
set -u
chat=$1 device=$2 model=$3 tokens=$4 stops=$5
modes=${MODES:-stream graph persistent auto}
seed=${SEED:-$$}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 143' INT TERM
export HOME="$folder"
unset XDG_DATA_HOME XDG_STATE_HOME XDG_CONFIG_HOME XDG_CACHE_HOME
prompt="one two three one two three one two three four one two three"
failures=0

now() { date +%s.%N; }
field() { sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p" "$folder/json"; }
# command..., which prints a JSON object: sets code, seconds, speed, drafted and accepted; writes $folder/text.
answer() {
  begun=$(now)
  "$@" -m "$model" --device "$device" --no-device-check --launch "$mode" --raw -p "$prompt" -n "$tokens" -s 7 --no-history --json \
    > "$folder/json" 2> "$folder/errors"
  code=$?
  seconds=$(echo "$(now) $begun" | awk '{ printf "%.3f", $1 - $2 }')
  speed=$(field generated_per_second | awk '{ printf "%.1f", $1 }')
  drafted=$(field drafted_tokens) accepted=$(field accepted_tokens)
  sed -n 's/.*"answer":"\(.*\)","reasoning":.*/\1/p' "$folder/json" > "$folder/text"
}
# Arguments: expected exit code, and a file that must equal $folder/text. Sets the verdict.
judge() {
  if [ "$code" != "$1" ]; then
    echo "exit code $1 was expected: $(tr -d '"\\|' < "$folder/errors" | tr '\n\t' '  ' | tail -c 200)"
  elif [ "$code" = 0 ] && [ ! -s "$folder/text" ]; then
    echo "no text"
  elif ! cmp -s "$folder/text" "$2"; then
    echo "another text than by $first"
  else
    echo "as expected"
  fi
}
row() { # run, verdict
  [ "$2" = "as expected" ] || failures=$((failures + 1))
  echo "| $mode | $1 | $code | $seconds | $2 | $speed | $drafted | $accepted |"
  if [ -n "${WARPCHAT_RESULTS:-}" ]; then
    { printf '{"table":"chat","device":"%s","launch":"%s","run":"%s","exit code":%s,' "$device" "$mode" "$1" "$code"
      printf '"seconds":%s,"verdict":"%s","tokens/s":%s,' "$seconds" "$2" "${speed:-null}"
      printf '"drafted":%s,"accepted":%s}\n' "${drafted:-null}" "${accepted:-null}"; } > "$folder/row"
    cat "$folder/row" >> "$WARPCHAT_RESULTS"
  fi
}
# Drops the end, where a character may be cut.
without_end() { head -c "$(($(wc -c < "$1") > 12 ? $(wc -c < "$1") - 12 : 0))" "$1"; }

echo "| launch | run | exit code | seconds | verdict | tokens/s | drafted | accepted |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- |"
first=
for mode in $modes; do
  for temperature in 0 0.8; do
    answer timeout -k 5 "${ANSWER_SECONDS:-15}" "$chat" --temp "$temperature"
    [ -n "$first" ] && [ "$mode" != "$first" ] || cp "$folder/text" "$folder/text-$temperature"
    [ "$temperature" = 0 ] || [ -n "$first" ] || first=$mode
    row "temperature $temperature" "$(judge 0 "$folder/text-$temperature")"
    [ "$code" = 0 ] || continue 2  # a mode that hangs would use up the others' time
  done
  whole=$seconds i=0
  while [ "$i" -lt "$stops" ]; do
    i=$((i + 1)) seed=$((seed + 1))
    moment=$(awk -v "s=$seed" -v "t=$whole" 'BEGIN { srand(s); printf "%.3f", rand() * t }')
    answer timeout --preserve-status -k 10 -s INT "$moment" "$chat" --temp 0.8
    if [ "$code" = 0 ]; then  # the answer ended before the signal
      row "not stopped within $moment s" "$(judge 0 "$folder/text-0.8")"
      continue
    fi
    without_end "$folder/text" > "$folder/stopped" && mv "$folder/stopped" "$folder/text"
    head -c "$(wc -c < "$folder/text")" "$folder/text-0.8" > "$folder/beginning"
    row "stopped after $moment s" "$(judge 130 "$folder/beginning")"
  done
done
echo ""
echo "$failures runs were not as expected"
[ "$failures" = 0 ]
