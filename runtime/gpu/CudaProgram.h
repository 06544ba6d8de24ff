// A program on a CUDA device: its kernels, loaded, and its weights.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_GPU_CUDAPROGRAM_H
#define TFC_RUNTIME_GPU_CUDAPROGRAM_H

#include "runtime/gpu/CudaMemory.h"
#include "runtime/src/memory/Memory.h"
#include "runtime/src/step/Device.h"
#include "runtime/src/step/Tap.h"
#include "runtime/src/threads/Workers.h"

namespace tfc::rt {

/// Immutable once its weights are there, so that engines may share it.
class CudaProgram {
public:
  /// Opens the driver and its device number `device` and loads the first of the
  /// program's images that the driver takes, but none that is `avoided`
  /// (CudaAvoid). The program's tables outlive it. Errors:
  /// Incompatible (no driver or device, a device of another capability, no
  /// image that loads), those of a device.
  static Result<std::unique_ptr<CudaProgram>>
  load(const tfc_program_v0 &program, int device, uint32_t avoided);
  ~CudaProgram();
  CudaProgram(const CudaProgram &) = delete;
  CudaProgram &operator=(const CudaProgram &) = delete;

  /// Copies the packed weights to the device; the workers help. Errors:
  /// Exhausted, those of a device.
  Status upload(const Mapping &packed, const Workers &workers);
  const void *weights() const { return packedWeights.data(); }

  /// An engine's device, which tells `tap`, if it is one, of values; the
  /// program and the listener outlive it.
  std::unique_ptr<Device> makeDevice(const TapListener &tap) const;

  const tfc_program_v0 &table() const { return program; }
  const CudaContext &context() const { return *cudaContext; }
  /// Kernel number i of the program's table.
  cuda::Function kernel(uint32_t i) const { return kernels[i]; }

private:
  CudaProgram(const tfc_program_v0 &program,
              std::unique_ptr<CudaContext> context)
      : program(program), cudaContext(std::move(context)),
        packedWeights(*cudaContext) {}
  Status checkCapability() const;
  Status loadImages(uint32_t avoided);
  Status loadImage(const tfc_image_v0 &image);
  Status findKernels();
  Status allowShared(cuda::Function kernel, const tfc_kernel_v0 &table) const;

  const tfc_program_v0 &program;
  std::unique_ptr<CudaContext> cudaContext;
  cuda::ModuleHandle module = nullptr;
  std::vector<cuda::Function> kernels;
  CudaDeviceBuffer packedWeights;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_GPU_CUDAPROGRAM_H
