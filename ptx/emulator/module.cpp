// Loading a module: assigns addresses and values to variables, lowers functions, and collects every problem.
#include <algorithm>
#include <cstring>

#include "ptx/emulator/code.h"
#include "ptx/emulator/function_loader.h"
#include "ptx/emulator/link.h"
#include "ptx/emulator/memory.h"
#include "ptx/emulator/shared_layout.h"

namespace ptx::emulator {

LoadError load_error(std::string_view text, const std::vector<ParseProblem>& problems);

namespace {
constexpr uint64_t kFunctionAddresses = 0x7000'0000'0000ull;  // outside all memory
constexpr uint64_t kFunctionStep = 0x100;
}  // namespace

class Loader {
 public:
  // text: the source of the syntax's positions; empty for several texts, each of which was checked before, so that only
  // the whole can fail. A single link input may leave .extern names undefined, and never runs.
  Loader(Module& module, SyntaxModule syntax, std::string_view text, const Profile& profile, Memory& memory,
         InstructionSet set, bool is_link_input = false)
      : module_(module),
        text_(text),
        profile_(profile),
        memory_(memory),
        set_(set),
        is_link_input_(is_link_input),
        syntax_(std::move(syntax)) {}

  void run() {
    module_.version_ = syntax_.version;
    module_.target_ = syntax_.target;
    layout_.registry = &registry_for(set_);
    layout_.dialect = {syntax_.target, syntax_.version, syntax_.target_suffix};
    const bool is_elsewhere = syntax_.target_suffix != 0 && syntax_.target != profile_.target;  // sm_90a is no sm_100
    if (syntax_.target > profile_.target || is_elsewhere) {
      refuse_at(syntax_.target_at, "the text is for sm_" + std::to_string(syntax_.target) +
                                       (is_elsewhere ? " alone" : "") + ", the device is sm_" +
                                       std::to_string(profile_.target));
    }
    place_variables();
    declare_functions();
    if (problems_.empty()) initialise();
    for (const auto& f : syntax_.functions) {
      if (f->is_defined && problems_.size() < 20)
        FunctionLoader(*f, layout_, *layout_.functions.at(f.get())).load(problems_);
    }
    if (!problems_.empty()) throw load_error(text_, problems_);
    check_shared();
    for (const auto& code : module_.functions_)
      for (const SpecialColumn& column : code->specials)
        module_.used_specials_ |= 1ull << static_cast<uint32_t>(column.value);
  }

 private:
  void place_variables() {
    for (const auto& v : syntax_.variables) place_variable(*v);
    for (const auto& f : syntax_.functions) {
      for (const auto& v : f->variables) {
        if (v->space != Space::local && v->space != Space::param) place_variable(*v);
      }
    }
    if (!problems_.empty()) throw load_error(text_, problems_);
    const SharedLayout shared = lay_out_shared(syntax_);
    layout_.addresses.insert(shared.offsets.begin(), shared.offsets.end());
    for (const auto& [entry, bytes] : shared.bytes) {
      if (bytes > 1u << 20) refuse_at(entry->at, "shared memory of more than a megabyte");
      layout_.shared_bytes[entry] = static_cast<uint32_t>(bytes);
    }
    if (!problems_.empty()) throw load_error(text_, problems_);
  }

  void place_variable(const Variable& v) {
    if (v.space == Space::shared) {
      if (v.is_unsized) dynamic_align_ = std::max(dynamic_align_, v.align);
      if (v.size > 1u << 20) refuse_at(v.at, "shared memory of more than a megabyte");
      return;
    }
    if (v.is_extern) return place_extern(v);
    const uint64_t address = memory_.allocate(std::max<uint64_t>(1, v.size), v.name, v.space == Space::constant);
    if (address == 0)
      return refuse_at(v.at, "no room for variable " + v.name + " of " + std::to_string(v.size) + " bytes");
    std::memset(reinterpret_cast<void*>(address), 0, v.size);
    memory_.mark_initialised(address, std::max<uint64_t>(1, v.size));
    layout_.addresses[&v] = address;
    module_.allocations_.push_back(address);
    module_.globals_.push_back({v.name, address, v.size, v.space == Space::constant});
    names_[v.name] = &v;
  }

  void place_extern(const Variable& v) {
    if (!is_link_input_) return refuse_at(v.at, "extern variable " + v.name + " is never defined");
    layout_.addresses[&v] = 0;
    names_[v.name] = &v;
  }

