// Statistics of a pass that is made with options begin at 0: LLVM's packages,
// which count nothing themselves, leave them as memory was.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SUPPORT_CLEARSTATISTICS_H
#define TFC_COMPILER_SUPPORT_CLEARSTATISTICS_H

#include "mlir/Pass/Pass.h"

namespace tfc {

/// To be called before a pass counts.
inline void clearStatistics(mlir::Pass &pass) {
#if LLVM_ENABLE_STATS
  for (llvm::Statistic *statistic : pass.getStatistics()) {
    statistic->Value = 0;
    statistic->Initialized = true;
  }
#else
  (void)pass;
#endif
}

} // namespace tfc

#endif // TFC_COMPILER_SUPPORT_CLEARSTATISTICS_H
