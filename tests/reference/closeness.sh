#!/usr/bin/env bash
# Measures the distance of a model's logits from the exact ones: the relative error of all logits and the mean KL
# divergence from the float64 decoder, for the first 512 tokens of closeness_text.txt. assets/manual/accuracy.md states
# the results. Needs `chat` and `reference_logits` (ninja chat reference_logits).
#   closeness.sh MODEL.gguf [BUILD_FOLDER] [FLAGS OF chat logits...]
# IDS=1,2,... uses these tokens instead of the text, as for the small models in tests/models/exact/.
# For the Q4_K_M row, first write that model: BUILD_FOLDER/requantise -m MODEL.gguf -o OUT.gguf
# compare_closeness.py does the same for llama.cpp beside chat. Another program's logits:
# BUILD_FOLDER/reference_logits -m MODEL.gguf --tokens IDS --compare LOGITS.f32
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { sed -n 's/^#   /usage: /p' "$0" >&2; exit 2; }
model=$1 build=${2:-$here/../../build-tests}
shift $(($# < 2 ? $# : 2))

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ids=${IDS:-}
if [ -z "$ids" ]; then
  ids=$("$build/chat" tokenize -m "$model" -f "$here/closeness_text.txt" | tr -s ' \n' ',' | cut -d, -f1-512)
fi
"$build/chat" logits -m "$model" --device cpu "$@" --tokens "$ids" -o "$work/logits.f32"
"$build/reference_logits" -m "$model" --tokens "$ids" --compare "$work/logits.f32"
