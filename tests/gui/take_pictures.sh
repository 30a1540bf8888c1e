#!/usr/bin/env bash
# Takes the pictures of README and manual again, from nothing: start.png, assistant.png, chat_light.png, chat_dark.png
# and profiler.png in assets/.
# Installs missing packages, builds chat and the emulator without assertions, and fetches the demo model once. The
# answers come from that model, so nothing else may use the processor meanwhile: the pictures show tokens per second.
#   take_pictures.sh [FOLDER]      (assets/ by default; BUILD=FOLDER takes the programs of another build folder)
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/app/packages.sh"
. "$here/app/demo_model.sh"
folder=${1:-$here/assets} build=${BUILD:-$here/build}

install_packages $build_packages python3 xvfb xdotool imagemagick optipng fonts-noto-core fonts-noto-cjk \
  fonts-noto-color-emoji fonts-jetbrains-mono
[ -f "$build/build.ninja" ] ||
  cmake -S "$here" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DWARPCHAT_TESTS=OFF
ninja -C "$build" chat cuda_emulator
fetch_demo_model

mkdir -p "$folder"
python3 "$here/tests/gui/screenshots.py" "$build/chat" "$demo_model" "$folder"
pictures=("$folder"/{start,assistant,chat_light,chat_dark,profiler}.png)
optipng -quiet -o4 "${pictures[@]}"
ls -l "${pictures[@]}"
