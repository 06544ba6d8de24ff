// Weights on their way to a device: through pinned memory, which a device reads
// at the speed of its bus, where any other is copied once more by the driver.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_GPU_CUDAUPLOAD_H
#define TFC_RUNTIME_GPU_CUDAUPLOAD_H

#include "runtime/gpu/CudaMemory.h"
#include "runtime/src/threads/Workers.h"

#include <array>

namespace tfc::rt {

/// Two buffers in turns: the workers fill one while the device reads the other.
class CudaUpload {
public:
  /// The context outlives it.
  explicit CudaUpload(const CudaContext &context) : context(context) {}
  ~CudaUpload();
  CudaUpload(const CudaUpload &) = delete;
  CudaUpload &operator=(const CudaUpload &) = delete;

  /// Copies bytes of the host to the device; all of them are there when it
  /// returns. Errors: Exhausted, those of a device.
  Status copy(cuda::Address to, const uint8_t *from, uint64_t bytes,
              const Workers &workers);

private:
  /// A buffer, and the stream in which it is read.
  struct Half {
    explicit Half(const CudaContext &context) : buffer(context) {}
    CudaHostBuffer buffer;
    cuda::StreamHandle stream = nullptr;
  };
  Status open(uint64_t bytes);
  Status wait(const Half &half) const;

  const CudaContext &context;
  std::array<Half, 2> halves{Half(context), Half(context)};
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_GPU_CUDAUPLOAD_H
