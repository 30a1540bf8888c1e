// Registration functions of the handler libraries: one per instruction set, and one for handlers compiled once.
#pragma once

namespace ptx::emulator {
class Registry;
namespace baseline {
void register_all(Registry& r);
}
namespace avx2 {
void register_all(Registry& r);
}
namespace avx512 {
void register_all(Registry& r);
}
namespace common {
void register_all(Registry& r);
}
}  // namespace ptx::emulator
