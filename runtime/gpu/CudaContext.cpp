// A device's primary context.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/gpu/CudaContext.h"

#include <array>

namespace tfc::rt {

Result<std::unique_ptr<CudaContext>> CudaContext::open(int device) {
  auto driver = CudaDriver::open();
  if (!driver) {
    return std::move(driver.error());
  }
  std::unique_ptr<CudaContext> opened(new CudaContext(std::move(*driver)));
  Status status = opened->initialize(device);
  if (!status) {
    return std::move(status.error());
  }
  return opened;
}

Status CudaContext::initialize(int device) {
  int major = 0, minor = 0, count = 0;
  Status status = check(functions().cuDeviceGetCount(&count),
                        "cuDeviceGetCount", "to find devices");
  if (status && device >= count) {
    return makeError(Code::Incompatible, "expected CUDA device ", device,
                     " (the first one is 0), got ", count,
                     count == 1 ? " device" : " devices");
  }
  if (status) {
    status = check(functions().cuDeviceGet(&number, device), "cuDeviceGet",
                   concat("to give device ", device));
  }
  if (status) {
    status = check(
        functions().cuDeviceGetAttribute(&major, cuda::CapabilityMajor, number),
        "cuDeviceGetAttribute", "to give the compute capability");
  }
  if (status) {
    status = check(
        functions().cuDeviceGetAttribute(&minor, cuda::CapabilityMinor, number),
        "cuDeviceGetAttribute", "to give the compute capability");
  }
  if (status) {
    computeCapability = 10 * major + minor;
    status = check(functions().cuDevicePrimaryCtxRetain(&context, number),
                   "cuDevicePrimaryCtxRetain", "to give a context");
  }
  if (!status) {
    context = nullptr;
  }
  return status;
}

CudaContext::~CudaContext() {
  if (context) {
    functions().cuDevicePrimaryCtxRelease(number);
  }
}

std::string CudaContext::describe() const {
  CudaScope scope(*this);
  if (!scope.status()) {
    return "unknown CUDA device";
  }
  std::array<char, 256> name{};
  size_t free = 0, total = 0;
  int version = 0, processors = 0;
  bool isKnown =
      functions().cuDeviceGetName(name.data(), int(name.size()) - 1, number) ==
          cuda::Success &&
      functions().cuMemGetInfo(&free, &total) == cuda::Success &&
      functions().cuDriverGetVersion(&version) == cuda::Success &&
      functions().cuDeviceGetAttribute(&processors, cuda::MultiprocessorCount,
                                       number) == cuda::Success;
  return !isKnown ? "unknown CUDA device"
                  : concat(name.data(), " (compute capability ",
                           computeCapability / 10, ".", computeCapability % 10,
                           ", ", processors, " multiprocessors, ", total >> 20,
                           " MiB), driver ", version / 1000, ".",
                           version % 1000 / 10);
}

Status CudaContext::push() const {
  return check(functions().cuCtxPushCurrent(context), "cuCtxPushCurrent",
               "to make the device's context the thread's");
}

void CudaContext::pop() const {
  cuda::Context popped = nullptr;
  functions().cuCtxPopCurrent(&popped);
}

Status CudaContext::check(cuda::Result result, const char *call,
                          std::string_view what) const {
  Status status = driver->check(result, call, what);
  if (!status && CudaDriver::isSticky(result)) {
    std::lock_guard<std::mutex> lock(mutex);
    death = death.empty() ? status.error().message : death;
  }
  return status;
}

Status CudaContext::checkAlive() const {
  std::lock_guard<std::mutex> lock(mutex);
  if (death.empty()) {
    return {};
  }
  return makeError(Code::Internal,
                   "expected a device that works, got one that "
                   "died before: ",
                   death);
}

} // namespace tfc::rt
