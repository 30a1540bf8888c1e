// All handlers of one instruction set.
#include "ptx/emulator/handlers/lanes.h"

namespace ptx::emulator::EMULATOR_ISA {

void register_integer(Registry& r);
void register_bits(Registry& r);
void register_real(Registry& r);
void register_approximate(Registry& r);
void register_halves(Registry& r);
void register_compare(Registry& r);
void register_convert(Registry& r);
void register_load_store(Registry& r);
void register_load_group(Registry& r);
void register_matrix(Registry& r);
void register_packs(Registry& r);
void register_shuffle(Registry& r);

void register_all(Registry& r);
void register_all(Registry& r) {
  register_integer(r);
  register_bits(r);
  register_real(r);
  register_approximate(r);
  register_halves(r);
  register_compare(r);
  register_convert(r);
  register_load_store(r);
  register_load_group(r);
  register_matrix(r);
  register_packs(r);
  register_shuffle(r);
}

}  // namespace ptx::emulator::EMULATOR_ISA
