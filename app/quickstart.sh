#!/usr/bin/env bash
# From a bare Debian 12 to a chat: installs what is missing, builds build/chat, fetches a small model once, starts it.
# Arguments go to chat. Only chat writes to stdout.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/app/packages.sh"
. "$here/app/demo_model.sh"

build_chat() {
  install_packages $build_packages
  [ -f "$here/build/build.ninja" ] ||
    cmake -S "$here" -B "$here/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON \
      -DWARPCHAT_TESTS=OFF >&2 ||
    fail "cmake could not configure $here/build"
  # An up-to-date program is confirmed without a word; anything else shows its progress.
  if [ -x "$here/build/chat" ] && [ -z "$(find "$here" -path "$here/build*" -prune -o -newer "$here/build/chat" \
    \( -name '*.cpp' -o -name '*.h' -o -name 'CMakeLists.txt' \) -print -quit)" ]; then
    ninja -C "$here/build" --quiet chat >/dev/null && return
  fi
  echo "building $here/build/chat" >&2
  ninja -C "$here/build" chat >&2 || fail "the build failed; the compiler's message is above"
}

# A conversation or an answer with no model named takes the demo model; commands say for themselves what they work on.
wants_demo_model() {
  case ${1:--} in -*) ;; *) return 1 ;; esac
  for argument in "$@"; do
    case $argument in -m | -m?* | --model | --model=*) return 1 ;; esac
  done
}

# The first line of the list is the model to try first; its name is what stands before the tab.
suggest_model() {
  better=$("$here/build/chat" pull 2>/dev/null </dev/null | sed -n '1s/[[:space:]].*//p')
  [ -z "$better" ] || echo "this demo model is tiny; a better one for this machine: $here/build/chat pull $better" >&2
}

build_chat
fetch_demo_model
if wants_demo_model "$@"; then
  suggest_model
  exec "$here/build/chat" --model "$demo_model" "$@"
fi
exec "$here/build/chat" "$@"
