// The driver's functions, as a program calls them: late streams, pinned memory,
// variables of modules, failures on request.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/DriverCalls.h"
#include "test/emulator/FakeDevice.h"
#include "test/emulator/Kernels.h"

namespace tfc::emulator {
namespace {

TEST_F(Driver, EventsAreReachedWithTheWorkBeforeThem) {
  begin("");
  uint64_t device = allocate(64);
  void *first = nullptr, *last = nullptr;
  ASSERT_EQ(call("cuEventCreate", &first, 0U), CudaSuccess);
  ASSERT_EQ(call("cuEventCreate", &last, 0U), CudaSuccess);
  float milliseconds = -1;
  EXPECT_EQ(call("cuEventRecord", first, stream), CudaSuccess);
  EXPECT_EQ(call("cuMemsetD32Async", device, 0x01020304U, size_t(16), stream),
            CudaSuccess);
  EXPECT_EQ(call("cuEventRecord", last, stream), CudaSuccess);
  EXPECT_EQ(call("cuEventElapsedTime", &milliseconds, first, last),
            CudaNotReady);
  EXPECT_EQ(synchronize(), CudaSuccess);
  EXPECT_EQ(call("cuEventElapsedTime", &milliseconds, first, last),
            CudaSuccess);
  EXPECT_GE(milliseconds, 0);
  uint32_t word = 0;
  EXPECT_EQ(
      call("cuMemcpyDtoHAsync", (void *)&word, device + 60, size_t(4), stream),
      CudaSuccess);
  EXPECT_EQ(word, 0x01020304U);
  EXPECT_EQ(call("cuEventDestroy", first), CudaSuccess);
  EXPECT_EQ(call("cuEventDestroy", last), CudaSuccess);
  EXPECT_EQ(call("cuMemFree", device), CudaSuccess);
}

TEST_F(Driver, WorkIsDoneWhenSomebodyWaits) {
  begin("");
  uint64_t device = allocate(4);
  void *memory = nullptr;
  ASSERT_EQ(call("cuMemHostAlloc", &memory, size_t(8), 0U), CudaSuccess);
  auto *pinned = static_cast<int *>(memory);
  int plain = 1;
  pinned[0] = 10;
  pinned[1] = -1;
  // What is pinned is read when the copy is done, other memory at once.
  EXPECT_EQ(call("cuMemcpyHtoDAsync", device, (const void *)pinned, size_t(4),
                 stream),
            CudaSuccess);
  pinned[0] = 11;
  EXPECT_EQ(call("cuMemcpyDtoHAsync", (void *)(pinned + 1), device, size_t(4),
                 stream),
            CudaSuccess);
  EXPECT_EQ(pinned[1], -1) << "too early";
  EXPECT_EQ(call("cuMemcpyHtoDAsync", device, (const void *)&plain, size_t(4),
                 stream),
            CudaSuccess);
  plain = 2;
  EXPECT_EQ(synchronize(), CudaSuccess);
  EXPECT_EQ(pinned[1], 11);
  EXPECT_EQ(FakeDevice::current().memory.used(), 4U);
  int back = 0;
  EXPECT_EQ(call("cuMemcpyDtoHAsync", (void *)&back, device, size_t(4), stream),
            CudaSuccess);
  EXPECT_EQ(back, 1);
  EXPECT_EQ(call("cuMemFree", device), CudaSuccess);
  EXPECT_EQ(call("cuMemFreeHost", memory), CudaSuccess);
}

TEST_F(Driver, LaunchesCopyTheirParametersAndModulesTheirVariables) {
  begin("");
  uint64_t to = allocate(8);
  void *module = nullptr, *kernel = nullptr;
  std::string ptx = entryOf("mov.b64 %d1, table;\n"
                            "ld.global.b32 %r1, [%d1+4];\n"
                            "cvt.u32.u64 %r2, %from;\n"
                            "st.global.v2.b32 [%to], {%r1, %r2};",
                            ".global .align 4 .b32 table[3] = {5, 0x7, -1};\n");
  ASSERT_EQ(call("cuModuleLoadDataEx", &module, (const void *)ptx.c_str(), 0U,
                 (int *)nullptr, (void **)nullptr),
            CudaSuccess);
  EXPECT_EQ(call("cuModuleGetFunction", &kernel, module, "nothing"),
            CudaNotFound);
  ASSERT_EQ(call("cuModuleGetFunction", &kernel, module, "k"), CudaSuccess);
  uint64_t from = 3;
  void *params[] = {&to, &from};
  auto launch = [&](unsigned grid, unsigned threads) {
    return call("cuLaunchKernel", kernel, grid, 1U, 1U, threads, 1U, 1U, 0U,
                stream, (void **)params, (void **)nullptr);
  };
  EXPECT_EQ(launch(0, 1), CudaInvalidValue);
  EXPECT_EQ(launch(1, 1025), CudaInvalidValue);
  EXPECT_EQ(launch(1, 1), CudaSuccess);
  from = 4;
  EXPECT_EQ(synchronize(), CudaSuccess);
  int got[2] = {};
  EXPECT_EQ(call("cuMemcpyDtoHAsync", (void *)got, to, size_t(8), stream),
            CudaSuccess);
  EXPECT_EQ(got[0], 7);
  EXPECT_EQ(got[1], 3);
  EXPECT_EQ(call("cuModuleUnload", module), CudaSuccess);
  EXPECT_EQ(call("cuMemFree", to), CudaSuccess);
}

TEST_F(Driver, MoreSharedMemoryHasToBeAskedFor) {
  begin("");
  void *module = nullptr, *kernel = nullptr;
  std::string ptx =
      entryOf("mov.b64 %d1, many;\nst.shared.b32 [%d1+81916], 7;\n"
              "ld.shared.b32 %r1, [%d1+81916];\nst.global.b32 [%to], %r1;",
              ".extern .shared .align 16 .b8 many[];\n");
  ASSERT_EQ(call("cuModuleLoadDataEx", &module, (const void *)ptx.c_str(), 0U,
                 (int *)nullptr, (void **)nullptr),
            CudaSuccess);
  ASSERT_EQ(call("cuModuleGetFunction", &kernel, module, "k"), CudaSuccess);
  uint64_t to = allocate(4);
  void *params[] = {&to, &to};
  auto launch = [&](unsigned bytes) {
    return call("cuLaunchKernel", kernel, 1U, 1U, 1U, 1U, 1U, 1U, bytes, stream,
                (void **)params, (void **)nullptr);
  };
  auto allow = [&](int bytes) {
    return call("cuFuncSetAttribute", kernel, int(MostDynamicSharedBytes),
                bytes);
  };
  EXPECT_EQ(launch(81920), CudaInvalidValue);
  EXPECT_EQ(allow(100 << 10), CudaInvalidValue);
  EXPECT_EQ(allow(81920), CudaSuccess);
  EXPECT_EQ(launch(81921), CudaInvalidValue);
  EXPECT_EQ(launch(81920), CudaSuccess);
  EXPECT_EQ(synchronize(), CudaSuccess);
  int got = 0;
  EXPECT_EQ(call("cuMemcpyDtoHAsync", (void *)&got, to, size_t(4), stream),
            CudaSuccess);
  EXPECT_EQ(got, 7);
  EXPECT_EQ(call("cuModuleUnload", module), CudaSuccess);
  EXPECT_EQ(call("cuMemFree", to), CudaSuccess);
}

TEST_F(Driver, RefusesImagesAndSaysWhy) {
  begin("capability=75");
  void *module = nullptr;
  char log[200] = "";
  int options[] = {JitErrorLog, JitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  auto load = [&](const std::string &image) {
    return call("cuModuleLoadDataEx", &module, (const void *)image.c_str(), 2U,
                (int *)options, (void **)values);
  };
  EXPECT_EQ(load("\177ELF"), CudaNoBinaryForGpu);
  EXPECT_EQ(load("nonsense"), CudaInvalidPtx);
  EXPECT_STREQ(log, "line 1: expected a known directive, got nonsense");
  EXPECT_EQ(load(entryOf("")), CudaInvalidPtx);
  EXPECT_STREQ(log, "the PTX is for another device");
}

TEST_F(Driver, FailsWhereItIsAskedTo) {
  begin("fail=cuMemAlloc:2,fail=cuStreamSynchronize:1:719,memory=100");
  uint64_t address = 0;
  EXPECT_EQ(call("cuMemAlloc", &address, size_t(8)), CudaSuccess);
  uint64_t second = 0;
  EXPECT_EQ(call("cuMemAlloc", &second, size_t(8)), CudaOutOfMemory);
  EXPECT_EQ(call("cuMemAlloc", &second, size_t(93)), CudaOutOfMemory);
  EXPECT_EQ(synchronize(), CudaLaunchFailed);
  EXPECT_EQ(call("cuMemFree", address), CudaSuccess);
  EXPECT_EQ(readSettings("memory=1,colour=red").fault,
            "TFC_FAKECUDA: expected fail, capability, devices, driver, "
            "memory, seed, races, counters, wave or replace, got colour");
}

TEST_F(Driver, AFaultOfAKernelKillsTheDevice) {
  begin("");
  void *module = nullptr, *kernel = nullptr;
  std::string ptx = entryOf("st.global.b32 [%to], 1;");
  ASSERT_EQ(call("cuModuleLoadDataEx", &module, (const void *)ptx.c_str(), 0U,
                 (int *)nullptr, (void **)nullptr),
            CudaSuccess);
  ASSERT_EQ(call("cuModuleGetFunction", &kernel, module, "k"), CudaSuccess);
  uint64_t nowhere = 64;
  void *params[] = {&nowhere, &nowhere};
  EXPECT_EQ(call("cuLaunchKernel", kernel, 1U, 1U, 1U, 1U, 1U, 1U, 0U, stream,
                 (void **)params, (void **)nullptr),
            CudaSuccess);
  EXPECT_EQ(synchronize(), CudaIllegalAddress);
  uint64_t address = 0;
  EXPECT_EQ(call("cuMemAlloc", &address, size_t(8)), CudaIllegalAddress);
  const char *text = nullptr;
  EXPECT_EQ(call("cuGetErrorString", int(CudaIllegalAddress), &text), 0);
  EXPECT_NE(std::string(text).find("kernel k, block 0, thread 0"),
            std::string::npos);
  EXPECT_EQ(call("cuModuleUnload", module), CudaSuccess);
}

// Work of two streams on one word: in order only where the host waits between.
TEST_F(Driver, StreamsThatNobodyOrdersAreARace) {
  for (bool waits : {true, false}) {
    begin("seed=3");
    void *other = nullptr;
    ASSERT_EQ(call("cuStreamCreate", &other, 1U), CudaSuccess);
    uint64_t address = allocate(8);
    unsigned char value = 1;
    EXPECT_EQ(call("cuMemsetD8Async", address, value, size_t(8), stream),
              CudaSuccess);
    if (waits) {
      EXPECT_EQ(synchronize(), CudaSuccess);
    }
    EXPECT_EQ(call("cuMemsetD8Async", address, value, size_t(8), other),
              CudaSuccess);
    int first = call("cuStreamSynchronize", other);
    int second = synchronize();
    EXPECT_EQ(first == CudaSuccess && second == CudaSuccess, waits);
    call("cuMemFree", address);
    call("cuStreamDestroy", other);
    TearDown();
  }
  begin("");
}

TEST_F(Driver, GivesOnlyWhatItKnows) {
  begin("");
  void *function = nullptr;
  EXPECT_EQ(cuGetProcAddress_v2("cuNothing", &function, 12000, 0, nullptr),
            CudaNotFound);
  EXPECT_EQ(function, nullptr);
}

} // namespace
} // namespace tfc::emulator
