// Entry points: the driver, its device, contexts, texts of errors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/EntryPoints.h"
#include "test/emulator/FakeDevice.h"

#include <cstring>

namespace tfc::emulator {

namespace {

FakeDriver &driver() { return FakeDriver::instance(); }
FakeDevice &device() { return FakeDevice::current(); }

struct ResultText {
  int result;
  const char *name, *text;
};

constexpr ResultText texts[] = {
    {CudaSuccess, "CUDA_SUCCESS", "no error"},
    {CudaInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CudaOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CudaNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CudaNoDevice, "CUDA_ERROR_NO_DEVICE",
     "no CUDA-capable device is detected"},
    {CudaInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CudaInvalidContext, "CUDA_ERROR_INVALID_CONTEXT",
     "invalid device context"},
    {CudaNoBinaryForGpu, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {CudaInvalidPtx, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {CudaInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CudaIllegalState, "CUDA_ERROR_ILLEGAL_STATE",
     "the operation cannot be performed in the present state"},
    {CudaNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CudaNotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CudaIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {CudaMisalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS",
     "misaligned address"},
    {CudaLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED",
     "unspecified launch failure"},
    {CudaCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CudaCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {CudaCaptureWrongThread, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
     "attempt to terminate a thread-local capture sequence from another "
     "thread"},
    {CudaUnknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const ResultText *findText(int result) {
  for (const ResultText &text : texts) {
    if (text.result == result) {
      return &text;
    }
  }
  return nullptr;
}

int cuInit(unsigned flags) {
  return flags == 0 ? driver().initialize() : CudaInvalidValue;
}

int cuDriverGetVersion(int *version) {
  *version = readSettings(
                 std::getenv("TFC_FAKECUDA") ? std::getenv("TFC_FAKECUDA") : "")
                 .driver;
  return CudaSuccess;
}

int cuDeviceGetCount(int *count) {
  *count = driver().settings().devices;
  return device().begin("cuDeviceGetCount");
}

int cuDeviceGet(int *handle, int number) {
  *handle = number;
  CudaResult result = device().begin("cuDeviceGet");
  return result ? result
         : number >= 0 && number < driver().settings().devices
             ? CudaSuccess
             : CudaInvalidDevice;
}

/// Of a device by its number: what a call about it, or about none, gives.
CudaResult beginOf(int number, const char *function) {
  FakeDevice *named = driver().device(number);
  CudaResult result = named ? named->begin(function) : CudaInvalidDevice;
  return result;
}

int cuDeviceGetName(char *name, int bytes, int number) {
  std::strncpy(name, "stand-in for a CUDA device", size_t(bytes));
  name[bytes - 1] = '\0';
  return beginOf(number, "cuDeviceGetName");
}

int cuDeviceTotalMem(size_t *bytes, int number) {
  *bytes = driver().settings().memory;
  return beginOf(number, "cuDeviceTotalMem");
}

int cuDeviceGetAttribute(int *value, int attribute, int number) {
  int capability = driver().settings().capability;
  switch (attribute) {
  case MaxThreadsPerBlock:
    *value = 1024;
    break;
  case MaxSharedMemoryPerBlock:
    *value = 48 << 10;
    break;
  case MultiprocessorCount:
    *value = 4;
    break;
  case UnifiedAddressing:
  case VirtualMemorySupported:
    *value = 1;
    break;
  case CapabilityMajor:
    *value = capability / 10;
    break;
  case CapabilityMinor:
    *value = capability % 10;
    break;
  default:
    return CudaInvalidValue;
  }
  return beginOf(number, "cuDeviceGetAttribute");
}

int cuDevicePrimaryCtxRetain(void **context, int number) {
  CudaResult result = beginOf(number, "cuDevicePrimaryCtxRetain");
  FakeDevice *named = driver().device(number);
  *context = named;
  return result ? result : named->retainContext();
}

int cuDevicePrimaryCtxRelease(int number) {
  FakeDevice *named = driver().device(number);
  return named ? named->releaseContext() : CudaInvalidDevice;
}

int cuCtxPushCurrent(void *context) {
  CudaResult result = device().begin("cuCtxPushCurrent");
  return result ? result : driver().pushContext(context);
}

int cuCtxPopCurrent(void **context) { return driver().popContext(context); }

int cuCtxSetCurrent(void *context) {
  CudaResult result = device().begin("cuCtxSetCurrent");
  return result ? result : driver().setContext(context);
}

int cuCtxGetCurrent(void **context) {
  *context = driver().currentContext();
  return device().begin("cuCtxGetCurrent");
}

int cuGetErrorName(int result, const char **name) {
  const ResultText *text = findText(result);
  *name = text ? text->name : nullptr;
  return text ? CudaSuccess : CudaInvalidValue;
}

/// Of a device that is dead, with what killed it.
int cuGetErrorString(int result, const char **string) {
  const ResultText *text = findText(result);
  thread_local std::string why;
  why = text ? text->text : "";
  if (text && result >= CudaIllegalAddress && !device().whyDead().empty()) {
    why += ": " + device().whyDead();
  }
  *string = text ? why.c_str() : nullptr;
  return text ? CudaSuccess : CudaInvalidValue;
}

} // namespace

void *findDevicePoint(const std::string &name) {
  static const EntryPoint points[] = {
      {"cuInit", pointer(cuInit)},
      {"cuDriverGetVersion", pointer(cuDriverGetVersion)},
      {"cuDeviceGetCount", pointer(cuDeviceGetCount)},
      {"cuDeviceGet", pointer(cuDeviceGet)},
      {"cuDeviceGetName", pointer(cuDeviceGetName)},
      {"cuDeviceTotalMem", pointer(cuDeviceTotalMem)},
      {"cuDeviceGetAttribute", pointer(cuDeviceGetAttribute)},
      {"cuDevicePrimaryCtxRetain", pointer(cuDevicePrimaryCtxRetain)},
      {"cuDevicePrimaryCtxRelease", pointer(cuDevicePrimaryCtxRelease)},
      {"cuCtxPushCurrent", pointer(cuCtxPushCurrent)},
      {"cuCtxPopCurrent", pointer(cuCtxPopCurrent)},
      {"cuCtxSetCurrent", pointer(cuCtxSetCurrent)},
      {"cuCtxGetCurrent", pointer(cuCtxGetCurrent)},
      {"cuGetErrorName", pointer(cuGetErrorName)},
      {"cuGetErrorString", pointer(cuGetErrorString)},
  };
  return findPoint(points, name);
}

} // namespace tfc::emulator
