#!/usr/bin/env bash
# Builds a Debian package of this Debian's libraries, and an archive that runs without them on other Linux machines but
# has no window. Both lie in build-package/; the script prints their paths. Arguments go to cmake.
#   app/package.sh [CMAKE_ARGUMENTS...]
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/app/packages.sh"
packages=$here/build-package

# package FOLDER CMAKE_ARGUMENTS...: builds in build-package/FOLDER; cpack's last line names the file.
package() {
  local folder=$packages/$1 log=$packages/$1.log; shift
  echo "building in $folder" >&2
  { cmake -S "$here" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DWARPCHAT_TESTS=OFF \
      "$@" &&
    ninja -C "$folder" chat; } >&2 || fail "the build in $folder failed; the message is above"
  (cd "$packages" && cpack --config "$folder/CPackConfig.cmake" -B "$folder/packages") >"$log" 2>&1 ||
    { tail -n 20 "$log" >&2; fail "cpack failed (whole log: $log)"; }
  local file
  file=$(sed -n 's/^CPack: - package: \(.*\) generated\.$/\1/p' "$log")
  mv "$file" "$packages/"
  echo "$packages/$(basename "$file")"
}

install_packages $build_packages $package_packages
mkdir -p "$packages"
rm -f "$packages"/*.deb "$packages"/*.tar.gz
package deb "$@"
package portable -DWARPCHAT_PORTABLE=ON -DWARPCHAT_GUI=OFF "$@"
