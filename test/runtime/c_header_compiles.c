/* The public headers are C11.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "tfc/abi.h"
#include "tfc/runtime.h"
#include "tfc/scheduler.h"
#include "tfc/text.h"

int tfc_test_headers_in_c(void);
int tfc_test_headers_in_c(void) { return TFC_INTERNAL + TFC_KIND_DECODER; }
