// Allocates and frees.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/gpu/CudaMemory.h"

#include <algorithm>

namespace tfc::rt {

template <CudaPlace place> void CudaBuffer<place>::free() {
  CudaScope scope(*context);
  // What can fail here has failed before, and has been said then.
  if (memory && scope.status()) {
    if (place == CudaPlace::Device) {
      context->functions().cuMemFree(address());
    } else {
      context->functions().cuMemFreeHost(memory);
    }
  }
  memory = nullptr;
  bytes = 0;
}

template <CudaPlace place> Status CudaBuffer<place>::require(uint64_t needed) {
  if (!context->hasSpare()) {
    needed = std::max<uint64_t>(needed, 1);
    return memory && needed == bytes ? Status() : allocate(needed);
  }
  if (memory && needed <= bytes) {
    return {};
  }
  uint64_t room = needed + needed / 4;
  return allocate(std::max<uint64_t>(room < needed ? needed : room, 256));
}

template <CudaPlace place>
Status CudaBuffer<place>::requireExactly(uint64_t needed) {
  return memory && needed <= bytes ? Status()
                                   : allocate(std::max<uint64_t>(needed, 1));
}

template <CudaPlace place> Status CudaBuffer<place>::allocate(uint64_t room) {
  free();
  std::string what = concat("to give ", room, " bytes");
  CudaScope scope(*context);
  Status status = scope.status();
  if (!status) {
    return status;
  }
  if (place == CudaPlace::Device) {
    cuda::Address at = 0;
    status = context->check(context->functions().cuMemAlloc(&at, room),
                            "cuMemAlloc", what);
    memory = reinterpret_cast<void *>(status ? at : 0);
  } else {
    void *at = nullptr;
    status = context->check(context->functions().cuMemHostAlloc(&at, room, 0),
                            "cuMemHostAlloc", what);
    memory = status ? at : nullptr;
  }
  bytes = status ? room : 0;
  return status;
}

template class CudaBuffer<CudaPlace::Device>;
template class CudaBuffer<CudaPlace::PinnedHost>;

} // namespace tfc::rt
