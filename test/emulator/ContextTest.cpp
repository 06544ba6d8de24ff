// A thread's current context: what it is, and what does not work without one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/DriverCalls.h"
#include "test/emulator/Kernels.h"

#include <thread>

namespace tfc::emulator {
namespace {

/// A thread's context is the one that it pushed last, or set.
TEST_F(Driver, ContextsAreAThreadsStack) {
  begin("");
  void *current = nullptr, *popped = nullptr;
  EXPECT_EQ(call("cuCtxGetCurrent", &current), CudaSuccess);
  EXPECT_EQ(current, context);
  EXPECT_EQ(call("cuCtxPushCurrent", (void *)&popped), CudaInvalidContext);
  EXPECT_EQ(call("cuCtxPushCurrent", context), CudaSuccess);
  EXPECT_EQ(call("cuCtxPopCurrent", &popped), CudaSuccess);
  EXPECT_EQ(popped, context);
  call("cuStreamDestroy", stream);
  EXPECT_EQ(call("cuCtxSetCurrent", (void *)nullptr), CudaSuccess);
  EXPECT_EQ(call("cuCtxGetCurrent", &current), CudaSuccess);
  EXPECT_EQ(current, nullptr);
  EXPECT_EQ(call("cuCtxPopCurrent", &popped), CudaInvalidContext);
  EXPECT_EQ(call("cuCtxSetCurrent", context), CudaSuccess);
  EXPECT_EQ(call("cuCtxSetCurrent", context), CudaSuccess);
  EXPECT_EQ(call("cuCtxPopCurrent", &popped), CudaSuccess);
  EXPECT_EQ(call("cuCtxPopCurrent", &popped), CudaInvalidContext);
  EXPECT_EQ(call("cuDevicePrimaryCtxRelease", 0), CudaSuccess);
  EXPECT_EQ(call("cuCtxPushCurrent", context), CudaInvalidContext);
  begin("");
}

/// Of two devices the current context says which one a call is about, and what
/// is one's is not the other's.
TEST_F(Driver, DevicesAreApart) {
  begin("devices=2");
  void *other = nullptr, *popped = nullptr, *module = nullptr,
       *kernel = nullptr;
  ASSERT_EQ(call("cuDevicePrimaryCtxRetain", &other, 1), CudaSuccess);
  EXPECT_NE(other, context);
  EXPECT_EQ(call("cuDevicePrimaryCtxRetain", &popped, 2), CudaInvalidDevice);
  std::string ptx = entryOf("");
  const auto *image = static_cast<const void *>(ptx.c_str());
  ASSERT_EQ(call("cuModuleLoadDataEx", &module, image, 0U, (int *)nullptr,
                 (void **)nullptr),
            CudaSuccess);
  ASSERT_EQ(call("cuModuleGetFunction", &kernel, module, "k"), CudaSuccess);
  uint64_t first = allocate(64);
  ASSERT_EQ(call("cuCtxPushCurrent", other), CudaSuccess);
  uint64_t second = allocate(64);
  void *stream = nullptr, *params[] = {&second, &second};
  ASSERT_EQ(call("cuStreamCreate", &stream, 1U), CudaSuccess);
  EXPECT_EQ(call("cuMemFree", first), CudaInvalidValue);
  EXPECT_EQ(call("cuStreamSynchronize", this->stream), CudaInvalidHandle);
  EXPECT_EQ(call("cuLaunchKernel", kernel, 1U, 1U, 1U, 1U, 1U, 1U, 0U, stream,
                 (void **)params, (void **)nullptr),
            CudaInvalidHandle);
  EXPECT_EQ(call("cuMemcpyDtoDAsync", second, first, size_t(64), stream),
            CudaSuccess);
  EXPECT_EQ(call("cuStreamSynchronize", stream), CudaIllegalAddress);
  EXPECT_EQ(call("cuStreamDestroy", stream), CudaSuccess);
  EXPECT_EQ(call("cuMemFree", second), CudaIllegalAddress); // it is dead
  EXPECT_EQ(call("cuCtxPopCurrent", &popped), CudaSuccess);
  EXPECT_EQ(popped, other);
  EXPECT_EQ(call("cuDevicePrimaryCtxRelease", 1), CudaSuccess);
  // The first one lives.
  EXPECT_EQ(synchronize(), CudaSuccess);
  EXPECT_EQ(call("cuModuleUnload", module), CudaSuccess);
  EXPECT_EQ(call("cuMemFree", first), CudaSuccess);
}

/// What a program that forgot to push its context would be told, in a thread
/// that has none; another thread's is not its own.
TEST_F(Driver, CallsWithoutAContextFail) {
  begin("");
  uint64_t device = allocate(64);
  void *memory = nullptr, *module = nullptr, *kernel = nullptr, *made = nullptr;
  void *event = nullptr;
  std::string ptx = entryOf("");
  const auto *image = static_cast<const void *>(ptx.c_str());
  auto load = [&] {
    return call("cuModuleLoadDataEx", &module, image, 0U, (int *)nullptr,
                (void **)nullptr);
  };
  ASSERT_EQ(load(), CudaSuccess);
  ASSERT_EQ(call("cuModuleGetFunction", &kernel, module, "k"), CudaSuccess);
  ASSERT_EQ(call("cuMemHostAlloc", &memory, size_t(64), 0U), CudaSuccess);
  ASSERT_EQ(call("cuEventCreate", &event, 0U), CudaSuccess);
  auto callAll = [&] {
    size_t free = 0, total = 0;
    float milliseconds = 0;
    uint64_t address = 0;
    void *found = nullptr;
    const auto *from = static_cast<const void *>(memory);
    void *params[] = {&device, &device};
    unsigned char byte = 0;
    return std::vector<int>{
        call("cuMemAlloc", &address, size_t(8)),
        call("cuMemFree", device),
        call("cuMemGetInfo", &free, &total),
        call("cuMemHostAlloc", &made, size_t(8), 0U),
        call("cuMemFreeHost", memory),
        call("cuStreamCreate", &made, 1U),
        call("cuStreamDestroy", stream),
        call("cuStreamSynchronize", stream),
        call("cuMemcpyHtoDAsync", device, from, size_t(8), stream),
        call("cuMemcpyDtoHAsync", memory, device, size_t(8), stream),
        call("cuMemcpyDtoDAsync", device, device + 8, size_t(8), stream),
        call("cuMemsetD8Async", device, byte, size_t(8), stream),
        call("cuMemsetD32Async", device, 0U, size_t(2), stream),
        load(),
        call("cuModuleGetFunction", &found, module, "k"),
        call("cuModuleUnload", module),
        call("cuFuncSetAttribute", kernel, int(MostDynamicSharedBytes), 8),
        call("cuLaunchKernel", kernel, 1U, 1U, 1U, 1U, 1U, 1U, 0U, stream,
             (void **)params, (void **)nullptr),
        call("cuEventCreate", &made, 0U),
        call("cuEventRecord", event, stream),
        call("cuEventElapsedTime", &milliseconds, event, event),
        call("cuEventDestroy", event)};
  };
  std::vector<int> results;
  std::thread([&] { results = callAll(); }).join();
  EXPECT_EQ(results, std::vector<int>(22, CudaInvalidContext));
  // Nothing has happened to what this thread has.
  EXPECT_EQ(synchronize(), CudaSuccess);
  EXPECT_EQ(call("cuEventDestroy", event), CudaSuccess);
  EXPECT_EQ(call("cuModuleUnload", module), CudaSuccess);
  EXPECT_EQ(call("cuMemFreeHost", memory), CudaSuccess);
  EXPECT_EQ(call("cuMemFree", device), CudaSuccess);
}

} // namespace
} // namespace tfc::emulator
