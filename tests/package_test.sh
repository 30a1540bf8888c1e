#!/usr/bin/env bash
# Installs what app/package.sh built, uses it, removes it, and checks that nothing is left. Needs root.
#   tests/package_test.sh [ROOT]
# Without ROOT, dpkg installs into a scratch folder, and programs use this machine's libraries. ROOT: the folder of a
# bare Debian (debootstrap --variant=minbase) of the version that built the package. There apt installs the package's
# dependencies, and programs use only those. MODEL: a GGUF file for answers instead of a tiny one of
# build-tests/cli_models. Exits with 77 if it cannot run.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
root=${1:-}
n_checks=0

fail() { echo "package_test.sh: $*" >&2; exit 1; }
skip() { echo "package_test.sh: skipped: $*" >&2; exit 77; }
check() { n_checks=$((n_checks + 1)); "${@:2}" || fail "$1"; }
is() { [ "$1" = "$2" ] || { echo "expected: $2, found: $1" >&2; return 1; }; }

[ "$(id -u)" = 0 ] || skip "it needs root"
command -v dpkg >/dev/null || skip "dpkg is not here"
deb=$(find "$here/build-package" -maxdepth 1 -name 'warpchat_*.deb' 2>/dev/null)
archive=$(find "$here/build-package" -maxdepth 1 -name 'warpchat-*.tar.gz' 2>/dev/null)
[ -f "$deb" ] && [ -f "$archive" ] || fail "build-package/ has not one package and one archive; run app/package.sh first"
version=$(sed -n 's/^project(.* VERSION \([0-9.]*\).*/\1/p' "$here/CMakeLists.txt")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"; [ -z "$root" ] || rm -rf "$root/package_test"' EXIT
if [ -n "${MODEL:-}" ]; then cp "$MODEL" "$scratch/tiny.gguf"
elif [ -x "$here/build-tests/cli_models" ]; then "$here/build-tests/cli_models" "$scratch"
else skip "there is no build-tests/cli_models to make a tiny model; name one in MODEL"
fi

# The machine under test: a scratch folder with an empty package database, or ROOT.
if [ -z "$root" ]; then
  machine=$scratch/machine work=$scratch
  dpkg_here() { dpkg --root="$machine" --force-depends --force-script-chrootless "$@" >"$scratch/log" 2>&1; }
  new_machine() { rm -rf "$machine"; mkdir -p "$machine"/var/lib/dpkg/{info,updates,triggers}; : >"$machine/var/lib/dpkg/status"; }
  install_deb() { dpkg_here -i "$deb"; }
  remove_deb() { dpkg_here --purge warpchat; }
  # run PROGRAM ARGUMENTS...: PROGRAM is a path on the machine.
  run() { env -i PATH="$PATH" HOME="$work" LC_ALL=C.UTF-8 "$machine$1" "${@:2}"; }
  libraries() { ldd "$machine$1"; }
  model=$scratch/tiny.gguf
else
  machine=$(cd "$root" && pwd)
  mkdir "$machine/package_test"
  cp "$scratch/tiny.gguf" "$deb" "$machine/package_test/"
  new_machine() { :; }
  # With /proc, where the loader learns the place of the archive's libraries.
  in_root() { unshare -m bash -c 'mount --bind /proc "$0/proc" && exec chroot "$0" "$@"' "$machine" env -i \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/package_test LC_ALL=C.UTF-8 "$@"; }
  in_root apt-get update -q >"$scratch/log" 2>&1 || skip "apt-get update does not work in $root"
  install_deb() { in_root DEBIAN_FRONTEND=noninteractive apt-get install -y -q --reinstall --no-install-recommends \
    "/package_test/$(basename "$deb")" >"$scratch/log" 2>&1; }
  remove_deb() { in_root dpkg --purge warpchat >"$scratch/log" 2>&1; }
  run() { in_root "$@"; }
  libraries() { in_root ldd "$1"; }
  model=/package_test/tiny.gguf
fi
done_well() { "$@" || { tail -n 20 "$scratch/log" >&2; return 1; }; }
# The machine's paths, without the state of dpkg and apt.
paths() {
  find "$machine" -mindepth 1 \( -path "$machine/var" -o -path "$machine/proc" -o -path "$machine/sys" -o \
    -path "$machine/dev" -o -path "$machine/package_test" -o -path "$machine/portable" \) -prune -o -print | sort
}
# The paths that belong to the package.
remains() { paths | grep -E 'warpchat|/s?bin/chat$' || true; }
answers() { [ -n "$(run "$1" -m "$model" -p Hello -n 8 --temp 0 --no-history)" ]; }

