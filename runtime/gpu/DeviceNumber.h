// Which of a machine's devices a model is for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_GPU_DEVICENUMBER_H
#define TFC_RUNTIME_GPU_DEVICENUMBER_H

#include "runtime/src/Error.h"

namespace tfc::rt {

/// What a user calls a program: `program` "cuda" and the device's number of
/// "cuda:1"; any other name is one, for the device that the environment's
/// TFC_DEVICE names, or number 0.
struct NamedProgram {
  std::string program;
  int device = 0;
};

/// Numbers are the driver's, of the devices that CUDA_VISIBLE_DEVICES leaves.
/// Errors: InvalidArgument (what is no number).
Result<NamedProgram> readDeviceNumber(const std::string &name);

} // namespace tfc::rt

#endif // TFC_RUNTIME_GPU_DEVICENUMBER_H
