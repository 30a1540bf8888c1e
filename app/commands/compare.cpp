// chat compare: two devices over the same text, step by step; where they first differ by more than a bound.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/commands/commands.h"
#include "app/model_choice/model_loading.h"
#include "app/platform/output.h"
#include "app/platform/spinner.h"
#include "app/platform/text_input.h"
#include "app/settings/model_flags.h"
#include "engine/compare.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view kDefaultText =
    "A program that computes the same numbers in two ways can be asked where they part. Each step takes the last one's "
    "vectors, and rounds; what is wrong shows first in the step that made it.";

void check(const CompareOptions& o) {
  if (o.devices.size() != 2)
    throw UsageError("compare takes exactly two devices, found " + grouped(o.devices.size()) +
                     "; name both, as in --device cpu --device cuda");
  for (const std::string& device : o.devices) require_known_device(device);
  if (o.launches.size() > 2)
    throw UsageError("use --launch once, or once for each of the two devices; found " + grouped(o.launches.size()) +
                     " times");
  if (o.prompt && o.prompt_file) throw UsageError("use -p or -f, not both");
}

double bound_of(const CompareOptions& o) {
  const bool is_in_q8 = o.cache_type_k == "q8_0" || o.cache_type_v == "q8_0";
  const bool is_by_logits = std::ranges::any_of(o.launches, [](const std::string& mode) { return mode != "stream"; });
  return o.bound.value_or(is_in_q8 && is_by_logits ? kDefaultBoundOfLogitsInQ8 : kDefaultBound);
}

std::string text_of(const CompareOptions& o) {
  const std::string source = o.prompt_file ? *o.prompt_file : "--prompt";
  const std::string text =
      o.prompt_file ? without_last_newline(read_file(*o.prompt_file)) : o.prompt.value_or(std::string(kDefaultText));
  require_text(text, source);
  return text;
}

std::vector<Token> tokens_of(const CompareOptions& o) {
  const GgufFile file = GgufFile::open(find_model_file(o.model));
  std::vector<Token> tokens = Tokenizer::from(file)->encode(text_of(o), /*parse_special=*/false, /*add_bos=*/true);
  if (tokens.empty()) throw UsageError("no text to compare on; use -p or -f");
  return tokens;
}

std::unique_ptr<Model> load_device(const CompareOptions& options, size_t i, uint32_t context) {
  ModelFlags flags = options;
  flags.device = options.devices[i];
  flags.no_device_check = true;  // this command is such a check itself
  flags.launch = options.launches.empty() ? "stream" : options.launches[std::min(i, options.launches.size() - 1)];
  return load_model(flags, context);
}

struct Comparison {
  std::string model;
  std::string devices[2];
  uint32_t n_tokens;
  double bound;
  std::vector<PassDifference> passes;
  bool is_within_bound() const { return !passes.back().first; }
  const ExpertChoice* choice(const PassDifference** pass) const {  // the first
    for (const PassDifference& p : passes)
      if (p.choice) return *pass = &p, &*p.choice;
    return nullptr;
  }
};

