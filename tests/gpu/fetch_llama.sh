#!/bin/sh
# Fetches llama.cpp's source from the source package of llama-cpp-python on PyPI. Keeps what llama-bench with its CUDA
# backend needs, in build/llama.cpp.tar.gz. tests/gpu/pack.sh packs that file if it exists, so that tests/gpu/run.sh can
# measure llama.cpp, too.
#   tests/gpu/fetch_llama.sh [VERSION_OF_LLAMA_CPP_PYTHON]
set -eu
version=${1:-0.3.36}
root=$(cd "$(dirname "$0")/../.." && pwd)
archive=$root/build/llama.cpp.tar.gz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! python3 -m pip download -q --no-deps --no-binary llama-cpp-python -d "$work" "llama-cpp-python==$version" \
  > "$work/log" 2>&1; then
  echo "fetch_llama.sh: pip cannot download the source of llama-cpp-python $version: $(tail -n 1 "$work/log")" >&2
  exit 1
fi
package=$(ls "$work"/llama_cpp_python-*.tar.gz)

set -f  # tar expands the patterns
wanted=
for path in CMakeLists.txt LICENSE cmake common include src vendor ggml/CMakeLists.txt ggml/cmake ggml/include \
  ggml/src/*.* ggml/src/ggml-cpu ggml/src/ggml-cuda tools/CMakeLists.txt tools/llama-bench; do
  wanted="$wanted */vendor/llama.cpp/$path"
done
if ! tar -C "$work" -xzf "$package" --strip-components=2 --wildcards --no-wildcards-match-slash $wanted; then
  echo "fetch_llama.sh: llama-cpp-python $version orders its files otherwise than 0.3.36, which is known to work" >&2
  exit 1
fi
sed -i '/add_subdirectory(/{/(llama-bench)/!d}' "$work/llama.cpp/tools/CMakeLists.txt"
commit=$(tar -xzOf "$package" --wildcards '*/.git/modules/vendor/llama.cpp/HEAD' 2> /dev/null | cut -c1-9 || true)
echo "llama.cpp ${commit:-of unknown commit} (llama-cpp-python $version)" > "$work/llama.cpp/VERSION"
mkdir -p "$root/build"
tar -C "$work" -czf "$archive" llama.cpp
du -sh "$archive"
