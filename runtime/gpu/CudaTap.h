// Values in a device's memory, for whoever listens to a step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_GPU_CUDATAP_H
#define TFC_RUNTIME_GPU_CUDATAP_H

#include "runtime/gpu/CudaMemory.h"
#include "runtime/src/step/Tap.h"

#include <vector>

namespace tfc::rt {

/// Belongs to a device, whose stream it waits for at every value.
class CudaTap {
public:
  /// Both outlive it; the listener may be none.
  CudaTap(const CudaContext &context, const TapListener &listener)
      : context(context), listener(listener), staging(context) {}

  bool isOn() const { return bool(listener); }

  /// Copies the value at `address` to the host, behind all work of the stream,
  /// hands it to the listener, and copies back what that has changed.
  /// `value.data` is filled in. Errors: Exhausted, those of a device.
  Status report(TappedValue value, cuda::Address address,
                cuda::StreamHandle stream);

private:
  Status finish(cuda::StreamHandle stream, const TappedValue &value) const;

  const CudaContext &context;
  const TapListener &listener;
  CudaHostBuffer staging;
  std::vector<float> values;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_GPU_CUDATAP_H
