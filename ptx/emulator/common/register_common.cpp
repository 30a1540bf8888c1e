// Handlers that exist once, and their shared address resolution.
#include "ptx/emulator/common/common.h"
#include "ptx/emulator/syntax_tree.h"

namespace ptx::emulator::common {

void register_warp_operations(Registry& r);
void register_atomics(Registry& r);
void register_miscellany(Registry& r);
void register_convert_any(Registry& r);
void register_video(Registry& r);
void register_matrix_memory(Registry& r);
void register_quad_pair_products(Registry& r);
void register_stack(Registry& r);
void register_async_copies(Registry& r);

void resolve(Warp& w, const Instruction& i, uint32_t space, uint32_t lanes, uint32_t bytes, const uint64_t* addresses,
             uint8_t** pointers) {
  switch (static_cast<Space>(space)) {
    case Space::global:
    case Space::constant:
      return Global::resolve(w, i, lanes, bytes, addresses, pointers);
    case Space::shared:
      return Shared::resolve(w, i, lanes, bytes, addresses, pointers);
    case Space::local:
      return Local::resolve(w, i, lanes, bytes, addresses, pointers);
    default:
      return Generic::resolve(w, i, lanes, bytes, addresses, pointers);
  }
}

void register_all(Registry& r);
void register_all(Registry& r) {
  register_warp_operations(r);
  register_atomics(r);
  register_miscellany(r);
  register_convert_any(r);
  register_video(r);
  register_matrix_memory(r);
  register_quad_pair_products(r);
  register_stack(r);
  register_async_copies(r);
}

}  // namespace ptx::emulator::common
