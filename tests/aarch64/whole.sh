#!/usr/bin/env bash
# The whole program on AArch64: builds chat with a cross compiler in build-aarch64/, and has it answer under qemu-user.
#   tests/aarch64/whole.sh [CMAKE_ARGUMENTS...]
# The packages that it is linked with are downloaded once and unpacked in build-aarch64/sysroot; the machine's package
# database is not changed. The answer has to be the one that chat gives on x86-64. Exits with 77 on another processor.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/app/packages.sh"
folder=$here/build-aarch64 sysroot=$here/build-aarch64/sysroot
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# What the packages depend on and neither compiling nor running chat needs; C and C++ come with the cross compiler.
unneeded="libc6-dev libglx-mesa0 python3 python3-distutils dpkg debconf fontconfig-config icu-devtools catch2"

# private_apt COMMAND...: apt-get for arm64 from this machine's sources, with a package database of its own.
private_apt() {
  APT_CONFIG=$scratch/apt.conf DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends "$@" \
    >>"$folder/apt.log" 2>&1 ||
    { tail -n 20 "$folder/apt.log" >&2; fail "apt-get $1 failed for arm64 (whole log: $folder/apt.log)"; }
}

# unpack_packages NAME...: with all that they depend on.
unpack_packages() {
  local package contents
  contents="$(. /etc/os-release; echo "${VERSION_CODENAME:-}"): $*"
  [ "$(cat "$sysroot/contents" 2>/dev/null)" != "$contents" ] || return 0
  echo "downloading arm64 packages into $sysroot" >&2
  rm -rf "$sysroot"
  mkdir -p "$sysroot/usr/lib" "$scratch/state/lists/partial" "$scratch/cache/archives/partial"
  : >"$folder/apt.log"
  for package in $unneeded; do
    printf '%s\n' "Package: $package" "Status: install ok installed" "Version: 999" "Architecture: arm64" \
      "Multi-Arch: allowed" "Maintainer: none" "Description: taken for installed"
    [ "$package" != libc6-dev ] || echo "Provides: libc-dev"
    echo
  done >"$scratch/status"
  cat >"$scratch/apt.conf" <<CONFIGURATION
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "";
Dir::State "$scratch/state";
Dir::State::status "$scratch/status";
Dir::Cache "$scratch/cache";
CONFIGURATION
  private_apt update
  private_apt install --download-only "$@"
  ln -s usr/lib "$sysroot/lib"  # where links of one lead into the other, they stay in the folder
  for package in "$scratch"/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -C "$sysroot" -x --keep-directory-symlink --no-same-owner ||
      fail "$(basename "$package") could not be unpacked"
  done
  # An absolute link would lead to this machine's files.
  find "$sysroot" -type l -lname '/*' -printf '%p\t%l\n' | while IFS=$'\t' read -r link target; do
    ln -sfn "$sysroot$target" "$link"
  done
  echo "$contents" >"$sysroot/contents"
}

build_chat() {
  { cmake -S "$here" -B "$folder" -G Ninja --toolchain "$here/tests/aarch64/sysroot.cmake" -DSYSROOT="$sysroot" \
      -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DWARPCHAT_TESTS=OFF "$@" &&
    cmake --build "$folder" --target chat; } >&2 || fail "chat could not be built for AArch64; the message is above"
}

# answer CHAT...: what it says to a prompt, without randomness. The tokens do not depend on the machine.
model=$here/tests/models/exact/tinyll.gguf expected=" Krou'mentres kP F"
answer() {
  env -i PATH="$PATH" HOME="$scratch" LC_ALL=C.UTF-8 timeout 300 "$@" -m "$model" -p "Hello there" --temp 0 -n 8 \
    --device cpu -t 2 --no-history </dev/null
}

# check_answer NAME CHAT...
check_answer() {
  local found
  found=$(answer "${@:2}") || fail "chat gave no answer $1 (exit code $?)"
  [ "$found" = "$expected" ] || fail "chat answered \"$found\" instead of \"$expected\" $1"
  echo "chat answered \"$found\" $1"
}

[ "$(uname -m)" = x86_64 ] || { echo "whole.sh: skipped: it cross-builds on x86-64 alone" >&2; exit 77; }
install_packages ninja-build cmake pkg-config g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
mkdir -p "$folder"
unpack_packages $(tr ' ' '\n' <<<"$build_packages" | grep -e '-dev$')
build_chat "$@"
for cpu in max neoverse-n1 cortex-a72; do  # with I8MM, with dot products, with neither
  check_answer "on an emulated $cpu" qemu-aarch64 -cpu $cpu -L "$sysroot" "$folder/chat"
done
[ ! -x "$here/build-tests/chat" ] || check_answer "on x86-64" "$here/build-tests/chat"
