#!/usr/bin/env bash
# The MCP client against servers by the Python SDK: fetches both of its generations from PyPI, each into a folder of its
# own. Ends with 77 and the reason where PyPI does not give them.
#
# usage: tests/mcp/real_servers.sh [BUILD_FOLDER]   BUILD_FOLDER: with chat, cli_models and mcp_call; default build-tests
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$here/build-tests}
folders=()
for generation in 1 2; do
  folder=$here/build-python-mcp-$generation
  requirements=$here/tests/requirements/mcp_$generation.txt
  if [ ! -f "$folder/complete" ] || ! cmp -s "$requirements" "$folder/complete"; then
    rm -rf "$folder"
    if ! python3 -m pip install -q --disable-pip-version-check --require-hashes --only-binary :all: \
      --target "$folder" -r "$requirements" >&2; then
      echo "real_servers.sh: skipped: the package mcp $generation.x could not be installed from PyPI; see pip's message" >&2
      exit 77
    fi
    cp "$requirements" "$folder/complete"
  fi
  folders+=("$folder")
done
exec python3 "$here/tests/mcp/real_servers_test.py" "$build/chat" "$build/cli_models" "$build/mcp_call" "${folders[@]}"
