#!/bin/sh
# run_tests.sh on tests that hang, crash and lose the device.
#   run_tests_test.sh UNRULY_TESTS
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export WARPCHAT_TEST_DEVICE=emulator WARPCHAT_TEST_SECONDS=1

expect() { # what, expected exit code, run_tests.sh's arguments; standard input: the expected output
  what=$1 expected=$2
  shift 2
  cat > "$folder/expected"
  code=0
  "$here/run_tests.sh" "$@" > "$folder/found" 2> "$folder/errors" || code=$?
  if [ "$code" != "$expected" ] || ! diff "$folder/expected" "$folder/found"; then
    echo "run_tests_test.sh: $what: exit code $code, expected $expected"
    cat "$folder/errors" "$folder"/logs/*.log
    exit 1
  fi
}

expect "it goes on behind whatever happens" 1 "$1" 1 60 "$folder/logs" <<'END'
3 passed, 1 skipped, 1 failed, 1 hung, 1 lost the device, 1 did not end
did not end: Unruly.F_Crashes
failed: Unruly.G_Fails
hung: Unruly.B_Hangs
lost the device: Unruly.D_LosesTheDevice
END
expect "several processes" 0 "$1" 3 60 "$folder/logs" '*.A_*:*.C_*:*.E_*:*.H_*' <<'END'
3 passed, 1 skipped
END
export WARPCHAT_TEST_SECONDS=100
expect "what the time does not suffice for is told" 1 "$1" 1 3 "$folder/logs" '*.A_*:*.B_*:*.C_*' <<'END'
1 passed, 1 did not end, 1 not run
did not end: Unruly.B_Hangs
not run: Unruly.C_PassesBehindAHang
END
tail -n 1 "$folder/logs/0.log" | grep -q 'RUN.*B_Hangs' || {
  echo "run_tests_test.sh: the log does not end with the test that hung"
  exit 1
}
expect "no time at all" 1 "$1" 1 0 "$folder/logs" '*.A_*:*.C_*' <<'END'
0 passed, 2 not run
not run: Unruly.A_Passes
not run: Unruly.C_PassesBehindAHang
END
