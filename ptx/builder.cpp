#include "ptx/builder.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "ptx/copies.h"
#include "ptx/layout.h"
#include "ptx/verifier.h"

namespace ptx {
namespace {

bool is_identifier(const std::string& name) {
  const auto follows = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '$'; };
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), follows);
}

bool is_power_of_two(int n) { return n > 0 && (n & (n - 1)) == 0; }

// Type of address registers in a space.
Type address_type(Space space) { return space == Space::kShared ? Type::kU32 : Type::kU64; }

Operand symbol_operand(int symbol, int64_t offset) {
  return {.kind = Operand::Kind::kSymbol, .symbol = symbol, .offset = offset};
}

std::vector<Parameter> parameters_of(const Body& body) {
  std::vector<Parameter> all;
  const ParameterLayout layout = lay_out_parameters(body);
  for (const Symbol& symbol : body.symbols) {
    if (symbol.space != Space::kParam) continue;
    all.push_back({symbol.name, symbol.element, symbol.pointer, symbol.count, layout.offsets[all.size()]});
  }
  return all;
}

}  // namespace

Builder::Builder(std::string name, Target target, Where at)
    : BodyOwner(std::move(name), target),
      AsyncCopies(kernel_),
      Warps(kernel_),
      Tensors(kernel_),
      Control(kernel_),
      Specials(kernel_) {
  limits(target);  // throws for unknown targets
  if (!is_identifier(kernel_.name)) {
    fail(kernel_, at, "a kernel's name needs letters, digits and underscores, and a letter first");
  }
}

int Builder::declare(Symbol symbol, Where at) {
  if (!is_identifier(symbol.name)) {
    fail(kernel_, at,
         "\"" + symbol.name + "\" names nothing; expected letters, digits and underscores, a letter first");
  }
  if (!is_power_of_two(static_cast<int>(symbol.alignment))) {
    fail(kernel_, at, symbol.name + " is aligned to " + std::to_string(symbol.alignment) + "; expected a power of two");
  }
  for (const Symbol& other : kernel_.symbols) {
    if (other.name == symbol.name) fail(kernel_, at, "the name " + symbol.name + " is declared twice");
  }
  kernel_.symbols.push_back(std::move(symbol));
  return static_cast<int>(kernel_.symbols.size()) - 1;
}

Operand Builder::buffer(const std::string& name, Type element, uint64_t elements, int alignment, Where at) {
  const int symbol = declare({.space = Space::kParam,
                              .name = name,
                              .element = element,
                              .count = elements,
                              .alignment = static_cast<uint32_t>(alignment),
                              .pointer = true},
                             at);
  const Operand from{.kind = Operand::Kind::kAddress, .symbol = symbol};
  const Operand generic = in_prologue(kernel_, "ld.param.u64", Type::kU64, {from}, name + "_generic", at);
  return in_prologue(kernel_, "cvta.to.global.u64", Type::kU64, {generic}, name, at);
}

Operand Builder::scalar(const std::string& name, Type type, Where at) {
  const int symbol = declare({.space = Space::kParam,
                              .name = name,
                              .element = type,
                              .count = 1,
                              .alignment = static_cast<uint32_t>(bytes_of(type))},
                             at);
  const Operand from{.kind = Operand::Kind::kAddress, .symbol = symbol};
  return in_prologue(kernel_, "ld.param." + std::string(info(type).plain), type, {from}, name, at);
}

Operand Builder::argument_register(const std::string& name, Type type, Sharing sharing, int alignment, Where at) {
  if (!is_power_of_two(alignment)) fail(kernel_, at, "the alignment of argument " + name + " is no power of two");
  const Operand result = new_register(kernel_, type, name, at);
  kernel_.arguments.push_back({result.index, sharing, static_cast<uint32_t>(alignment)});
  return result;
}

void Builder::shared_argument(const std::string& name, Where at) {
  if (kernel_.shared_memory.kind != Operand::Kind::kNone)
    fail(kernel_, at, name + " would be the second address of shared memory");
  kernel_.shared_memory = argument_register(name, Type::kU32, Sharing::kWarp, kSharedAlignment, at);
  kernel_.turn_bytes = 0;
}

void Builder::call(const FunctionPointer& function, const std::vector<CallOperand>& arguments, Where at) {
  if (!kernel_.arguments.empty()) fail(kernel_, at, "a function cannot call " + function->name + ": only kernels call");
  if (kernel_.guard.kind != Operand::Kind::kNone) fail(kernel_, at, "a call inside predicated(); use if_ around it");
  if (std::find(kernel_.functions.begin(), kernel_.functions.end(), function) == kernel_.functions.end())
    kernel_.functions.push_back(function);
  Instruction instruction{.kind = Instruction::Kind::kCall, .spelling = function->name, .at = at};
  for (const CallOperand& argument : arguments) instruction.operands.push_back(argument.operand);
  append(kernel_, std::move(instruction));
}