  void declare_functions() {
    for (const auto& f : syntax_.functions) {
      const bool is_elsewhere = is_link_input_ && builtin_named(f->name) == nullptr;
      if (!f->is_defined && !is_elsewhere) continue;
      auto code = std::make_unique<Code>();
      code->name = f->name;
      code->is_entry = f->is_entry;
      code->max_threads = f->max_threads;
      code->min_blocks = f->min_blocks;
      code->dynamic_align = dynamic_align_;
      std::copy(std::begin(f->required_threads), std::end(f->required_threads), code->required_threads);
      code->address = kFunctionAddresses + kFunctionStep * module_.functions_.size();
      layout_.functions[f.get()] = code.get();
      module_.functions_.push_back(std::move(code));
    }
  }

  void initialise() {
    for (const auto& [v, address] : layout_.addresses) {
      for (const Initialiser& value : v->initialisers) {
        const uint64_t bits =
            value.symbol.empty() ? value.bits : masked(symbol_address(value) + value.bits, value.mask);
        std::memcpy(reinterpret_cast<uint8_t*>(address) + value.offset, &bits, std::min(8u, value.size));
      }
    }
  }

  static uint64_t masked(uint64_t bits, uint64_t mask) {
    if (mask == ~0ull || mask == 0) return bits;
    while (!(mask & 1)) mask >>= 1, bits >>= 1;
    return bits & mask;
  }

  uint64_t symbol_address(const Initialiser& value) {
    for (const auto& [f, code] : layout_.functions) {
      if (f->name == value.symbol) return code->address;
    }
    const auto found = names_.find(value.symbol);
    if (found != names_.end()) return layout_.addresses.at(found->second);
    refuse_at(value.at, "the address of " + value.symbol + " is no constant");
    return 0;
  }

  void refuse_at(Position at, std::string message) { problems_.push_back({at, std::move(message)}); }

  void check_shared() {
    for (const auto& code : module_.functions_) {
      if (code->shared_bytes > profile_.shared_bytes_per_block && code->is_entry) {
        throw load_error(text_, {{code->positions.empty() ? Position{1, 1} : code->positions[0],
                                  "kernel " + code->name + " uses " + std::to_string(code->shared_bytes) +
                                      " bytes of static shared memory, " +
                                      std::to_string(profile_.shared_bytes_per_block) + " is the most"}});
      }
    }
  }

  Module& module_;
  std::string_view text_;
  const Profile& profile_;
  Memory& memory_;
  InstructionSet set_;
  bool is_link_input_;
  SyntaxModule syntax_;
  ModuleLayout layout_;
  uint32_t dynamic_align_ = 16;
  std::unordered_map<std::string, const Variable*> names_;
  std::vector<ParseProblem> problems_;
};

// If a delegating constructor throws after its delegate finished, the destructor runs.
Module::Module(std::string_view text, const Profile& profile, Memory& memory, InstructionSet set) : Module(memory) {
  Loader(*this, parse(text), text, profile, memory, set).run();
}

Module::Module(const std::vector<LinkInput>& inputs, const Profile& profile, Memory& memory, InstructionSet set)
    : Module(memory) {
  std::vector<SyntaxModule> parts;
  for (const LinkInput& input : inputs) parts.push_back(parse(input.text));
  if (inputs.size() == 1)
    Loader(*this, std::move(parts[0]), inputs[0].text, profile, memory, set).run();
  else
    Loader(*this, link(std::move(parts), inputs), {}, profile, memory, set).run();
}

void Module::check_input(std::string_view text, const Profile& profile, Memory& memory) {
  Module module(memory);
  Loader(module, parse(text), text, profile, memory, best_instruction_set(), true).run();
}

Module::~Module() {
  for (uint64_t address : allocations_) memory_.free(address);
}

const Code* Module::find_function(std::string_view name) const {
  for (const auto& f : functions_) {
    if (f->is_entry && f->name == name) return f.get();
  }
  return nullptr;
}

const GlobalVariable* Module::find_global(std::string_view name) const {
  const auto found = std::ranges::find(globals_, name, &GlobalVariable::name);
  return found == globals_.end() ? nullptr : &*found;
}

const Code* Module::function_at(uint64_t address) const {
  const uint64_t index = (address - kFunctionAddresses) / kFunctionStep;
  if (address < kFunctionAddresses || (address - kFunctionAddresses) % kFunctionStep || index >= functions_.size())
    return nullptr;
  return functions_[index].get();
}

std::vector<const Code*> Module::entries() const {
  std::vector<const Code*> result;
  for (const auto& f : functions_) {
    if (f->is_entry) result.push_back(f.get());
  }
  return result;
}

}  // namespace ptx::emulator
