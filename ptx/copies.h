// Folds away copies that keep old values of variables, where this cannot be observed: reads of a copy while the
// variable still has that value, and results that only feed a variable.
#pragma once
#include "ptx/ir.h"

namespace ptx {

void fold_copies(Body& body);

}  // namespace ptx
