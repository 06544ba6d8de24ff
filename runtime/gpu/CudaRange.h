// Addresses of a CUDA device, with memory behind a part of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_GPU_CUDARANGE_H
#define TFC_RUNTIME_GPU_CUDARANGE_H

#include "runtime/gpu/CudaContext.h"
#include "runtime/src/step/Device.h"

namespace tfc::rt {

class CudaRange final : public DeviceRange {
public:
  /// The context and the stream, in which copies are done, outlive it. Errors:
  /// Exhausted, those of a device.
  static Result<std::unique_ptr<DeviceRange>>
  reserve(const CudaContext &context, cuda::StreamHandle stream,
          uint64_t bytes);
  ~CudaRange() override;

  Status commit(uint64_t begin, uint64_t end) override;
  Status copy(uint64_t to, uint64_t from, uint64_t bytes) override;
  void *data() const override { return reinterpret_cast<void *>(base); }
  uint64_t size() const override { return usable; }

private:
  CudaRange(const CudaContext &context, cuda::StreamHandle stream)
      : context(context), stream(stream) {}
  Status addMemory(uint64_t bytes);

  const CudaContext &context;
  cuda::StreamHandle stream;
  cuda::AllocationProperties properties{};
  cuda::Address base = 0;
  // `usable` bytes were asked for; `reserved` and `mapped` are whole pieces.
  uint64_t granularity = 0, usable = 0, reserved = 0, mapped = 0;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_GPU_CUDARANGE_H
