#!/bin/sh
# Fetches llama.cpp's source from the source package of llama-cpp-python on PyPI. Keeps what llama-bench with its CUDA
# backend needs, in build/llama.cpp.tar.gz. tests/gpu/pack.sh packs that file if it exists, so that tests/gpu/run.sh can
# measure llama.cpp, too. tests/requirements/ names the packages by the hashes of their files: pip runs a source
# package's build system, so that one is fetched by its hash, too.
#   tests/gpu/fetch_llama.sh
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
requirements=$root/tests/requirements
archive=$root/build/llama.cpp.tar.gz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk '/^llama-cpp-python==/ { p = 1 } p { print } p && !/\\$/ { exit }' "$requirements/llama_cpp.txt" > "$work/llama.txt"
version=$(sed -n 's/^llama-cpp-python==\([0-9.]*\).*/\1/p' "$work/llama.txt")
if ! { python3 -m pip install -q --disable-pip-version-check --require-hashes --target "$work/python" \
  -r "$requirements/scikit_build_core.txt" &&
  PYTHONPATH=$work/python python3 -m pip download -q --disable-pip-version-check --require-hashes --no-deps \
    --no-build-isolation --no-binary :all: -d "$work" -r "$work/llama.txt"; } > "$work/log" 2>&1; then
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
  echo "fetch_llama.sh: llama-cpp-python $version orders its files otherwise than this script expects" >&2
  exit 1
fi
sed -i '/add_subdirectory(/{/(llama-bench)/!d}' "$work/llama.cpp/tools/CMakeLists.txt"
commit=$(tar -xzOf "$package" --wildcards '*/.git/modules/vendor/llama.cpp/HEAD' 2> /dev/null | cut -c1-9 || true)
echo "llama.cpp ${commit:-of unknown commit} (llama-cpp-python $version)" > "$work/llama.cpp/VERSION"
mkdir -p "$root/build"
tar -C "$work" -czf "$archive" llama.cpp
du -sh "$archive"
