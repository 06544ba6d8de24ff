// Streams that are captured: nothing is done until the graph is launched, as
// often as it is; and what no capture may have.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/DriverCalls.h"
#include "test/emulator/FakeDevice.h"
#include "test/emulator/Kernels.h"

#include <thread>

namespace tfc::emulator {
namespace {

class Graphs : public Driver {
protected:
  void SetUp() override {
    begin("");
    memory = allocate(8);
    ASSERT_EQ(call("cuMemsetD32Async", memory, 5U, size_t(2), stream),
              CudaSuccess);
    std::string ptx = entryOf("ld.global.b32 %r1, [%to];\n"
                              "add.s32 %r1, %r1, 1;\n"
                              "st.global.b32 [%to], %r1;");
    ASSERT_EQ(call("cuModuleLoadDataEx", &module, (const void *)ptx.c_str(), 0U,
                   (int *)nullptr, (void **)nullptr),
              CudaSuccess);
    ASSERT_EQ(call("cuModuleGetFunction", &kernel, module, "k"), CudaSuccess);
  }
  void TearDown() override {
    call("cuModuleUnload", module);
    call("cuMemFree", memory);
    Driver::TearDown();
  }

  int beginCapture(int mode = OfTheThread) {
    return call("cuStreamBeginCapture", stream, mode);
  }
  int endCapture() { return call("cuStreamEndCapture", stream, &graph); }
  int addOne() {
    uint64_t nothing = 0;
    void *params[] = {&memory, &nothing};
    return call("cuLaunchKernel", kernel, 1U, 1U, 1U, 1U, 1U, 1U, 0U, stream,
                (void **)params, (void **)nullptr);
  }
  int read() {
    int value = 0;
    EXPECT_EQ(
        call("cuMemcpyDtoHAsync", (void *)&value, memory, size_t(4), stream),
        CudaSuccess);
    return value;
  }

  uint64_t memory = 0;
  void *module = nullptr, *kernel = nullptr, *graph = nullptr;
};

TEST_F(Graphs, DoWhatWasCapturedEachTime) {
  ASSERT_EQ(beginCapture(), CudaSuccess);
  EXPECT_EQ(addOne(), CudaSuccess);
  EXPECT_EQ(addOne(), CudaSuccess);
  ASSERT_EQ(endCapture(), CudaSuccess);
  EXPECT_EQ(read(), 5) << "it was not launched";
  void *launchable = nullptr;
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &launchable, graph, 0ULL),
            CudaSuccess);
  EXPECT_EQ(call("cuGraphDestroy", graph), CudaSuccess);
  EXPECT_EQ(call("cuGraphDestroy", graph), CudaInvalidHandle);
  EXPECT_EQ(call("cuGraphLaunch", launchable, stream), CudaSuccess);
  EXPECT_EQ(addOne(), CudaSuccess);
  EXPECT_EQ(call("cuGraphLaunch", launchable, stream), CudaSuccess);
  // What was launched is done, whatever becomes of the graph.
  EXPECT_EQ(call("cuGraphExecDestroy", launchable), CudaSuccess);
  EXPECT_EQ(read(), 10);
  EXPECT_EQ(call("cuGraphLaunch", launchable, stream), CudaInvalidHandle);
  EXPECT_EQ(call("cuGraphExecDestroy", launchable), CudaInvalidHandle);
}

TEST_F(Graphs, AreOfNoCallsThatWait) {
  int word = 0;
  auto ofPlainMemory = [&] {
    return call("cuMemcpyHtoDAsync", memory, (const void *)&word, size_t(4),
                stream);
  };
  uint64_t other = 0;
  void *pinned = nullptr;
  std::function<int()> calls[] = {
      [&] { return call("cuStreamSynchronize", stream); },
      ofPlainMemory,
      [&] { return call("cuMemAlloc", &other, size_t(4)); },
      [&] { return call("cuMemHostAlloc", &pinned, size_t(4), 0U); },
      [&] { return call("cuMemFree", memory); },
      [&] { return call("cuModuleUnload", module); }};
  for (const auto &each : calls) {
    ASSERT_EQ(beginCapture(), CudaSuccess);
    EXPECT_EQ(addOne(), CudaSuccess);
    EXPECT_EQ(each(), CudaCaptureUnsupported);
    EXPECT_EQ(endCapture(), CudaCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(read(), 5);
  }
  // The same calls of another thread are minded by a capture of all alone.
  for (int mode : {OfTheThread, OfAllThreads}) {
    ASSERT_EQ(beginCapture(mode), CudaSuccess);
    int result = CudaSuccess;
    std::thread([&] {
      void *popped = nullptr;
      call("cuCtxPushCurrent", context);
      result = call("cuMemAlloc", &other, size_t(4));
      call("cuCtxPopCurrent", &popped);
    }).join();
    bool isMinded = mode == OfAllThreads;
    EXPECT_EQ(result, isMinded ? CudaCaptureUnsupported : CudaSuccess);
    EXPECT_EQ(endCapture(), isMinded ? CudaCaptureInvalidated : CudaSuccess);
    if (!isMinded) {
      EXPECT_EQ(call("cuGraphDestroy", graph), CudaSuccess);
      EXPECT_EQ(call("cuMemFree", other), CudaSuccess);
    }
  }
}

TEST_F(Graphs, AreOfOneThreadsCapture) {
  EXPECT_EQ(endCapture(), CudaIllegalState);
  EXPECT_EQ(beginCapture(7), CudaInvalidValue);
  ASSERT_EQ(beginCapture(), CudaSuccess);
  EXPECT_EQ(beginCapture(), CudaIllegalState);
  int result = CudaSuccess;
  std::thread([&] {
    void *popped = nullptr;
    call("cuCtxPushCurrent", context);
    result = endCapture();
    call("cuCtxPopCurrent", &popped);
  }).join();
  EXPECT_EQ(result, CudaCaptureWrongThread);
  EXPECT_EQ(endCapture(), CudaSuccess);
  void *launchable = nullptr;
  EXPECT_EQ(call("cuGraphInstantiateWithFlags", &launchable, graph, 1ULL),
            CudaInvalidValue);
  EXPECT_EQ(call("cuGraphDestroy", graph), CudaSuccess);
  EXPECT_EQ(call("cuGraphInstantiateWithFlags", &launchable, graph, 0ULL),
            CudaInvalidHandle);
}

} // namespace
} // namespace tfc::emulator
