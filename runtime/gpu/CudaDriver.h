// CUDA's driver, opened at run time, and its results as errors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_GPU_CUDADRIVER_H
#define TFC_RUNTIME_GPU_CUDADRIVER_H

#include "runtime/gpu/CudaApi.h"
#include "runtime/src/Error.h"

#include <memory>

namespace tfc::rt {

class CudaDriver {
public:
  /// Opens the file that TFC_CUDA_DRIVER names, else libcuda.so.1, and
  /// initializes it; it stays in the process. Errors: Incompatible (no driver,
  /// one before 12.0, no device).
  static Result<std::shared_ptr<const CudaDriver>> open();
  CudaDriver(const CudaDriver &) = delete;
  CudaDriver &operator=(const CudaDriver &) = delete;

  /// Success, or what `call` gave: its number, CUDA's name and text of it.
  /// `what` says what it was for. Errors: Exhausted for memory, else Internal.
  Status check(cuda::Result result, const char *call,
               std::string_view what) const;
  /// Whether nothing works any more after a result.
  static bool isSticky(cuda::Result result);

  cuda::Functions functions;

private:
  explicit CudaDriver(void *handle) : handle(handle) {}
  Status findFunctions(const std::string &file);
  Status initialize(const std::string &file) const;

  void *handle;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_GPU_CUDADRIVER_H
