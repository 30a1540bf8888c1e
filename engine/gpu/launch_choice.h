// Which way of launching decodes a token fastest on this machine, measured.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "engine/decoder.h"
#include "engine/gpu/gpu_steps.h"

namespace warpchat {

struct MeasuredLaunch {
  LaunchMode mode;
  double seconds;  // a token
};

// Decodes a few tokens in every mode at the start of the first sequence's cache, whose content is lost, and leaves the
// decoder in the fastest. steps: the decoder's.
LaunchMode choose_launch_mode(Decoder& decoder, GpuDecoderSteps& steps);

// "fastest: graph 1.20, stream 2.31 ms a token". measured: at least one.
std::string describe_choice(std::vector<MeasuredLaunch> measured);

}  // namespace warpchat
