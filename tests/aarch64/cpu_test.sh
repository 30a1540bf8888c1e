#!/usr/bin/env bash
# CPU backend tests on an emulated processor: cpu_test.sh PROGRAM REPORT CPU LEVELS. LEVELS: its instruction sets, best
# first. Runs the tests of the best one that take seconds; with WARPCHAT_FULL_TESTS all of its tests, in minutes.
set -euo pipefail
program=$1 report=$2 cpu=$3 level=${4%% *}
tests=Levels.*:ProductInputs.*:Packing.*:HalvesInTheCache.*:AttentionScores.*
if [ -n "${WARPCHAT_FULL_TESTS:-}" ]; then
  tests+=":*/${level}_*:CpuExperts.*:CpuRuns.*EveryInstructionSet" without=
else
  tests+=":*Heads.*/${level}_*:*Attention.*/${level}_*:*Products.*/${level}_*:*CpuDecoder.*/${level}_delta_nets_of*"
  without='*_prefill_of_several_stretches:*_several_tiles_of_every_kind:*_more_columns_than_at_once:*_several_stretches'
  without+=':*_IQ2_*:*_IQ3_S_*:*_IQ?_*_one_column:*_IQ?_*_last_tile'  # their random weights are the slowest to make
  case $level in
    neon_i8mm) tests+=':CpuExperts.*' ;;
    portable) without+=':*_Q?_1_*:*_Q5_*:*_Q3_K_*:*_IQ*' ;;  # the same code as on x86-64, except for vectors
  esac
fi
EXPECTED_LEVELS=$4 exec qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu "$cpu" "$program" --gtest_brief=1 \
  --gtest_filter="$tests-$without" --gtest_output=xml:"$report"
