// The public headers are C++17, alone and together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tfc/runtime.h"

#include "tfc/abi.h"
#include "tfc/scheduler.h"
#include "tfc/text.h"

int headersInCpp();
int headersInCpp() { return TFC_INTERNAL + TFC_KIND_DECODER; }
