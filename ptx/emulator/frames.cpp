// Activations: on entering a function, its lanes get columns with constants and special registers filled in.
#include <locale.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

#include "ptx/emulator/block.h"
#include "ptx/emulator/checks/launch_checks.h"

namespace ptx::emulator {
namespace {

constexpr uint32_t kMaxDepth = 4096;

uint64_t special_value(const WarpState& w, Special which, uint32_t lane, uint32_t local_base) {
  const BlockState& block = *w.block;
  const LaunchContext& launch = *block.launch;
  const Dim3 &threads = launch.request.block, &grid = launch.request.grid;
  const uint32_t linear = w.warp_index * kLanes + lane;
  switch (which) {
    case Special::tid_x:
      return linear % threads.x;
    case Special::tid_y:
      return linear / threads.x % threads.y;
    case Special::tid_z:
      return linear / threads.x / threads.y;
    case Special::ntid_x:
      return threads.x;
    case Special::ntid_y:
      return threads.y;
    case Special::ntid_z:
      return threads.z;
    case Special::ctaid_x:
      return block.index[0];
    case Special::ctaid_y:
      return block.index[1];
    case Special::ctaid_z:
      return block.index[2];
    case Special::nctaid_x:
      return grid.x;
    case Special::nctaid_y:
      return grid.y;
    case Special::nctaid_z:
      return grid.z;
    case Special::laneid:
      return lane;
    case Special::warpid:
      return w.warp_index;
    case Special::nwarpid:
      return launch.profile.max_threads_per_sm / kLanes;
    case Special::smid:
      return block.linear % launch.profile.sm_count;
    case Special::nsmid:
      return launch.profile.sm_count;
    case Special::gridid:
      return launch.grid_id;
    case Special::lanemask_eq:
      return 1ull << lane;
    case Special::lanemask_le:
      return (2ull << lane) - 1;
    case Special::lanemask_lt:
      return (1ull << lane) - 1;
    case Special::lanemask_ge:
      return 0xffffffffull << lane & 0xffffffffull;
    case Special::lanemask_gt:
      return 0xfffffffeull << lane & 0xffffffffull;
    case Special::dynamic_smem_size:
      return launch.request.dynamic_shared_bytes;
    case Special::total_smem_size:
    case Special::reserved_smem_begin:
      return launch.reserved_base;
    case Special::aggr_smem_size:
    case Special::reserved_smem_end:
      return launch.shared_total;
    case Special::reserved_smem_bytes:
      return launch.shared_total - launch.reserved_base;
    case Special::grid_workspace_low:
      return launch.grid_workspace & 0xffffffffu;
    case Special::grid_workspace_high:
      return launch.grid_workspace >> 32;
    case Special::one:
      return 1;
    case Special::local_base:
      return local_base;
    case Special::extern_shared:
      return launch.dynamic_base;
    default:
      return 0;
  }
}

bool differs_by_lane(Special which) {
  switch (which) {
    case Special::tid_x:
    case Special::tid_y:
    case Special::tid_z:
    case Special::laneid:
    case Special::lanemask_eq:
    case Special::lanemask_le:
    case Special::lanemask_lt:
    case Special::lanemask_ge:
    case Special::lanemask_gt:
      return true;
    default:
      return false;
  }
}

void fill_special(const WarpState& w, Frame& frame, const SpecialColumn& column) {
  uint8_t* at = frame.registers.get() + column.offset;
  if (column.bytes == 0) {
    std::memset(at, 0, 4);
    return;
  }
  uint64_t value = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (l == 0 || differs_by_lane(column.value))
      value = special_value(w, column.value, l, frame.local_base) + column.addend;
    std::memcpy(at + l * column.bytes, &value, column.bytes);
  }
}

void forget_definedness(Frame& frame, uint32_t lanes) {
  uint32_t* words = reinterpret_cast<uint32_t*>(frame.registers.get() + frame.code->defined_offset);
  for (uint32_t k = 0; k < frame.code->defined_bytes / sizeof *words; ++k) words[k] &= ~lanes;
}

// Local memory grows with call depth; each lane's 16-byte pieces keep their place.
bool reserve_local(WarpState& w, uint32_t bytes) {
  if (bytes <= w.local_bytes) return true;
  if (bytes > w.block->launch->profile.local_bytes_limit) return false;
  const uint32_t rounded = std::max(bytes, w.local_bytes * 2);
  w.local_memory.resize(size_t{rounded + 15} / 16 * 16 * kLanes);
  w.local = w.local_memory.data();
  w.local_bytes = rounded;
  return true;
}

template <uint32_t n>
void copy_piece(WarpState& w, uint32_t lanes, uint32_t from, uint32_t to) {
  for (uint32_t l = 0; l < kLanes; ++l)
    if (lanes >> l & 1) std::memcpy(local_at(w, l, to), local_at(w, l, from), n);
}

// n bytes per lane; usually numbers, which are within one piece of local memory.
void copy_local(WarpState& w, uint32_t lanes, uint32_t from, uint32_t to, uint32_t n) {
  for (; n >= 8 && from % 8 == 0 && to % 8 == 0; from += 8, to += 8, n -= 8) copy_piece<8>(w, lanes, from, to);
  for (; n >= 4 && from % 4 == 0 && to % 4 == 0; from += 4, to += 4, n -= 4) copy_piece<4>(w, lanes, from, to);
  for (; n > 0; ++from, ++to, --n) copy_piece<1>(w, lanes, from, to);
}

// The activation of lanes of the same caller that made the same call earlier.
Frame* find_activation(WarpState& w, const Code& code, const Frame* parent, const CallSite* site) {
  const auto found = std::ranges::find_if(
      w.frames, [&](const auto& f) { return f->code == &code && f->parent == parent && f->site == site; });
  return found == w.frames.end() ? nullptr : found->get();
}

void copy_arguments(WarpState& w, const Frame& frame, uint32_t lanes) {
  for (size_t a = 0; frame.site && a < frame.site->arguments.size(); ++a) {
    const Parameter& from = frame.site->arguments[a];
    copy_local(w, lanes, frame.parent->local_base + from.offset, frame.local_base + frame.code->parameters[a].offset,
               from.bytes);
  }
}

}  // namespace

