// Folds away the copies by which the builder keeps old and new values of variables apart, where nothing tells the copy
// from the variable: reads of a copy while the variable still has that value, and results that only feed a variable.
#pragma once
#include "ptx/ir.h"

namespace ptx {

void fold_copies(Body& body);

}  // namespace ptx
