#include "ptx/layout.h"

namespace ptx {

ParameterLayout lay_out_parameters(const Body& body) {
  ParameterLayout layout;
  for (const Symbol& symbol : body.symbols) {
    if (symbol.space != Space::kParam) continue;
    const uint32_t bytes = symbol.pointer ? 8 : static_cast<uint32_t>(bytes_of(symbol.element));
    layout.offsets.push_back(static_cast<uint32_t>(round_up(layout.bytes, bytes)));
    layout.bytes = layout.offsets.back() + bytes;
  }
  return layout;
}

SharedLayout lay_out_shared(const Body& body) {
  SharedLayout layout;
  for (const Symbol& symbol : body.symbols) {
    if (symbol.space != Space::kShared) continue;
    if (symbol.dynamic)
      layout.dynamic = symbol.offset + symbol.bytes();
    else
      layout.fixed = round_up(layout.fixed, symbol.alignment) + symbol.bytes();
  }
  return layout;
}

}  // namespace ptx