// Emitted in place, not in the prologue: no other turn needs the address.
Operand Builder::array_in_turn(const std::string& name, Type element, uint64_t elements, int alignment, Where at) {
  const uint32_t aligned = static_cast<uint32_t>(std::max(alignment, bytes_of(element)));
  if (kernel_.shared_memory.kind != Operand::Kind::kNone) {
    if (aligned > kSharedAlignment)
      fail(kernel_, at, name + " needs more than a function's shared memory is aligned to");
    const uint64_t offset = round_up(*kernel_.turn_bytes, aligned);
    kernel_.turn_bytes = offset + elements * bytes_of(element);
    kernel_.shared_bytes = std::max(kernel_.shared_bytes, *kernel_.turn_bytes);
    return emit(kernel_, "add.u32", Type::kU32, {kernel_.shared_memory, immediate_operand(offset, Type::kU32)}, at,
                name);
  }
  if (kernel_.turns_symbol < 0)
    kernel_.turns_symbol = declare({.space = Space::kShared,
                                    .name = "shared_in_turn",
                                    .element = Type::kU8,
                                    .count = 0,
                                    .alignment = 16,
                                    .dynamic = kernel_.has_dynamic_turns},
                                   at);
  Symbol& region = kernel_.symbols[kernel_.turns_symbol];
  const uint64_t offset = round_up(*kernel_.turn_bytes, aligned);
  kernel_.turn_bytes = offset + elements * bytes_of(element);
  region.count = std::max(region.count, *kernel_.turn_bytes);
  region.alignment = std::max(region.alignment, aligned);
  return emit(kernel_, "mov.u32", Type::kU32, {symbol_operand(kernel_.turns_symbol, static_cast<int64_t>(offset))}, at,
              name);
}

Operand Builder::array(Space space, const std::string& name, Type element, uint64_t elements, int alignment, Where at) {
  if (space == Space::kShared && kernel_.turn_bytes) return array_in_turn(name, element, elements, alignment, at);
  const int symbol = declare({.space = space,
                              .name = name,
                              .element = element,
                              .count = elements,
                              .alignment = static_cast<uint32_t>(std::max(alignment, bytes_of(element)))},
                             at);
  const Type type = address_type(space);
  return in_prologue(kernel_, "mov." + std::string(info(type).name), type, {symbol_operand(symbol, 0)}, name, at);
}

Operand Builder::dynamic_array(const std::string& name, Type element, uint64_t elements, int alignment, Where at) {
  const uint32_t aligned = static_cast<uint32_t>(std::max(alignment, bytes_of(element)));
  const uint64_t offset = round_up(lay_out_shared(kernel_).dynamic, aligned);
  const int symbol = declare({.space = Space::kShared,
                              .name = name,
                              .element = element,
                              .count = elements,
                              .alignment = aligned,
                              .dynamic = true,
                              .offset = offset},
                             at);
  return in_prologue(kernel_, "mov.u32", Type::kU32, {symbol_operand(symbol, static_cast<int64_t>(offset))}, name, at);
}

Operand Builder::constants(const std::string& name, Type element, const void* data, size_t bytes, Where at) {
  const uint8_t* first = static_cast<const uint8_t*>(data);
  const int symbol = declare({.space = Space::kConst,
                              .name = kernel_.name + "_" + name,
                              .element = element,
                              .count = bytes / bytes_of(element),
                              .alignment = 16,
                              .data = {first, first + bytes}},
                             at);
  return in_prologue(kernel_, "mov.u64", Type::kU64, {symbol_operand(symbol, 0)}, name, at);
}

std::vector<Mbarrier> Builder::mbarriers(const std::string& name, int n, Where at) {
  const Shared<b64> first = shared<b64>(name, static_cast<uint64_t>(n), 8, at);
  std::vector<Mbarrier> all;
  for (int i = 0; i < n; ++i) all.emplace_back(first + i);
  return all;
}

void Builder::raw(const std::string& line, std::initializer_list<RawOperand> operands, Where at) {
  Instruction instruction{.kind = Instruction::Kind::kRaw, .spelling = line, .at = at};
  for (const RawOperand& in : operands) instruction.operands.push_back(in.operand);
  append(kernel_, std::move(instruction));
}

Operand Builder::raw_value(const std::string& line, Type type, std::initializer_list<RawOperand> operands, Where at) {
  const Operand result = new_register(kernel_, type, "raw", at);
  Instruction instruction{
      .kind = Instruction::Kind::kRaw, .spelling = line, .operands = {result}, .n_results = 1, .at = at};
  for (const RawOperand& in : operands) instruction.operands.push_back(in.operand);
  append(kernel_, std::move(instruction));
  return result;
}

