// Memory of a device and pinned memory of the host, owned.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_GPU_CUDAMEMORY_H
#define TFC_RUNTIME_GPU_CUDAMEMORY_H

#include "runtime/gpu/CudaContext.h"

namespace tfc::rt {

/// Where a buffer lies.
enum class CudaPlace { Device, PinnedHost };

/// A buffer that grows and forgets what was in it then. The context outlives
/// it. Nothing that uses it may be under way when it grows or goes.
template <CudaPlace place> class CudaBuffer {
public:
  explicit CudaBuffer(const CudaContext &context) : context(&context) {}
  CudaBuffer(CudaBuffer &&other) noexcept
      : context(other.context), memory(std::exchange(other.memory, nullptr)),
        bytes(std::exchange(other.bytes, 0)) {}
  CudaBuffer &operator=(CudaBuffer &&) = delete;
  ~CudaBuffer() { free(); }

  /// Room for so many bytes, never none, and a little more than needed: a step
  /// that is one token longer than the last must not pay for new memory.
  /// Where the context has nothing to spare, those bytes and no more. Errors:
  /// Exhausted, those of a device; the buffer is empty then.
  Status require(uint64_t needed);
  /// The same without more than needed: for what does not grow, and may be most
  /// of what a device has.
  Status requireExactly(uint64_t needed);
  void *data() const { return memory; }
  cuda::Address address() const {
    return reinterpret_cast<cuda::Address>(memory);
  }

private:
  void free();
  Status allocate(uint64_t room);

  const CudaContext *context;
  void *memory = nullptr;
  uint64_t bytes = 0;
};

using CudaDeviceBuffer = CudaBuffer<CudaPlace::Device>;
using CudaHostBuffer = CudaBuffer<CudaPlace::PinnedHost>;

} // namespace tfc::rt

#endif // TFC_RUNTIME_GPU_CUDAMEMORY_H
