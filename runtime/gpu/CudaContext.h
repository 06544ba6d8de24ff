// A device's context, which a model's engines share, and whether it still
// works.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_GPU_CUDACONTEXT_H
#define TFC_RUNTIME_GPU_CUDACONTEXT_H

#include "runtime/gpu/CudaDriver.h"

#include <mutex>

namespace tfc::rt {

/// Safe from any thread.
class CudaContext {
public:
  /// Opens device number `device` of the driver. Errors: those of
  /// CudaDriver::open, Incompatible (so many there are not), Internal.
  static Result<std::unique_ptr<CudaContext>> open(int device);
  ~CudaContext();
  CudaContext(const CudaContext &) = delete;
  CudaContext &operator=(const CudaContext &) = delete;

  const cuda::Functions &functions() const { return driver->functions; }
  /// 10 x major + minor.
  int capability() const { return computeCapability; }
  cuda::DeviceNumber device() const { return number; }
  /// Whether buffers that grow have a little more than needed.
  bool hasSpare() const { return givesSpare; }
  void avoidSpare() { givesSpare = false; }
  /// Whether steps that come again are graphs.
  bool hasGraphs() const { return makesGraphs; }
  void avoidGraphs() { makesGraphs = false; }
  /// The device's name, compute capability and memory, and the driver's
  /// version.
  std::string describe() const;
  /// Makes the context the thread's; CudaScope does. Errors: those of a device.
  Status push() const;
  void pop() const;

  /// As CudaDriver::check; remembers a result after which nothing works.
  Status check(cuda::Result result, const char *call,
               std::string_view what) const;
  /// An error when the device is dead: what killed it.
  Status checkAlive() const;

private:
  explicit CudaContext(std::shared_ptr<const CudaDriver> driver)
      : driver(std::move(driver)) {}
  Status initialize(int device);

  std::shared_ptr<const CudaDriver> driver;
  cuda::DeviceNumber number = 0;
  cuda::Context context = nullptr;
  int computeCapability = 0;
  bool givesSpare = true, makesGraphs = true;
  mutable std::mutex mutex;
  mutable std::string death;
};

/// The context is the thread's as long as this lives, if it came to be:
/// otherwise calls would be about whatever context the caller has.
class CudaScope {
public:
  explicit CudaScope(const CudaContext &context)
      : context(context), pushed(context.push()) {}
  ~CudaScope() {
    if (pushed) {
      context.pop();
    }
  }
  CudaScope(const CudaScope &) = delete;
  CudaScope &operator=(const CudaScope &) = delete;

  /// Errors: those of a device.
  const Status &status() const { return pushed; }

private:
  const CudaContext &context;
  Status pushed;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_GPU_CUDACONTEXT_H