Kernel Builder::finish(Launch launch, Cost cost) {
  if (!kernel_.arguments.empty()) throw Error("ptx: " + kernel_.name + " has arguments, and so is no kernel");
  if (kernel_.max_threads == 0) kernel_.max_threads = static_cast<uint32_t>(launch.threads.total());
  if (kernel_.asks_warp && (launch.threads.y > 1 || launch.threads.z > 1)) {
    throw Error("ptx: " + kernel_.name + ": warp() counts warps of one-dimensional blocks, the launch has blocks of " +
                std::to_string(launch.threads.x) + " x " + std::to_string(launch.threads.y) + " x " +
                std::to_string(launch.threads.z) + " threads");
  }
  Written written = write();
  Kernel kernel{.name = kernel_.name,
                .text = "",
                .target = kernel_.target,
                .version = written.version,
                .parameters = parameters_of(kernel_),
                .parameter_bytes = lay_out_parameters(kernel_).bytes,
                .static_shared_bytes = static_cast<uint32_t>(lay_out_shared(kernel_).fixed),
                .dynamic_shared_bytes = static_cast<uint32_t>(lay_out_shared(kernel_).dynamic),
                .launch = launch,
                .cost = cost,
                .notes = std::move(written.notes),
                .declarations = std::move(written.text.declarations),
                .entry = std::move(written.text.entry),
                .functions = kernel_.functions};
  kernel.text = module_text({&kernel, 1});
  return kernel;
}

FunctionPointer Builder::finish_function() {
  if (kernel_.arguments.empty()) throw Error("ptx: " + kernel_.name + " has no arguments, and so is no function");
  for (const Symbol& symbol : kernel_.symbols) {
    if (symbol.space == Space::kParam || symbol.space == Space::kShared)
      throw Error("ptx: function " + kernel_.name + " declares " + symbol.name +
                  "; parameters and shared memory are its caller's");
  }
  const bool leaves = std::ranges::any_of(kernel_.code, [](const Instruction& i) {
    return i.kind == Instruction::Kind::kOperation && (i.spelling == "ret" || i.spelling == "exit");
  });
  if (leaves) throw Error("ptx: function " + kernel_.name + " returns before its end; let an inlined() part return");
  Written written = write();
  Function function{.name = kernel_.name,
                    .text = std::move(written.text.entry),
                    .target = kernel_.target,
                    .version = written.version,
                    .arguments = {},
                    .shared_bytes = static_cast<uint32_t>(kernel_.shared_bytes),
                    .together = needed_together(kernel_),
                    .notes = std::move(written.notes),
                    .declarations = std::move(written.text.declarations)};
  for (const ArgumentRegister& argument : kernel_.arguments) {
    const Register& r = kernel_.registers[argument.index];
    function.arguments.push_back({r.role, r.type, argument.sharing, argument.alignment});
  }
  return std::make_shared<const Function>(std::move(function));
}

Builder::Written Builder::write() {
  kernel_.code.insert(kernel_.code.begin(), kernel_.prologue.begin(), kernel_.prologue.end());
  kernel_.prologue.clear();
  fold_copies(kernel_);
  const auto names = name_registers(kernel_), labels = name_labels(kernel_);
  Written written{needed_version(kernel_), {}, {}};
  written.text = spell(kernel_, names, labels, written.version);
  const std::vector<Finding> findings = verify(kernel_, names, labels, written.text);
  if (!findings.empty()) throw Error(spell(kernel_, findings, written.text));
  for (size_t i = 0; i < kernel_.code.size(); ++i) {
    const Instruction& instruction = kernel_.code[i];
    if (instruction.kind != Instruction::Kind::kRaw) continue;
    written.notes.push_back(kernel_.name + " line " + std::to_string(written.text.lines[i]) + " (" +
                            spell(instruction.at) + "): a raw line, which nothing verifies");
  }
  return written;
}

std::string module_text(std::span<const Kernel> kernels) {
  if (kernels.empty()) throw Error("ptx: a module needs at least one kernel");
  Version version;
  std::set<std::string> names;
  std::map<std::string, std::string> functions;  // texts by name
  std::string declarations, texts, entries;
  for (const Kernel& kernel : kernels) {
    if (!names.insert(kernel.name).second) throw Error("ptx: the module has two kernels named " + kernel.name);
    if (kernel.target != kernels[0].target) {
      throw Error("ptx: " + kernel.name + " is built for " + spell(kernel.target) + ", the module for " +
                  spell(kernels[0].target));
    }
    version = std::max(version, kernel.version);
    for (const FunctionPointer& function : kernel.functions) {
      const auto [known, is_new] = functions.try_emplace(function->name, function->text);
      if (known->second != function->text || (is_new && !names.insert(function->name).second))
        throw Error("ptx: the module has two different functions or kernels named " + function->name);
      if (!is_new) continue;
      declarations += function->declarations;
      texts += function->text + "\n";
    }
    declarations += kernel.declarations;
    entries += (entries.empty() ? "" : "\n") + kernel.entry;
  }
  return spell_header(kernels[0].target, version) + declarations + texts + entries;
}

}  // namespace ptx
