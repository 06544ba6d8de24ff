// The driver's functions by name, and a test's driver: begun, with a context
// and a stream.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_DRIVERCALLS_H
#define TFC_TEST_EMULATOR_DRIVERCALLS_H

#include "test/emulator/DriverTypes.h"

#include <cstdlib>
#include <gtest/gtest.h>

extern "C" int cuGetProcAddress_v2(const char *symbol, void **function,
                                   int version, uint64_t flags, int *status);

namespace tfc::emulator {
/// Calls a function of the driver by name.
template <typename... Ts> int call(const char *name, Ts... arguments) {
  void *function = nullptr;
  int status = -1;
  EXPECT_EQ(cuGetProcAddress_v2(name, &function, 12000, 0, &status), 0) << name;
  return reinterpret_cast<int (*)(Ts...)>(function)(arguments...);
}

/// A driver that has begun, with a context and a stream.
class Driver : public testing::Test {
protected:
  void begin(const char *settings) {
    setenv("TFC_FAKECUDA", settings, 1);
    ASSERT_EQ(call("cuInit", 0U), CudaSuccess);
    ASSERT_EQ(call("cuDevicePrimaryCtxRetain", &context, 0), CudaSuccess);
    ASSERT_EQ(call("cuCtxPushCurrent", context), CudaSuccess);
    ASSERT_EQ(call("cuStreamCreate", &stream, 1U), CudaSuccess);
  }
  void TearDown() override {
    call("cuStreamDestroy", stream);
    call("cuCtxPopCurrent", &context);
    call("cuDevicePrimaryCtxRelease", 0);
    unsetenv("TFC_FAKECUDA");
  }
  uint64_t allocate(size_t bytes) {
    uint64_t address = 0;
    EXPECT_EQ(call("cuMemAlloc", &address, bytes), CudaSuccess);
    return address;
  }
  int synchronize() { return call("cuStreamSynchronize", stream); }

  void *context = nullptr, *stream = nullptr;
};

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_DRIVERCALLS_H