// Lanes that arrive later join those still in the function, where they may wait for each other.
Frame* enter_frame(WarpState& w, const Code& code, Frame* parent, uint32_t lanes, uint32_t return_pc,
                   const CallSite* site) {
  if (Frame* joined = parent ? find_activation(w, code, parent, site) : nullptr) {
    joined->lanes |= lanes;
    forget_definedness(*joined, lanes);
    copy_arguments(w, *joined, lanes);
    return joined;
  }
  const uint32_t base = parent ? parent->local_base + parent->code->frame_bytes : 0;
  if (parent && parent->depth >= kMaxDepth) return nullptr;
  if (!reserve_local(w, base + code.frame_bytes)) return nullptr;
  auto found = std::ranges::find_if(w.spare, [&](const auto& f) { return f->code == &code; });
  std::unique_ptr<Frame> frame;
  if (found != w.spare.end()) {
    frame = std::move(*found);
    w.spare.erase(found);
  } else {
    frame = std::make_unique<Frame>();
    frame->registers = aligned_bytes(std::max(64u, code.register_bytes));
    std::memset(frame->registers.get(), 0, std::max(64u, code.register_bytes));
    if (!code.constants.empty()) std::memcpy(frame->registers.get(), code.constants.data(), code.constants.size());
  }
  frame->code = &code;
  frame->parent = parent;
  frame->return_pc = return_pc;
  frame->lanes = lanes;
  frame->local_base = base;
  frame->depth = parent ? parent->depth + 1 : 0;
  frame->site = site;
  for (const SpecialColumn& column : code.specials) fill_special(w, *frame, column);
  forget_definedness(*frame, kAllLanes);
  copy_arguments(w, *frame, lanes);
  w.frames.push_back(std::move(frame));
  return w.frames.back().get();
}

