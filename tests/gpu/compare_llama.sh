#!/bin/sh
# llama.cpp's CUDA backend beside our decoder on this machine's GPU: the same random weights, measured in turns.
# tests/gpu/run.sh starts it, beside gpu_bench and the source that tests/gpu/fetch_llama.sh fetched.
#   compare_llama.sh build                      builds llama-bench, or continues an earlier call's build
#   compare_llama.sh measure DEVICE SHAPE...    prints Markdown: medians, and the median of the rounds' ratios
# Exit code 77: skipped, with the reason. LLAMA_FOLDER: where source and build stay between calls; LLAMA_BENCH: an
# installed llama-bench to use instead; LLAMA_CMAKE: more cmake flags, if it does not find the CUDA libraries; ROUNDS,
# TOKENS, DEPTHS, PROMPTS: what is measured.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${LLAMA_FOLDER:-${TMPDIR:-/tmp}/warpchat-llama.cpp}
bench=${LLAMA_BENCH:-$folder/build/bin/llama-bench}
rounds=${ROUNDS:-3}
tokens=${TOKENS:-128}
depths=${DEPTHS:-0,4096,32000}
prompts=${PROMPTS:-512,4096}

left_out() {
  echo "llama.cpp is left out: $*"
  exit 77
}

unpack() {
  archive=$here/llama.cpp.tar.gz
  [ -f "$archive" ] || left_out "its source is not packed here; tests/gpu/fetch_llama.sh fetches it for pack.sh"
  if cmp -s "$archive" "$folder/llama.cpp.tar.gz"; then return; fi
  rm -rf "$folder/llama.cpp" "$folder/build"
  mkdir -p "$folder"
  tar -C "$folder" -xzf "$archive"
  cp "$archive" "$folder/"
}

# Builds for this GPU only, and only the attention kernels for an f16 cache. Takes minutes on many cores.
build() {
  if [ -n "${LLAMA_BENCH:-}" ]; then
    echo "nothing to build: $LLAMA_BENCH is taken"
    return
  fi
  architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null | head -n 1 | tr -d .)
  case $architecture in
    '' | *[!0-9]*) left_out "nvidia-smi names no GPU to build it for" ;;
  esac
  nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2> /dev/null) || left_out "no nvcc; it comes with the CUDA toolkit"
  command -v cmake > /dev/null || left_out "no cmake"
  if command -v ninja > /dev/null; then export CMAKE_GENERATOR=Ninja; fi
  unpack
  cmake -S "$folder/llama.cpp" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=OFF -DGGML_CUDA=ON \
    -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_CUDA_ARCHITECTURES="$architecture-real" -DGGML_CUDA_FA_QUANTS=f16-f16 \
    -DGGML_CUDA_NCCL=OFF -DLLAMA_OPENSSL=OFF -DLLAMA_SUBPROCESS=OFF -DLLAMA_BUILD_TESTS=OFF \
    -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_APP=OFF ${LLAMA_CMAKE:-}
  cmake --build "$folder/build" --target llama-bench -j "$(nproc)"
}

# Arguments: device, shape. Prints lines "test launch tokens/s" from gpu_bench's tables.
our_rates() {
  "$here/gpu_bench" shapes --device "$1" --shapes "$2" --depths "$depths" --prompts "$prompts" --tokens "$tokens" \
    --batches "" --rounds 1 --kernels no > "$scratch/ours.md"
  awk -F ' *[|] *' -v "tokens=$tokens" '
    $4 ~ /^(stream|graph|persistent)$/ { print "tg" tokens "@d" $3, $4, $5 }
    NF == 8 && $3 ~ /^[0-9]+$/ { print "pp" $3, "any", $4 }' "$scratch/ours.md"
}

