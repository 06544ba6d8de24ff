// NVIDIA's assembler, where it is installed: PTX -> a binary.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_IMAGE_RUNPTXAS_H
#define TFC_COMPILER_GPU_IMAGE_RUNPTXAS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tfc {

/// Path of the ptxas that CUDA_HOME names, that lies in NVIDIA's usual folder
/// (/usr/local/cuda), or that is on PATH, in this order; "" where there is
/// none.
std::string findPtxas();

/// Those of `chips` that the ptxas at this path makes binaries for, by its
/// help; none where that cannot be had.
llvm::SmallVector<llvm::StringRef> listKnown(llvm::StringRef ptxas,
                                             llvm::ArrayRef<std::string> chips);

/// The binary of `ptx` for the architecture `chip` ("sm_80"), by the program at
/// the path `ptxas`, optimised as far as `level`, from 0 to 3, says. The error
/// has the command and what it said.
llvm::Expected<std::string> runPtxas(llvm::StringRef ptxas, llvm::StringRef ptx,
                                     llvm::StringRef chip, int64_t level);

} // namespace tfc

#endif // TFC_COMPILER_GPU_IMAGE_RUNPTXAS_H
