// The words of CUDA's driver interface as this stand-in uses them, from its
// public documentation: results, attributes, structs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_DRIVERTYPES_H
#define TFC_TEST_EMULATOR_DRIVERTYPES_H

#include <cstddef>
#include <cstdint>

namespace tfc::emulator {

enum CudaResult : int {
  CudaSuccess = 0,
  CudaInvalidValue = 1,
  CudaOutOfMemory = 2,
  CudaNotInitialized = 3,
  CudaNoDevice = 100,
  CudaInvalidDevice = 101,
  CudaInvalidContext = 201,
  CudaNoBinaryForGpu = 209,
  CudaInvalidPtx = 218,
  CudaInvalidHandle = 400,
  CudaIllegalState = 401,
  CudaNotFound = 500,
  CudaNotReady = 600,
  CudaIllegalAddress = 700,
  CudaMisalignedAddress = 716,
  CudaLaunchFailed = 719,
  CudaCaptureUnsupported = 900,
  CudaCaptureInvalidated = 901,
  CudaCaptureWrongThread = 908,
  CudaUnknown = 999
};

enum DeviceAttribute : int {
  MaxThreadsPerBlock = 1,
  MaxSharedMemoryPerBlock = 8,
  MultiprocessorCount = 16,
  UnifiedAddressing = 41,
  CapabilityMajor = 75,
  CapabilityMinor = 76,
  VirtualMemorySupported = 102
};

enum FunctionAttribute : int { MostDynamicSharedBytes = 8 };

/// Whose calls that no capture may have are errors while a stream is captured.
enum CaptureMode : int { OfAllThreads = 0, OfTheThread = 1, OfNobody = 2 };

enum JitOption : int { JitErrorLog = 5, JitErrorLogBytes = 6 };

struct LaunchAttribute {
  int id, reserved;
  union {
    int isAllowed;
    char bytes[64];
  } value;
};
enum LaunchAttributeId : int { LaunchOverlaps = 6 };

struct LaunchConfig {
  unsigned grid[3], block[3], sharedBytes;
  void *stream;
  const LaunchAttribute *attributes;
  unsigned numAttributes;
};

struct MemoryLocation {
  int type; // 1: a device
  int id;
};

struct AllocationProperties {
  int type; // 1: pinned
  int requestedHandleTypes;
  MemoryLocation location;
  void *win32;
  struct {
    unsigned char compressionType, gpuDirectRdmaCapable;
    unsigned short usage;
    unsigned char reserved[4];
  } flags;
};

struct AccessDescription {
  MemoryLocation location;
  int flags; // 3: read and write
};

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_DRIVERTYPES_H
