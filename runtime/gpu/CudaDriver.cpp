// Opens libcuda and asks it for its functions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/gpu/CudaDriver.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <iterator>

namespace tfc::rt {

/// "12.4" of 12040.
static std::string versionText(int version) {
  return concat(version / 1000, ".", version % 1000 / 10);
}

Result<std::shared_ptr<const CudaDriver>> CudaDriver::open() {
  const char *named = std::getenv("TFC_CUDA_DRIVER");
  std::string file = named && *named ? named : "libcuda.so.1";
  // A driver is not to be unloaded: its threads and its handlers of the
  // process' end outlive whoever opened it.
  void *handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle) {
    return makeError(Code::Incompatible, "expected a CUDA driver (", file,
                     "), got: ", dlerror());
  }
  std::shared_ptr<CudaDriver> driver(new CudaDriver(handle));
  Status status = driver->findFunctions(file);
  if (status) {
    status = driver->initialize(file);
  }
  if (!status) {
    return std::move(status.error());
  }
  return std::shared_ptr<const CudaDriver>(driver);
}

Status CudaDriver::findFunctions(const std::string &file) {
  auto getProcAddress = reinterpret_cast<cuda::GetProcAddress>(
      dlsym(handle, "cuGetProcAddress_v2"));
  if (!getProcAddress) {
    return makeError(Code::Incompatible, "expected a CUDA driver (", file,
                     ") of version ", versionText(cuda::apiVersion),
                     " or later, got one without cuGetProcAddress_v2");
  }
  std::string missing;
  auto find = [&](const char *name, auto &function) {
    void *found = nullptr;
    if (getProcAddress(name, &found, cuda::apiVersion, 0, nullptr) !=
            cuda::Success ||
        !found) {
      missing += (missing.empty() ? "" : ", ") + std::string(name);
      return;
    }
    function = reinterpret_cast<std::decay_t<decltype(function)>>(found);
  };
#define TFC_CUDA_FIND(name, parameters) find(#name, functions.name);
  TFC_CUDA_FUNCTIONS(TFC_CUDA_FIND)
#undef TFC_CUDA_FIND
  if (!missing.empty()) {
    return makeError(Code::Incompatible, "expected a CUDA driver (", file,
                     ") with all functions of version ",
                     versionText(cuda::apiVersion), ", got one without ",
                     missing);
  }
  return {};
}

Status CudaDriver::initialize(const std::string &file) const {
  int version = 0;
  if (functions.cuDriverGetVersion(&version) != cuda::Success ||
      version < cuda::apiVersion) {
    return makeError(Code::Incompatible, "expected a CUDA driver (", file,
                     ") of version ", versionText(cuda::apiVersion),
                     " or later, got ", versionText(version));
  }
  int count = 0;
  Status status = check(functions.cuInit(0), "cuInit", "to begin");
  if (status) {
    status = check(functions.cuDeviceGetCount(&count), "cuDeviceGetCount",
                   "to find devices");
  }
  if (!status || count == 0) {
    return makeError(Code::Incompatible, "expected a CUDA device, got ",
                     status ? std::string("none") : status.error().message);
  }
  return {};
}

bool CudaDriver::isSticky(cuda::Result result) {
  return std::find(std::begin(cuda::stickyResults),
                   std::end(cuda::stickyResults),
                   result) != std::end(cuda::stickyResults);
}

Status CudaDriver::check(cuda::Result result, const char *call,
                         std::string_view what) const {
  if (result == cuda::Success) {
    return {};
  }
  const char *name = nullptr, *text = nullptr;
  functions.cuGetErrorName(result, &name);
  functions.cuGetErrorString(result, &text);
  return makeError(
      result == cuda::OutOfMemory ? Code::Exhausted : Code::Internal,
      "expected ", call, " ", what, ", got error ", result, " (",
      name ? name : "without a name", ": ", text ? text : "without a text", ")",
      isSticky(result) ? "; the device is of no use to this "
                         "process any more"
                       : "");
}

} // namespace tfc::rt
