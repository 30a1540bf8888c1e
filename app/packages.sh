# The Debian packages that building and testing need, and a function that installs those that are missing.
# Sourced by app/quickstart.sh, app/package.sh and tests/run.sh; everything it prints goes to stderr.

build_packages="g++ cmake ninja-build pkg-config libpcre2-dev libsentencepiece-dev libprotobuf-dev nlohmann-json3-dev
  libcli11-dev libspdlog-dev libutf8proc-dev libsqlite3-dev libcurl4-openssl-dev libssl-dev libimgui-dev libglfw3-dev libgl-dev
  libx11-dev libmd4c-dev libharfbuzz-dev libfribidi-dev libfontconfig-dev libfreetype-dev libicu-dev libglib2.0-dev
  fonts-texgyre-math"
package_packages="dpkg-dev file gzip"
download_packages="python3 python3-pip ca-certificates"
test_packages="libgtest-dev libgmock-dev python3 python3-jinja2 openssl xvfb x11-utils xdotool xclip poppler-utils
  dbus-daemon python3-dbus python3-gi gnome-keyring libsecret-1-0 uim-xim uim-byeoru uim-anthy locales
  fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji fonts-jetbrains-mono fonts-dejavu-core"
full_test_packages="clang libclang-rt-dev g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"

fail() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else fail "need root to install packages: run as root, install sudo, or install by hand: $missing"
  fi
}

# install_packages NAME...: asks the package database first, so that a second run needs neither root nor network.
install_packages() {
  missing=""
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing="$missing $package"
  done
  [ -z "$missing" ] && return
  command -v apt-get >/dev/null || fail "this script needs apt-get (Debian, Ubuntu); install these packages yourself:$missing"
  echo "installing:$missing" >&2
  log=$(mktemp)
  export DEBIAN_FRONTEND=noninteractive
  { as_root apt-get update -q && as_root apt-get install -y -q --no-install-recommends $missing; } >"$log" 2>&1 ||
    { tail -n 20 "$log" >&2; fail "apt-get could not install:$missing (whole log: $log)"; }
  rm -f "$log"
}
