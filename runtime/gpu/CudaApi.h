// CUDA's driver interface as far as this runtime uses it: own declarations of
// version 12.0, by the facts of its public documentation. A test compares them
// with cuda.h where that is there.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_GPU_CUDAAPI_H
#define TFC_RUNTIME_GPU_CUDAAPI_H

#include <cstddef>
#include <cstdint>

namespace tfc::rt::cuda {

/// The version whose functions are asked for: the oldest driver that is good.
constexpr int apiVersion = 12000;

using Result = int; // CUresult
using DeviceNumber = int;
using Address = unsigned long long; // CUdeviceptr
using Handle = unsigned long long;  // CUmemGenericAllocationHandle
using Context = void *;
using ModuleHandle = void *;
using Function = void *;
using StreamHandle = void *;
using Event = void *;
using Graph = void *;     // as it was captured
using GraphExec = void *; // as it is launched

enum : Result { Success = 0, OutOfMemory = 2 };

/// After these a process can do nothing more on a device: what cuda.h says so
/// of, an error of the hardware, or one without a known cause.
constexpr Result stickyResults[] = {
    214, // ECC_UNCORRECTABLE
    220, // NVLINK_UNCORRECTABLE
    226, // CONTAINED
    700, // ILLEGAL_ADDRESS
    702, // LAUNCH_TIMEOUT
    709, // CONTEXT_IS_DESTROYED
    710, // ASSERT
    714, // HARDWARE_STACK_ERROR
    715, // ILLEGAL_INSTRUCTION
    716, // MISALIGNED_ADDRESS
    717, // INVALID_ADDRESS_SPACE
    718, // INVALID_PC
    719, // LAUNCH_FAILED
    721, // TENSOR_MEMORY_LEAK
    999, // UNKNOWN
};

enum Attribute : int {
  MultiprocessorCount = 16,
  CapabilityMajor = 75,
  CapabilityMinor = 76
};

enum FunctionAttribute : int { MostDynamicSharedBytes = 8 };

/// What a block gets of shared memory without asking for more.
constexpr unsigned plainSharedBytes = 48U << 10;

enum JitOption : int { JitErrorLog = 5, JitErrorLogBytes = 6 };

enum : unsigned { StreamNonBlocking = 1, EventDefault = 0 };

/// Of a stream that is captured: calls of other threads are not minded.
constexpr int captureOfThread = 1;

struct Location {
  int type; // locationDevice
  int id;
};
constexpr int locationDevice = 1, allocationPinned = 1, accessReadWrite = 3;
constexpr int granularityMinimum = 0;

struct AllocationProperties {
  int type; // allocationPinned
  int requestedHandleTypes;
  Location location;
  void *win32HandleMetaData;
  struct {
    unsigned char compressionType, gpuDirectRDMACapable;
    unsigned short usage;
    unsigned char reserved[4];
  } flags;
};

struct AccessDescription {
  Location location;
  int flags; // accessReadWrite
};

/// Of a launch: whether it may begin before the one in front of it has ended.
struct LaunchAttribute {
  int id; // launchOverlaps
  int reserved;
  union {
    int isAllowed;
    char bytes[64];
  } value;
};
constexpr int launchOverlaps = 6;

struct LaunchConfig {
  unsigned grid[3], block[3], sharedBytes;
  StreamHandle stream;
  LaunchAttribute *attributes;
  unsigned numAttributes;
};

/// Every function: its name without a version, and its parameters.
#define TFC_CUDA_FUNCTIONS(X)                                                  \
  X(cuInit, (unsigned))                                                        \
  X(cuDriverGetVersion, (int *))                                               \
  X(cuDeviceGetCount, (int *))                                                 \
  X(cuDeviceGet, (DeviceNumber *, int))                                        \
  X(cuDeviceGetName, (char *, int, DeviceNumber))                              \
  X(cuDeviceGetAttribute, (int *, Attribute, DeviceNumber))                    \
  X(cuDevicePrimaryCtxRetain, (Context *, DeviceNumber))                       \
  X(cuDevicePrimaryCtxRelease, (DeviceNumber))                                 \
  X(cuCtxPushCurrent, (Context))                                               \
  X(cuCtxPopCurrent, (Context *))                                              \
  X(cuGetErrorName, (Result, const char **))                                   \
  X(cuGetErrorString, (Result, const char **))                                 \
  X(cuModuleLoadDataEx,                                                        \
    (ModuleHandle *, const void *, unsigned, JitOption *, void **))            \
  X(cuModuleUnload, (ModuleHandle))                                            \
  X(cuModuleGetFunction, (Function *, ModuleHandle, const char *))             \
  X(cuFuncSetAttribute, (Function, FunctionAttribute, int))                    \
  X(cuMemAlloc, (Address *, size_t))                                           \
  X(cuMemFree, (Address))                                                      \
  X(cuMemGetInfo, (size_t *, size_t *))                                        \
  X(cuMemHostAlloc, (void **, size_t, unsigned))                               \
  X(cuMemFreeHost, (void *))                                                   \
  X(cuMemGetAllocationGranularity,                                             \
    (size_t *, const AllocationProperties *, int))                             \
  X(cuMemAddressReserve,                                                       \
    (Address *, size_t, size_t, Address, unsigned long long))                  \
  X(cuMemAddressFree, (Address, size_t))                                       \
  X(cuMemCreate,                                                               \
    (Handle *, size_t, const AllocationProperties *, unsigned long long))      \
  X(cuMemRelease, (Handle))                                                    \
  X(cuMemMap, (Address, size_t, size_t, Handle, unsigned long long))           \
  X(cuMemSetAccess, (Address, size_t, const AccessDescription *, size_t))      \
  X(cuMemUnmap, (Address, size_t))                                             \
  X(cuMemcpyHtoDAsync, (Address, const void *, size_t, StreamHandle))          \
  X(cuMemcpyDtoHAsync, (void *, Address, size_t, StreamHandle))                \
  X(cuMemcpyDtoDAsync, (Address, Address, size_t, StreamHandle))               \
  X(cuMemsetD32Async, (Address, unsigned, size_t, StreamHandle))               \
  X(cuEventCreate, (Event *, unsigned))                                        \
  X(cuEventDestroy, (Event))                                                   \
  X(cuEventRecord, (Event, StreamHandle))                                      \
  X(cuEventElapsedTime, (float *, Event, Event))                               \
  X(cuStreamCreate, (StreamHandle *, unsigned))                                \
  X(cuStreamDestroy, (StreamHandle))                                           \
  X(cuStreamSynchronize, (StreamHandle))                                       \
  X(cuLaunchKernelEx, (const LaunchConfig *, Function, void **, void **))      \
  X(cuStreamBeginCapture, (StreamHandle, int))                                 \
  X(cuStreamEndCapture, (StreamHandle, Graph *))                               \
  X(cuGraphInstantiateWithFlags, (GraphExec *, Graph, unsigned long long))     \
  X(cuGraphLaunch, (GraphExec, StreamHandle))                                  \
  X(cuGraphDestroy, (Graph))                                                   \
  X(cuGraphExecDestroy, (GraphExec))

/// The functions of a driver that has been opened.
struct Functions {
#define TFC_CUDA_MEMBER(name, parameters) Result(*name) parameters = nullptr;
  TFC_CUDA_FUNCTIONS(TFC_CUDA_MEMBER)
#undef TFC_CUDA_MEMBER
};

/// cuGetProcAddress_v2, which gives the others.
using GetProcAddress = Result (*)(const char *, void **, int,
                                  unsigned long long, int *);

} // namespace tfc::rt::cuda

#endif // TFC_RUNTIME_GPU_CUDAAPI_H