// Refills only what differs between blocks.
void renew_frame(WarpState& w, Frame& frame) {
  for (const SpecialColumn& column : frame.code->specials) {
    const bool of_block = column.value == Special::ctaid_x || column.value == Special::ctaid_y ||
                          column.value == Special::ctaid_z || column.value == Special::smid;
    if (of_block) fill_special(w, frame, column);
  }
  forget_definedness(frame, kAllLanes);
}

// Removes lanes from this activation and its callers; empty activations are kept for the next call.
void leave_frame(WarpState& w, Frame* frame, uint32_t lanes) {
  while (frame) {
    Frame* parent = frame->parent;
    frame->lanes &= ~lanes;
    if (frame->lanes == 0 && parent) {
      auto found = std::ranges::find_if(w.frames, [&](const auto& f) { return f.get() == frame; });
      w.spare.push_back(std::move(*found));
      w.frames.erase(found);
    }
    if (lanes == 0) return;
    frame = parent;
  }
}

namespace {

uint64_t argument(const WarpState& w, const CallSite& site, size_t which, uint32_t lane, uint32_t local_base) {
  uint64_t value = 0;
  if (which >= site.arguments.size()) return 0;
  for (uint32_t b = 0; b < std::min(8u, site.arguments[which].bytes); ++b) {
    value |= uint64_t{*local_at(w, lane, local_base + site.arguments[which].offset + b)} << 8 * b;
  }
  return value;
}

// The byte at a generic address, 0 if there is none.
uint8_t byte_at(const WarpState& w, uint32_t lane, uint64_t address) {
  if (address - kLocalWindow < kWindowBytes) {
    return address - kLocalWindow < w.local_bytes ? *local_at(w, lane, address - kLocalWindow) : 0;
  }
  Range range;
  if (address >= kSharedWindow || !w.block->launch->memory->mapped_range(address, 1, range)) return 0;
  return *reinterpret_cast<const uint8_t*>(address);
}

std::string text_at(const WarpState& w, uint32_t lane, uint64_t address) {
  std::string text;
  for (uint8_t c; text.size() < 4096 && (c = byte_at(w, lane, address + text.size())) != 0;)
    text += static_cast<char>(c);
  return text;
}

// While it lives, this thread's numbers have a decimal point, whatever the program's locale.
class PlainNumbers {
 public:
  PlainNumbers() : before_(uselocale(plain())) {}
  ~PlainNumbers() { uselocale(before_); }
  PlainNumbers(const PlainNumbers&) = delete;
  PlainNumbers& operator=(const PlainNumbers&) = delete;