# The archive, before anything is installed.
new_machine
mkdir -p "$machine/portable"
tar -C "$machine/portable" -xzf "$archive"
portable=/portable/warpchat-$version-linux-$(uname -m)
check "the archive's program does not start" is "$(run "$portable/warpchat" --version)" "warpchat $version"
check "the archive's program does not answer" answers "$portable/warpchat"
for library in "$machine$portable"/lib/*; do
  check "an archive's library has no name of one: $library" [ -f "$library" ]
done
# Another Debian's libraries are in packages of other names.
codename() { (. "$1/etc/os-release"; echo "${VERSION_CODENAME:-}"); }
if command -v dpkg-query >/dev/null && { [ -z "$root" ] || [ "$(codename "")" = "$(codename "$machine")" ]; }; then
  for library in "$machine$portable"/lib/*; do
    owner=$(dpkg-query -S "*/$(uname -m)-linux-gnu/$(basename "$library")" 2>/dev/null | sed -n '1s/[:,].*//p')
    check "the archive has no licence of $owner" [ -s "$machine$portable/licenses/$owner" ]
  done
fi
outside=$(libraries "$portable/warpchat" | awk '/=> \// { print $3 }' | grep -v "$portable/lib/" |
  grep -vE '/(ld-linux[^/]*|libc|libm|libpthread|libdl|librt|libresolv|libutil|libanl)\.so' || true)
check "the archive's program uses libraries outside: $outside" [ -z "$outside" ]
rm -rf "$machine/portable"

# The package, if the name chat is free.
new_machine
before=$(remains)
check "the package cannot be installed" done_well install_deb
check "it says another version" is "$(run /usr/bin/warpchat --version)" "warpchat $version"
check "it does not answer" answers /usr/bin/warpchat
check "there is no link chat" is "$(readlink "$machine/usr/bin/chat")" warpchat
check "the link has another name in messages" is "$(run /usr/bin/chat --version)" "chat $version"
for file in share/man/man1/warpchat.1.gz share/bash-completion/completions/warpchat \
  share/zsh/vendor-completions/_warpchat share/fish/vendor_completions.d/warpchat.fish \
  share/applications/warpchat.desktop share/icons/hicolor/scalable/apps/warpchat.svg share/doc/warpchat/copyright; do
  # A minimal image may keep dpkg from installing documentation (dpkg.cfg.d: path-exclude).
  [ -s "$machine/usr/$file" ] || { [ -n "$root" ] && grep -rqs path-exclude "$machine/etc/dpkg"; } ||
    fail "there is no /usr/$file"
done
page=$machine/usr/share/man/man1/warpchat.1.gz
check "the man page lacks the program's name" grep -q '^\.TH WARPCHAT 1' <(zcat "$page")
check "the man page lacks a command" grep -q 'check\\-device' <(zcat "$page")
check "bash refuses the completions" bash -n "$machine/usr/share/bash-completion/completions/warpchat"
check "bash completes nothing" is "$(bash -c '. "$1"; complete -p warpchat' bash \
  "$machine/usr/share/bash-completion/completions/warpchat")" "complete -F _warpchat warpchat"
check "the desktop entry starts something else" grep -qx 'Exec=warpchat --gui' "$machine/usr/share/applications/warpchat.desktop"
check "the emulator is in it" [ ! -e "$machine/usr/lib/warpchat" ]
check "it cannot be installed again" done_well install_deb
check "the link is gone after that" is "$(readlink "$machine/usr/bin/chat")" warpchat
check "the package cannot be removed" done_well remove_deb
check "something is left" is "$(remains)" "$before"
[ -n "$root" ] || check "a folder is left" is "$(paths)" ""

# The package, if another program has the name.
for other in usr/sbin/chat usr/bin/chat; do
  new_machine
  mkdir -p "$machine/$(dirname "$other")"
  echo "another program" >"$machine/$other"
  check "the package cannot be installed beside $other" done_well install_deb
  [ $other = usr/bin/chat ] || check "there is a link chat beside $other" [ ! -e "$machine/usr/bin/chat" ]
  check "the package cannot be removed beside $other" done_well remove_deb
  check "it changed $other" is "$(cat "$machine/$other")" "another program"
  rm "$machine/$other"
done
echo "package_test.sh: $n_checks checks passed"
