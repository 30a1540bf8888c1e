#!/usr/bin/env bash
# Runs clang-tidy, with the checks of .clang-tidy, on the C++ sources that differ from a commit.
#   tests/tidy.sh            from the branch point off main, or from the last commit on main
#   tests/tidy.sh COMMIT     from COMMIT; uncommitted changes count, too
#   tests/tidy.sh -- FILE... these files
# Needs the packages of a build, compiles nothing, and leaves compile commands in build-tidy/. A changed header is
# checked with the changed sources that include it. $CLANG_TIDY names another clang-tidy.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
build=build-tidy

fail() {
  echo "tidy.sh: $*" >&2
  exit 2
}

tidy=${CLANG_TIDY:-$(command -v clang-tidy || command -v clang-tidy-14 || true)}
[ -n "$tidy" ] && command -v "$tidy" >/dev/null ||
  fail "clang-tidy is not installed; install the package clang-tidy, or name a program in CLANG_TIDY"

# The commit to compare with.
base() {
  local start head
  head=$(git rev-parse HEAD)
  for main in main origin/main; do
    start=$(git merge-base "$main" HEAD 2>/dev/null) || continue
    [ "$start" = "$head" ] || { echo "$start"; return; }
  done
  git rev-parse --verify -q HEAD~1 || fail "there is no commit before this one; name one"
}

case ${1:-} in
  -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 0 ;;
  --) shift; files=("$@") ;;
  *)
    [ $# -le 1 ] || fail "one commit at most, or files after --"
    from=${1:-$(base)}
    git rev-parse --verify -q "$from^{commit}" >/dev/null || fail "there is no commit $from"
    mapfile -t files < <({ git diff --name-only --diff-filter=d "$from" -- '*.cpp'
                           git ls-files --others --exclude-standard -- '*.cpp'; } | sort -u) ;;
esac

# clang-tidy needs each source by itself, without unity builds and precompiled headers.
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_UNITY_BUILD=OFF -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
  -DWARPCHAT_TESTS=ON -DWARPCHAT_ASSERTS=ON >$build.log 2>&1 || { tail -n 20 $build.log >&2; fail "cmake failed"; }
rm -f $build.log

# Sources without a target, such as those that must not compile, have no compile command.
known=()
for file in "${files[@]}"; do
  if grep -qF "\"file\": \"$root/$file\"" $build/compile_commands.json; then known+=("$file")
  else echo "tidy.sh: left out $file, which no target compiles here" >&2
  fi
done
[ ${#known[@]} != 0 ] || { echo "tidy.sh: no source to read"; exit 0; }
printf '%s\0' "${known[@]}" | xargs -0 -n 1 -P "$(nproc)" "$tidy" --quiet -p $build 2> >(grep -v 'warnings\? generated' >&2) ||
  { echo "tidy.sh: findings above"; exit 1; }
echo "tidy.sh: ${#known[@]} sources are clean"