std::string number_text(double value, const char* format = "%.3g") {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string pass_name(const PassDifference& pass) {
  const std::string first = grouped(pass.position);
  return pass.n_tokens == 1 ? "token " + first : "prefill " + first + "-" + grouped(pass.position + pass.n_tokens - 1);
}

// "down_residual of layer 1"
std::string step_name(const Difference& d) {
  return std::string(d.step) + (d.layer ? " of layer " + std::to_string(*d.layer) : "");
}

std::string experts_text(const std::vector<uint32_t>& experts) {
  return word_list(experts, ", ", [](uint32_t expert) { return std::to_string(expert); });
}

std::string choice_text(const Comparison& c) {
  const PassDifference* pass = nullptr;
  const ExpertChoice* choice = c.choice(&pass);
  if (choice == nullptr) return "";
  return "Experts differ: the router of layer " + std::to_string(choice->layer) + " chose " +
         experts_text(choice->first) + " on the first device and " + experts_text(choice->second) +
         " on the second for position " + grouped(pass->position + choice->column) +
         ", though its scores agree within the bound. With scores this close either choice is right, so "
         "the outputs of these experts are not compared.\n";
}

std::string others_text(const PassDifference& pass) {
  return pass.n_beyond == 1 ? " Nothing else in this pass does."
                            : " So do " + counted(pass.n_beyond - 1, "other column") + " of steps in this pass.";
}

std::string verdict(const Comparison& c) {
  const PassDifference& pass = c.passes.back();
  const std::string bound = number_text(c.bound);
  if (!pass.first) return "The devices agree: no step differs by more than " + bound + " of its vector's norm.\n";
  const Difference& d = *pass.first;
  return "The devices differ first in " + pass_name(pass) + " at " + step_name(d) + ": column " +
         std::to_string(d.column) + " (position " + grouped(pass.position + d.column) + ") of " +
         std::string(d.vector) + " differs by " + number_text(d.relative) + " of its norm, more than " + bound +
         ", most in element " + std::to_string(d.element) + ": " + number_text(d.first, "%.7g") +
         " on the first device, " + number_text(d.second, "%.7g") + " on the second." + others_text(pass) + "\n";
}

std::string report(const Comparison& c) {
  std::string text = "first\t" + c.devices[0] + "\nsecond\t" + c.devices[1] + "\n\n";
  text += "pass\tsteps compared\tlargest difference / norm\twhere\n";
  bool is_by_logits = false;
  for (const PassDifference& pass : c.passes) {
    is_by_logits |= !pass.is_by_layers();
    text += pass_name(pass) + "\t" + std::to_string(pass.n_steps) + "\t" + number_text(pass.largest.relative) + "\t" +
            step_name(pass.largest) + ", " + std::string(pass.largest.vector) + "\n";
  }
  text += "\n";
  if (is_by_logits)
    text +=
        "With CUDA graphs and the persistent kernel only the logits are compared, in which the rounding of all layers "
        "adds up. --launch stream compares every step.\n";
  return text + choice_text(c) + verdict(c);
}

ordered_json json_of(const Difference& d, const PassDifference& pass) {
  return {{"step", d.step},
          {"layer", d.layer ? ordered_json(*d.layer) : ordered_json(nullptr)},
          {"vector", d.vector},
          {"column", d.column},
          {"position", pass.position + d.column},
          {"element", d.element},
          {"first", d.first},
          {"second", d.second},
          {"relative", d.relative}};
}

ordered_json json_of(const PassDifference& pass) {
  return {{"position", pass.position},
          {"tokens", pass.n_tokens},
          {"steps", pass.n_steps},
          {"beyond_bound", pass.n_beyond},
          {"largest", json_of(pass.largest, pass)}};
}

ordered_json choice_json(const Comparison& c) {
  const PassDifference* pass = nullptr;
  const ExpertChoice* choice = c.choice(&pass);
  if (choice == nullptr) return nullptr;
  return {{"layer", choice->layer},
          {"position", pass->position + choice->column},
          {"first", choice->first},
          {"second", choice->second}};
}

std::string as_json(const Comparison& c) {
  ordered_json passes = ordered_json::array();
  for (const PassDifference& pass : c.passes) passes.push_back(json_of(pass));
  const PassDifference& last = c.passes.back();
  const ordered_json all = {{"model", c.model},
                            {"devices", c.devices},
                            {"tokens", c.n_tokens},
                            {"bound", c.bound},
                            {"passes", passes},
                            {"other_experts", choice_json(c)},
                            {"first_difference", last.first ? json_of(*last.first, last) : ordered_json(nullptr)},
                            {"within_bound", c.is_within_bound()}};
  return all.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

int run_command(const CompareOptions& options) {
  check(options);
  const std::vector<Token> tokens = tokens_of(options);
  const auto n_tokens = static_cast<uint32_t>(tokens.size());
  const std::unique_ptr<Model> first = load_device(options, 0, n_tokens), second = load_device(options, 1, n_tokens);
  Comparison comparison{first->file.path(), {}, n_tokens, bound_of(options), {}};
  comparison.devices[0] = first->decoder->steps().description();
  comparison.devices[1] = second->decoder->steps().description();
  {
    Spinner spinner("comparing " + counted(n_tokens, "token"));
    const ComparisonPlan plan{tokens, std::min(options.n_decode, (n_tokens + 1) / 2), comparison.bound};
    comparison.passes = compare_devices(first->config, first->decoder->steps(), second->decoder->steps(), plan);
  }
  options.json ? write_json(as_json(comparison)) : write_text(report(comparison));
  return comparison.is_within_bound() ? 0 : 1;
}

}  // namespace warpchat