 private:
  static locale_t plain() {
    static const locale_t made = newlocale(LC_ALL_MASK, "C", nullptr);
    return made;
  }
  const locale_t before_;
};

// One conversion of a device printf: the specification as written, with its argument from the packed list.
std::string format_one(const WarpState& w, uint32_t lane, std::string spec, uint64_t list, uint64_t& offset) {
  const char kind = spec.back();
  const bool is_long =
      spec.find('l') != std::string::npos || spec.find('j') != std::string::npos || spec.find('z') != std::string::npos;
  const bool is_double = std::string("fFeEgGaA").find(kind) != std::string::npos;
  const uint64_t bytes = is_double || is_long || kind == 'p' || kind == 's' ? 8 : 4;
  offset = (offset + bytes - 1) / bytes * bytes;
  uint64_t bits = 0;
  for (uint64_t b = 0; b < bytes; ++b) bits |= uint64_t{byte_at(w, lane, list + offset + b)} << 8 * b;
  offset += bytes;
  std::erase_if(spec, [](char c) { return c == 'l' || c == 'h' || c == 'j' || c == 'z' || c == 't'; });
  const PlainNumbers plain_numbers;
  char out[512];
  int n = 0;
  if (is_double)
    n = std::snprintf(out, sizeof out, spec.c_str(), std::bit_cast<double>(bits));
  else if (kind == 's')
    n = std::snprintf(out, sizeof out, spec.c_str(), text_at(w, lane, bits).c_str());
  else if (kind == 'p')
    n = std::snprintf(out, sizeof out, "%p", reinterpret_cast<void*>(bits));
  else if (kind == 'c')
    n = std::snprintf(out, sizeof out, spec.c_str(), static_cast<int>(bits));
  else if (kind == 'd' || kind == 'i') {
    n = std::snprintf(out, sizeof out, spec.insert(spec.size() - 1, "ll").c_str(),
                      is_long ? static_cast<long long>(bits) : static_cast<long long>(static_cast<int32_t>(bits)));
  } else {
    n = std::snprintf(out, sizeof out, spec.insert(spec.size() - 1, "ll").c_str(),
                      static_cast<unsigned long long>(bits));
  }
  return std::string(out, static_cast<size_t>(std::clamp(n, 0, 511)));
}

std::string format(const WarpState& w, uint32_t lane, uint64_t address, uint64_t list) {
  const std::string text = text_at(w, lane, address);
  std::string result;
  uint64_t offset = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%' || at + 1 == text.size()) {
      result += text[at];
      continue;
    }
    const size_t end = text.find_first_of("diouxXcspfFeEgGaA%", at + 1);
    if (end == std::string::npos) break;
    if (text[end] == '%')
      result += '%';
    else if (end - at < 24)
      result += format_one(w, lane, text.substr(at, end - at + 1), list, offset);
    at = end;
  }
  return result;
}

// Same output as the device's runtime library: a line on stderr per thread.
void tell_assertions(const WarpState& w, const CallSite& site, uint32_t lanes, uint32_t local_base) {
  const Dim3& threads = w.block->launch->request.block;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    const auto text = [&](size_t which) { return text_at(w, l, argument(w, site, which, l, local_base)); };
    const uint32_t linear = w.warp_index * kLanes + l;
    std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", text(1).c_str(),
                 static_cast<uint32_t>(argument(w, site, 2, l, local_base)), text(3).c_str(), w.block->index[0],
                 w.block->index[1], w.block->index[2], linear % threads.x, linear / threads.x % threads.y,
                 linear / threads.x / threads.y, text(0).c_str());
  }
}

}  // namespace

void call_builtin(WarpState& w, const CallSite& site, const Instruction& i, uint32_t lanes, uint32_t local_base) {
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    uint64_t result = 0;
    if (*site.builtin == "vprintf") {
      const std::string text = format(w, l, argument(w, site, 0, l, local_base), argument(w, site, 1, l, local_base));
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fflush(stdout);  // the program may have a buffer of its own, or use another language's
      result = text.size();
    } else if (*site.builtin == "__assertfail") {
      const std::string what = text_at(w, l, argument(w, site, 0, l, local_base)),
                        file = text_at(w, l, argument(w, site, 1, l, local_base));
      const uint64_t line = argument(w, site, 2, l, local_base);
      tell_assertions(w, site, lanes & ~0u << l, local_base);
      fault_at_instruction(w, i, FaultKind::kAssert,
                           "fails the assertion `" + what + "` at " + file + ":" + std::to_string(line));
      return;
    } else if (*site.builtin == "malloc") {
      const uint64_t bytes = argument(w, site, 0, l, local_base);
      result = w.block->launch->memory->allocate(bytes, "device heap");
      if (LaunchChecks* checks = w.block->launch->checks; checks && result) checks->allocated(w, result, bytes);
    } else {
      w.block->launch->memory->free(argument(w, site, 0, l, local_base));
      for (auto& [code, ranges] : w.executor->ranges) std::ranges::fill(ranges, Range{});
    }
    for (uint32_t b = 0; !site.results.empty() && b < site.results[0].bytes; ++b) {
      *local_at(w, l, local_base + site.results[0].offset + b) = static_cast<uint8_t>(result >> 8 * b);
    }
  }
}

}  // namespace ptx::emulator
