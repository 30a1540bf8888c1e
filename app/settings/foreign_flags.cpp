// One table, a row per flag (or value of one): the flags of present and earlier versions of llama.cpp, and of
// `ollama run`.
#include "app/settings/foreign_flags.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>

#include "app/platform/program_name.h"
#include "app/platform/usage_error.h"
#include "app/settings/arguments.h"

namespace warpchat {

namespace {

enum class Takes { kNothing, kValue, kPerhaps };  // kPerhaps: a value only if it is one of the row's

struct ForeignFlag {
  std::string_view names;  // separated by blanks
  Takes takes;
  std::string_view values;   // for which the row is; empty: for any. Of a flag that is this program's, too, for these
  std::string_view own;      // what stands here for it: this program's flags, {} for the value; empty: nothing
  std::string_view instead;  // why it is not taken, and what to use ({chat}: the program's name); empty: it is
};

constexpr std::string_view kOneGpu = "a model runs on one GPU or on the CPU; choose with --device cuda:N or cpu";
constexpr std::string_view kSamplers =
    "this sampler is not supported; use --temp, --top-k, --top-p, --min-p and the penalties";
constexpr std::string_view kMapped = "model files are always mapped into memory and never locked there; leave it out";
constexpr std::string_view kPlacement =
    "the operating system places threads; use 'taskset -c 0-7 {chat} ...' or numactl";
constexpr std::string_view kTurns = "the model's chat template separates the turns; --raw completes a text without one";
constexpr std::string_view kRope = "position scaling comes from the model file; leave it out";
constexpr std::string_view kFull = "a full context ends the answer; -c N sets a larger one";
constexpr std::string_view kNoServer = "Warpchat is no server; --endpoint URL talks to one such as llama-server";
constexpr std::string_view kTextAlone = "images and sound are not supported; leave it out";
constexpr std::string_view kStored = "conversations are stored automatically; --resume continues one";
constexpr std::string_view kOneModel = "answers come from one model without adapters or draft models; leave it out";

constexpr ForeignFlag kForeignFlags[] = {
    {"-hf -hfr --hf-repo", Takes::kValue, "", "--model {}", ""},
    {"-hff --hf-file", Takes::kValue, "", "", "name the quantisation after the repository: -m org/repo:Q4_K_M"},
    {"-hft --hf-token", Takes::kValue, "", "", "set the environment variable HF_TOKEN to the token"},
    {"-mu --model-url", Takes::kValue, "", "", "name a repository of the hub, -m org/repo:QUANT, or a file"},
    {"-cl --cache-list", Takes::kNothing, "", "--list-models", ""},
    {"-ngl --gpu-layers --n-gpu-layers", Takes::kValue, "0", "--device cpu", ""},
    {"-ngl --gpu-layers --n-gpu-layers", Takes::kValue, "all auto -1", "", ""},
    {"-ngl --gpu-layers --n-gpu-layers", Takes::kValue, "", "--layers-on-gpu {}", ""},
    {"-mg --main-gpu", Takes::kValue, "", "--device cuda:{}", ""},
    {"-sm --split-mode", Takes::kValue, "none", "", ""},
    {"-sm --split-mode -ts --tensor-split -ot --override-tensor -ncmoe --n-cpu-moe -ncffn --n-cpu-ffn", Takes::kValue,
     "", "", kOneGpu},
    {"-cmoe --cpu-moe -cffn --cpu-ffn -nkvo --no-kv-offload", Takes::kNothing, "", "", kOneGpu},
    {"--fit", Takes::kValue, "on", "", ""},
    {"--fit --fit-ctx --fit-target", Takes::kValue, "", "",
     "without -c, the context is the longest that the memory holds; -c N sets it"},
    {"--cache-ram", Takes::kValue, "-1", "", "the KV cache has a size; --cache-ram 8192 gives it 8 GiB"},
    {"--ctx-checkpoints --swa-checkpoints --cache-reuse", Takes::kValue, "", "",
     "what was computed before is reused wherever that changes nothing; leave it out"},
    {"--swa-full", Takes::kNothing, "", "", "the cache always holds the whole context; leave it out"},
    {"--lazy-mode --load-mode", Takes::kValue, "", "", kMapped},
    {"--temperature", Takes::kValue, "", "--temp {}", ""},
    {"--top-k", Takes::kValue, "-1", "--top-k 0", ""},
    {"--repeat-last-n", Takes::kValue, "-1", "--repeat-last-n 2147483647", ""},
    {"-kvo --kv-offload", Takes::kNothing, "", "", ""},
    {"-fa --flash-attn", Takes::kPerhaps, "on auto 1 true enabled", "", ""},
    {"-fa --flash-attn", Takes::kPerhaps, "off 0 false disabled", "",
     "attention never stores its scores here; leave it out"},
    {"-fa --flash-attn", Takes::kNothing, "", "", ""},
    {"--mmap", Takes::kNothing, "", "", ""},
    {"--no-mmap --mlock", Takes::kNothing, "", "", kMapped},
    {"-tb --threads-batch", Takes::kValue, "", "", "prompts and answers use the same threads; -t N sets how many"},
    {"-C --cpu-mask -Cr --cpu-range --cpu-strict --prio --poll --numa", Takes::kValue, "", "", kPlacement},
    {"--warmup --no-warmup --no-perf --no-display-prompt --jinja -st --single-turn --no-escape --no-context-shift",
     Takes::kNothing, "", "", ""},
    {"--no-jinja", Takes::kNothing, "", "", "chat templates are always Jinja; --chat-template-file reads another one"},
    {"-cnv --conversation -i --interactive -if --interactive-first", Takes::kNothing, "", "--converse", ""},
    {"-no-cnv --no-conversation", Takes::kNothing, "", "--raw", ""},
    {"-co --color", Takes::kPerhaps, "on auto", "", ""},
    {"-co --color", Takes::kPerhaps, "off", "", "set NO_COLOR=1 to turn colours off"},
    {"-co --color", Takes::kNothing, "", "", ""},
    {"-mli --multiline-input", Takes::kNothing, "", "", "Alt-Enter or \"\"\" makes a message of several lines"},
    {"--simple-io", Takes::kNothing, "", "", "use --plain, or set TERM=dumb"},
    {"-sysf --system-prompt-file", Takes::kValue, "", "", "-sys \"$(cat FILE)\" reads it from a file"},
    {"-bf --binary-file", Takes::kValue, "", "", "binary files cannot be read; -f FILE reads text"},
    {"-r --reverse-prompt --in-prefix --in-suffix", Takes::kValue, "", "", kTurns},
    {"--in-prefix-bos", Takes::kNothing, "", "", kTurns},
    {"-sp --special", Takes::kNothing, "", "",
     "control tokens are never printed; {chat} tokenize shows those of a text"},
    {"--verbose-prompt", Takes::kNothing, "", "", "{chat} template prints the prompt, {chat} tokenize its tokens"},
    {"-v --log-verbose", Takes::kNothing, "", "", "--verbose shows timings, --log-file FILE writes a log"},
    {"-lv --verbosity --log-verbosity", Takes::kValue, "", "", "--verbose shows timings, --log-file FILE writes a log"},
    {"--log-disable", Takes::kNothing, "", "", ""},
    {"--perf --show-timings", Takes::kNothing, "", "--verbose", ""},
    {"--no-show-timings", Takes::kNothing, "", "", ""},
    {"--context-shift --ctx-shift", Takes::kNothing, "", "", kFull},
    {"--keep", Takes::kValue, "", "", kFull},
    {"--typical --typical-p --mirostat --mirostat-lr --mirostat-ent --dynatemp-range --dynatemp-exp --xtc-probability "
     "--xtc-threshold --dry-multiplier --dry-base --dry-allowed-length --dry-penalty-last-n --dry-sequence-breaker "
     "--top-nsigma --top-n-sigma --samplers --sampling-seq --sampler-seq -l --logit-bias",
     Takes::kValue, "", "", kSamplers},
    {"--ignore-eos", Takes::kNothing, "", "", "an answer ends where the model ends it; -n N limits its length"},
    {"--rope-scaling --rope-scale --rope-freq-base --rope-freq-scale --yarn-orig-ctx --yarn-ext-factor "
     "--yarn-attn-factor --yarn-beta-slow --yarn-beta-fast",
     Takes::kValue, "", "", kRope},
    {"--lora --lora-scaled --control-vector --control-vector-scaled -md --model-draft -hfd -hfrd "
     "--hf-repo-draft --draft --draft-max --draft-min -ngld --spec-type --spec-default --mtp --dflash",
     Takes::kValue, "", "", kOneModel},
    {"-mm --mmproj -mmu --mmproj-url --mmproj-auto --image --audio", Takes::kValue, "", "", kTextAlone},
    {"--no-mmproj --no-mmproj-auto", Takes::kNothing, "", "", ""},
    {"--override-kv", Takes::kValue, "", "", "a model's metadata cannot be overridden; {chat} inspect lists it"},
    {"--prompt-cache", Takes::kValue, "", "", kStored},
    {"--prompt-cache-all --prompt-cache-ro", Takes::kNothing, "", "", kStored},
    {"--reasoning-budget", Takes::kValue, "0", "--no-think", ""},
    {"--reasoning-budget", Takes::kValue, "-1", "", ""},
    {"--reasoning-budget", Takes::kValue, "", "",
     "reasoning has no limit of its own; --no-think turns it off, -n N limits the whole answer"},
    {"-rea --reasoning", Takes::kValue, "on", "--think", ""},
    {"-rea --reasoning", Takes::kValue, "off", "--no-think", ""},
    {"-rea --reasoning", Takes::kValue, "auto", "", ""},
    {"--reasoning-effort", Takes::kValue, "", "",
     "--think and --no-think turn reasoning on and off; --chat-template-kwargs sets what else a template knows"},
    {"--reasoning-preserve --no-reasoning-preserve", Takes::kNothing, "", "",
     "the model's chat template says which earlier reasoning is read again; leave it out"},
    {"--reasoning-format", Takes::kValue, "", "", "reasoning is always separate; --hide-thinking hides it"},
    {"--host --port --api-key --api-key-file -a --alias --metrics --slots --props", Takes::kValue, "", "", kNoServer},
    {"--think=true", Takes::kNothing, "", "--think", ""},
    {"--think=false", Takes::kNothing, "", "--no-think", ""},
    {"--hidethinking", Takes::kNothing, "", "--hide-thinking", ""},
    {"--nowordwrap", Takes::kNothing, "", "--no-wordwrap", ""},
    {"--format", Takes::kValue, "json", "--json-schema {\"type\":\"object\"}", ""},
    {"--format", Takes::kValue, "", "", "-j SCHEMA holds answers to a JSON Schema; --format json means any object"},
    {"--keepalive", Takes::kValue, "", "", "a model stays loaded as long as the program runs; leave it out"},
    {"--insecure", Takes::kNothing, "", "", "certificates are always checked; leave it out"},
};

bool has_word(std::string_view words, std::string_view word) {
  for (size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return !word.empty();
  }
  return false;
}

struct Given {
  std::string name;
  std::optional<std::string> value;  // behind an equals sign, or the argument after it
  bool joined = false;               // behind an equals sign
};

bool fits(const ForeignFlag& flag, const Given& given) {
  if (!has_word(flag.names, given.name)) return false;
  if (flag.takes == Takes::kNothing) return !given.joined;
  if (flag.takes == Takes::kPerhaps && !given.value) return false;
  return flag.values.empty() || has_word(flag.values, given.value.value_or(""));
}

const ForeignFlag* find_flag(const Given& given) {
  const auto* found = std::ranges::find_if(kForeignFlags, [&](const ForeignFlag& flag) { return fits(flag, given); });
  return found == std::end(kForeignFlags) ? nullptr : found;
}

void add_own(std::vector<std::string>& arguments, std::string_view own, const std::string& value) {
  std::istringstream words{std::string(own)};
  for (std::string word; words >> word;) {
    if (const size_t at = word.find("{}"); at != std::string::npos) word.replace(at, 2, value);
    arguments.push_back(word);
  }
}

std::string first_word(std::string_view words) { return std::string(words.substr(0, words.find(' '))); }

Given read_given(const std::vector<std::string>& arguments, size_t at) {
  const std::string& argument = arguments[at];
  if (const size_t equals = argument.find('='); equals != std::string::npos && !find_flag({argument, {}}))
    return {argument.substr(0, equals), argument.substr(equals + 1), /*joined=*/true};
  if (at + 1 == arguments.size()) return {argument, std::nullopt};
  return {argument, arguments[at + 1]};
}

}  // namespace

std::vector<std::string> translate_foreign_flags(const std::vector<std::string>& arguments,
                                                 const std::function<bool(const std::string&)>& is_own) {
  std::vector<std::string> translated;
  for (size_t at = 0; at < arguments.size(); ++at) {
    if (arguments[at] == "--") {
      translated.insert(translated.end(), arguments.begin() + static_cast<std::ptrdiff_t>(at), arguments.end());
      break;
    }
    const Given given = read_given(arguments, at);
    const ForeignFlag* flag = find_flag(given);
    if (flag != nullptr && flag->values.empty() && is_own(given.name)) flag = nullptr;
    const bool is_of_others = flag != nullptr && !flag->own.empty() && !is_own(first_word(flag->own));
    if (flag == nullptr || is_of_others) {
      translated.push_back(arguments[at]);
      if (takes_text(arguments[at]) && at + 1 < arguments.size()) translated.push_back(arguments[++at]);
      continue;
    }
    if (!flag->instead.empty()) throw UsageError(given.name + ": " + with_program_name(flag->instead));
    if (flag->takes == Takes::kValue && !given.value) throw UsageError(given.name + " needs a value after it");
    add_own(translated, flag->own, given.value.value_or(""));
    if (flag->takes != Takes::kNothing && !given.joined) ++at;
  }
  return translated;
}

}  // namespace warpchat