# Arguments: device, model file. Prints the same lines for llama.cpp: all layers on that GPU, flash attention.
their_rates() {
  case $1 in
    cuda:*) gpu="-sm none -mg ${1#cuda:}" ;;
    *) gpu= ;;
  esac
  "$bench" -m "$2" -ngl 99 -fa 1 $gpu -r 3 -o jsonl -p "$prompts" -n 0 > "$scratch/theirs.jsonl"
  "$bench" -m "$2" -ngl 99 -fa 1 $gpu -r 3 -o jsonl -p 0 -n "$tokens" -d "$depths" >> "$scratch/theirs.jsonl"
  if [ "${1%%:*}" = cuda ] && ! grep -q '"gpu_info": *"[^"]' "$scratch/theirs.jsonl"; then
    echo "compare_llama.sh: llama.cpp found no GPU, so that its figures are the CPU's" >&2
    exit 1
  fi
  sed -n 's/.*"n_prompt": *\([0-9]*\), *"n_gen": *\([0-9]*\), *"n_depth": *\([0-9]*\),.*"avg_ts": *\([0-9.]*\),.*/\1 \2 \3 \4/p' \
    "$scratch/theirs.jsonl" |
    awk '{ print ($1 > 0 ? "pp" $1 : "tg" $2 "@d" $3), "llama.cpp", $4 }'
}

# Argument: shape. Turns lines "round test launch tokens/s" into a table, and into rows in $WARPCHAT_RESULTS if set.
# Ours is the launch mode with the best median.
table() {
  awk -v "rounds=$rounds" -v "shape=$1" -v "rows=${WARPCHAT_RESULTS:-/dev/null}" '
    function median(   i, j, t) {  # sorts value[1 .. rounds]
      for (i = 2; i <= rounds; ++i)
        for (j = i; j > 1 && value[j] < value[j - 1]; --j) { t = value[j]; value[j] = value[j - 1]; value[j - 1] = t }
      return (value[int((rounds + 1) / 2)] + value[int(rounds / 2) + 1]) / 2
    }
    function speed(test, launch,   r) {
      for (r = 1; r <= rounds; ++r) value[r] = rate[r, test, launch]
      return median()
    }
    {
      rate[$1, $2, $3] = $4
      if (!($2 in known)) tests[++n] = $2
      known[$2]
      if ($3 != "llama.cpp") launches[$3]
    }
    END {
      print "| test | ours, tokens/s | launch | llama.cpp, tokens/s | ratio |\n| --- | ---: | --- | ---: | ---: |"
      for (i = 1; i <= n; ++i) {
        test = tests[i]
        ours = 0
        for (launch in launches)
          if (speed(test, launch) > ours) { ours = speed(test, launch); best = launch }
        theirs = speed(test, "llama.cpp")
        if (ours == 0 || theirs == 0) { printf "| %s | %.1f | | %.1f | one was not measured |\n", test, ours, theirs; continue }
        for (r = 1; r <= rounds; ++r) value[r] = rate[r, test, best] / rate[r, test, "llama.cpp"]
        ratio = median()
        printf "| %s | %.1f | %s | %.1f | %.2f |\n", test, ours, best, theirs, ratio
        printf "{\"table\":\"llama.cpp\",\"shape\":\"%s\",\"test\":\"%s\",\"launch\":\"%s\"," \
               "\"tokens/s\":%.1f,\"llama.cpp, tokens/s\":%.1f,\"ratio\":%.3f}\n",
          shape, test, best, ours, theirs, ratio >> rows
      }
    }'
}

# Arguments: device, shape.
compare() {
  printf '\n### %s\n\n' "$2"
  "$here/gpu_bench" write-gguf --folder "$scratch" --shapes "$2"
  : > "$scratch/rates"
  round=1
  while [ "$round" -le "$rounds" ]; do
    our_rates "$1" "$2" > "$scratch/round"
    their_rates "$1" "$scratch/$2.gguf" >> "$scratch/round"
    sed "s/^/$round /" "$scratch/round" >> "$scratch/rates"
    round=$((round + 1))
  done
  rm "$scratch/$2.gguf"
  table "$2" < "$scratch/rates"
}

measure() {
  [ -x "$bench" ] || left_out "its llama-bench is not built here"
  device=$1
  shift
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  trap 'exit 143' INT TERM
  echo "## Beside $(cat "$folder/llama.cpp/VERSION" 2> /dev/null || echo "$bench")"
  echo ""
  echo "Medians of $rounds rounds in turns. Ours chooses each token on the device; llama-bench chooses none, and copies"
  echo "the logits to the host instead."
  for shape; do compare "$device" "$shape"; done
}

case ${1:-} in
  build) build ;;
  measure)
    shift
    measure "$@"
    ;;
  *)
    echo "usage: compare_llama.sh build | measure DEVICE SHAPE..." >&2
    exit 2
    ;;
esac
