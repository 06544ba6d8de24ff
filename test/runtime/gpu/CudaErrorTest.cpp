// What goes wrong with a device, and what is said then.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/session/Session.h"
#include "test/runtime/gpu/FakeCuda.h"

namespace tfc::rt::test {
namespace {

const Padded prompt{1, 3, {7, 8, 9}, {}, {}, {}};

/// Of loading the toy decoder and running it once; "" when nothing is wrong.
std::string faultOf(const std::string &variant, const std::string &program) {
  auto model = loadCuda(variant, FakeWeights(1), program);
  if (!model) {
    return messageOf(model);
  }
  return messageOf(forward(**model, prompt));
}

void expectContains(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos)
      << '"' << text << "\" without \"" << part << '"';
}

TEST(CudaErrors, NamesTheDriverThatIsNotThere) {
  FakeCuda driver("", "nowhere.so");
  std::string fault = faultOf("cuda_decoder", "cuda");
  expectContains(fault, ": expected a CUDA driver (nowhere.so), got: ");
  expectContains(fault, "; this library also has plain");
  EXPECT_EQ(faultOf("cuda_decoder", "cpu"), "");
}

TEST(CudaErrors, RefusesALibraryThatIsNoDriver) {
  FakeCuda driver("", OTHER_LIBRARY);
  expectContains(faultOf("cuda_decoder", "cuda"),
                 "of version 12.0 or later, got one without "
                 "cuGetProcAddress_v2; this library also has plain");
}

TEST(CudaErrors, RefusesOldDrivers) {
  FakeCuda driver("driver=11080");
  expectContains(faultOf("cuda_decoder", "fake-sm_80"),
                 "of version 12.0 or later, got 11.8; this library also has "
                 "plain");
}

TEST(CudaErrors, WantsADevice) {
  FakeCuda driver("devices=0");
  expectContains(faultOf("cuda_decoder", "cuda"),
                 "expected a CUDA device, got expected cuInit to begin, got "
                 "error 100 (CUDA_ERROR_NO_DEVICE: no CUDA-capable device is "
                 "detected)");
}

TEST(CudaErrors, WantsTheDeviceThatIsNamed) {
  FakeCuda driver("devices=2");
  EXPECT_EQ(faultOf("cuda_decoder", "cuda:1"), "");
  expectContains(faultOf("cuda_decoder", "cuda:2"),
                 "expected CUDA device 2 (the first one is 0), got 2 devices; "
                 "this library also has plain");
  for (const char *name : {"cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999"}) {
    expectContains(
        faultOf("cuda_decoder", name),
        "expected the number of a device behind cuda:, as in cuda:1");
  }
  setenv("TFC_DEVICE", "3", 1);
  std::string beyond = faultOf("cuda_decoder", "cuda");
  std::string named = faultOf("cuda_decoder", "cuda:1");
  setenv("TFC_DEVICE", "first", 1);
  std::string word = faultOf("cuda_decoder", "cuda");
  unsetenv("TFC_DEVICE");
  expectContains(beyond, "expected CUDA device 3");
  EXPECT_EQ(named, "");
  EXPECT_EQ(word, "TFC_DEVICE: expected the number of a device, got \"first\"");
}

TEST(CudaErrors, WantsACapability) {
  FakeCuda driver("capability=75");
  expectContains(faultOf("cuda_decoder", "cuda"),
                 "program \"fake-sm_80\": expected a CUDA device of compute "
                 "capability 8.0 or more, got 7.5");
}

/// The program has a binary, which this driver refuses, and PTX.
TEST(CudaErrors, AvoidsWhatItIsToldTo) {
  FakeCuda driver("fail=cuModuleLoadDataEx:2");
  expectContains(faultOf("cuda_decoder", "cuda"),
                 "cuModuleLoadDataEx to compile PTX, got error 999");
  setenv("TFC_CUDA_AVOID", "cubin", 1);
  EXPECT_EQ(faultOf("cuda_decoder", "cuda"), "");
  setenv("TFC_CUDA_AVOID", "cubin,coffee", 1);
  std::string fault = faultOf("cuda_decoder", "");
  unsetenv("TFC_CUDA_AVOID");
  expectContains(fault, "TFC_CUDA_AVOID: expected names out of cubin, "
                        "spare, graphs with commas between, got \"coffee\"");
}

TEST(CudaErrors, LibrariesWithoutAProgramForIt) {
  FakeCuda driver;
  expectContains(faultOf("cuda_decoder", "nothing"),
                 "expected program \"nothing\", got plain, fake-sm_80");
}

/// The call is counted from when the driver was opened.
TEST(CudaErrors, SaysWhatHadNoMemory) {
  struct Case {
    const char *failure, *message;
  };
  const Case cases[] = {
      {"fail=cuMemAlloc:1", "expected cuMemAlloc to give 1056 bytes, got error "
                            "2 (CUDA_ERROR_OUT_OF_MEMORY: out of memory)"},
      {"fail=cuMemAlloc:2", "expected cuMemAlloc to give "},
      {"fail=cuMemAlloc:3", "expected cuMemAlloc to give "},
      {"fail=cuMemHostAlloc:1", "expected cuMemHostAlloc to give "},
      {"fail=cuMemCreate:1", ""}, // what is needed, no more, is taken
      {"fail=cuMemCreate:1,fail=cuMemCreate:2",
       "expected cuMemCreate to give 4194304 bytes for a cache, got error 2 "
       "(CUDA_ERROR_OUT_OF_MEMORY"},
      {"fail=cuMemAddressReserve:1:1", ""}, // a smaller one is taken
      {"memory=1000", "expected cuMemAlloc to give "},
      {"fail=cuModuleGetFunction:3", "to find kernel fake_attend, got error"},
      {"fail=cuStreamCreate:2", "expected cuStreamCreate to load weights, got"},
      {"fail=cuStreamCreate:3", "expected cuStreamCreate for an engine, got"},
      {"fail=cuMemcpyHtoDAsync:2", "to upload the tables of a step, got"},
      {"fail=cuMemcpyDtoHAsync:1", "to download output 0, got error 999"},
  };
  for (const Case &one : cases) {
    FakeCuda driver(one.failure);
    std::string fault = faultOf("cuda_decoder", "cuda");
    if (*one.message) {
      expectContains(fault, one.message);
    } else {
      EXPECT_EQ(fault, "") << one.failure;
    }
  }
}

/// A copy of tokens fails as one of logits does, and a buffer for them.
TEST(CudaErrors, SaysThatTokensDidNotCome) {
  struct Case {
    const char *failure, *message;
  };
  for (Case one : {Case{"fail=cuMemcpyDtoHAsync:1",
                        "expected cuMemcpyDtoHAsync to download the greatest "
                        "columns of output 1, got error 999"},
                   {"fail=cuMemcpyDtoHAsync:2", "the greatest columns"},
                   {"fail=cuMemcpyDtoHAsync:3", "the greatest columns"}}) {
    FakeCuda driver(one.failure);
    auto model = loadCuda("cuda_chooses", FakeWeights(1), "cuda");
    ASSERT_TRUE(model) << messageOf(model);
    expectContains(
        messageOf(generate(**model, prompt, 4, std::vector<int64_t>())),
        one.message);
  }
}

/// Each call for a graph, the first three times: three sequences, of which each
/// step has fewer, are three graphs.
TEST(CudaErrors, SaysThatAGraphWasNotMade) {
  struct Case {
    const char *function, *message;
  };
  auto faultOfMany = [](const std::string &settings) {
    FakeCuda driver(settings);
    auto model = loadCuda("cuda_chooses", FakeWeights(1), "cuda");
    EXPECT_TRUE(model) << messageOf(model);
    auto session = Session::create(**model, {});
    EXPECT_TRUE(session) << messageOf(session);
    RequestOptions options;
    options.eos.emplace();
    const std::vector<int64_t> tokens = {7, 8};
    for (int64_t count : {4, 7, 10}) {
      EXPECT_TRUE((*session)->add({tokens.data(), 2}, {}, count, options));
    }
    Status status;
    while (status && (*session)->numSequences() > 0) {
      status = (*session)->step();
    }
    return status ? std::string() : status.error().message;
  };
  EXPECT_EQ(faultOfMany(""), "");
  for (Case one :
       {Case{"cuStreamBeginCapture", "cuStreamBeginCapture to capture a step"},
        {"cuStreamEndCapture", "cuStreamEndCapture to capture a step"},
        {"cuGraphInstantiateWithFlags",
         "cuGraphInstantiateWithFlags to make a graph of a step"},
        {"cuGraphLaunch", "cuGraphLaunch to launch the kernels of a step"},
        {"cuGraphDestroy", "cuGraphDestroy to give back what was captured"}}) {
    for (int number = 1; number <= 3; ++number) {
      expectContains(faultOfMany(concat("fail=", one.function, ":", number)),
                     concat("expected ", one.message, ", got error "));
    }
    EXPECT_EQ(faultOfMany(concat("fail=", one.function, ":100")), "");
    setenv("TFC_CUDA_AVOID", "graphs", 1);
    std::string without = faultOfMany(concat("fail=", one.function, ":1"));
    unsetenv("TFC_CUDA_AVOID");
    EXPECT_EQ(without, "");
  }
  // On the way out nobody is told.
  EXPECT_EQ(faultOfMany("fail=cuGraphExecDestroy:1"), "");
}

/// Whichever push of the context fails, the driver's word for it is the error,
/// or it was in vain: on the way out, where nobody is told.
TEST(CudaErrors, SaysThatItGotNoContext) {
  int numNamed = 0;
  for (int call = 1; call <= 40; ++call) {
    FakeCuda driver(concat("fail=cuCtxPushCurrent:", call));
    std::string fault = faultOf("cuda_decoder", "cuda");
    if (!fault.empty()) {
      expectContains(fault,
                     "expected cuCtxPushCurrent to make the device's context "
                     "the thread's, got error 999 (CUDA_ERROR_UNKNOWN: ");
      ++numNamed;
    }
  }
  EXPECT_GE(numNamed, 10);
  FakeCuda driver("fail=cuCtxPushCurrent:1:201");
  expectContains(faultOf("cuda_decoder", "cuda"), "got error 201 (CUDA_ERROR_"
                                                  "INVALID_CONTEXT: ");
}

/// After what the driver calls sticky nothing works, and every step says so.
TEST(CudaErrors, SaysThatADeviceIsDead) {
  FakeCuda driver("fail=cuLaunchKernelEx:2");
  auto model = loadCuda("cuda_decoder", FakeWeights(1), "cuda");
  ASSERT_TRUE(model) << messageOf(model);
  std::string first = messageOf(forward(**model, prompt));
  expectContains(first,
                 ": entry step: expected cuLaunchKernelEx to launch kernel "
                 "fake_write_cache on 1 x 1 x 1 blocks, got error 719 "
                 "(CUDA_ERROR_LAUNCH_FAILED: unspecified launch "
                 "failure); the device is of no use to this process any "
                 "more");
  expectContains(messageOf(forward(**model, prompt)),
                 "expected a device that works, got one that died before: "
                 "expected cuLaunchKernelEx to launch");
}

/// What is about one call alone ends that call; what the hardware did ends all.
TEST(CudaErrors, KnowsWhatEndsAProcess) {
  struct Case {
    int result;
    bool isTheEnd;
  };
  for (Case one : {Case{214, true},
                   {220, true},
                   {226, true},
                   {700, true},
                   {701, false},
                   {704, false},
                   {705, false},
                   {712, false},
                   {713, false},
                   {720, false},
                   {721, true},
                   {800, false},
                   {999, true}}) {
    FakeCuda driver(concat("fail=cuLaunchKernelEx:2:", one.result));
    auto model = loadCuda("cuda_decoder", FakeWeights(1), "cuda");
    ASSERT_TRUE(model) << messageOf(model);
    EXPECT_NE(messageOf(forward(**model, prompt)), "") << one.result;
    std::string second = messageOf(forward(**model, prompt));
    EXPECT_EQ(!second.empty(), one.isTheEnd) << one.result << ": " << second;
  }
}

/// Also what fails in the middle, with work before it that ends well.
TEST(CudaErrors, SaysWhatKeptItFromMeasuring) {
  FakeCuda driver("fail=cuMemcpyDtoDAsync:2");
  auto model = loadCuda("cuda_decoder", FakeWeights(1), "cuda");
  ASSERT_TRUE(model) << messageOf(model);
  expectContains(messageOf((*model)->makeDevice()->measureCopies(1 << 16)),
                 "expected cuMemcpyDtoDAsync to measure copies, got error 999");
}

/// With a listener every step's memory is marked before it: what reads where
/// nobody has written gives other outputs. A library without taps is no error.
TEST(CudaErrors, ReadsNothingThatNobodyWrote) {
  FakeCuda driver;
  FakeWeights weights(1);
  LoadOptions options;
  options.tap = [](const TappedValue &) { return false; };
  auto plain = loadCuda("cuda_decoder", weights, "cuda");
  auto marked = loadCuda("cuda_decoder", weights, "cuda", options);
  ASSERT_TRUE(plain) << messageOf(plain);
  ASSERT_TRUE(marked) << messageOf(marked);
  EXPECT_STREQ((*marked)->program().name, "fake-sm_80");
  auto expected = forward(**plain, prompt), got = forward(**marked, prompt);
  ASSERT_TRUE(expected) << messageOf(expected);
  ASSERT_TRUE(got) << messageOf(got);
  EXPECT_EQ((*got)[0].floats, (*expected)[0].floats);
}

/// The stand-in names the kernel, the thread and the instruction.
TEST(CudaErrors, NamesAKernelThatStrays) {
  FakeCuda driver;
  std::string fault = faultOf("cuda_strays", "cuda");
  expectContains(fault, "expected cuStreamSynchronize to run a step up to "
                        "kernel fake_write_logits, got error 700 "
                        "(CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access "
                        "was encountered: kernel fake_stray, block 0, thread "
                        "0: access of 4 bytes at address 0x");
  expectContains(fault, "byte 4096 of an allocation of 256 (line ");
}

/// Buffers have more than a step is lent, where nobody sees a kernel that goes
/// a little too far; without, the first byte is noticed, of a read too.
TEST(CudaErrors, NamesAKernelThatGoesALittleTooFar) {
  struct Case {
    const char *variant, *kernel;
    int bytes; // that were lent
  };
  // 3 tokens and 2 items, of 4 floats; 3 rows of 32.
  for (Case one : {Case{"cuda_behind", "fake_behind", 80},
                   {"cuda_reads_behind", "fake_read_behind", 80},
                   {"cuda_behind_logits", "fake_behind_logits", 384}}) {
    FakeCuda driver;
    EXPECT_EQ(faultOf(one.variant, "cuda"), "");
    setenv("TFC_CUDA_AVOID", "spare", 1);
    std::string fault = faultOf(one.variant, "cuda");
    std::string good = faultOf("cuda_decoder", "cuda");
    unsetenv("TFC_CUDA_AVOID");
    EXPECT_EQ(good, "");
    expectContains(fault, concat(": kernel ", one.kernel,
                                 ", block 0, thread 0: "
                                 "access of 4 bytes at address 0x"));
    expectContains(fault, concat("byte ", one.bytes, " of an allocation of ",
                                 one.bytes, " (line "));
  }
}

TEST(CudaErrors, RefusesAKernelThatIsNotThere) {
  FakeCuda driver;
  expectContains(faultOf("cuda_unnumbered", "cuda"),
                 ": entry step: expected a kernel below 11, got 11");
}

/// What a host does with a device's pointer ends the process, here as there.
TEST(CudaErrorsDeathTest, HostsDoNotFollowDevicePointers) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  FakeCuda driver;
  EXPECT_DEATH(faultOf("cuda_follows", "cuda"), "");
}

} // namespace
} // namespace tfc::rt::test
