// cp.async and its groups.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/thread/AsyncCopies.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

void tfc::copyAsync(ImplicitLocOpBuilder &b, Value to, Value from, Value fill) {
  // Past the first cache: shared memory is where it is wanted.
  NVVM::CpAsyncOp::create(b, to, from, uint32_t(kCopyBytes),
                          NVVM::LoadCacheModifierKind::CG, fill);
}

void tfc::commitCopies(ImplicitLocOpBuilder &b) {
  NVVM::CpAsyncCommitGroupOp::create(b);
}

void tfc::waitForCopies(ImplicitLocOpBuilder &b, unsigned pending) {
  NVVM::CpAsyncWaitGroupOp::create(b, pending);
}
