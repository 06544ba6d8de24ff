// The generated op methods, compiled once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/TransformerDialect.h"

#define GET_OP_CLASSES
#include "dialect/TransformerOps.cpp.inc"
