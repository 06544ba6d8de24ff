// What a user asks the host to do in another way, where there are two: to find
// out on a device which of them is wrong.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_GPU_CUDAAVOID_H
#define TFC_RUNTIME_GPU_CUDAAVOID_H

#include "runtime/src/Error.h"

#include <vector>

namespace tfc::rt {

/// Bits of what TFC_CUDA_AVOID names.
enum CudaAvoid : uint32_t {
  AvoidCubin = 1, // binaries: the driver compiles the program's PTX instead
  /// Memory beyond what a step is lent: each buffer of a step has its bytes,
  /// and is another one where the next step's has more or fewer.
  AvoidSpare = 2,
  AvoidGraphs = 4 // of steps that come again: each is launched kernel by kernel
};

/// The names, in the order of the bits: "cubin", "spare", "graphs".
const std::vector<std::string> &avoidableNames();

/// Of the environment's TFC_CUDA_AVOID, names with commas between; none where
/// it is not set. Errors: InvalidArgument (a name that is none).
Result<uint32_t> readAvoided();

} // namespace tfc::rt

#endif // TFC_RUNTIME_GPU_CUDAAVOID_H
