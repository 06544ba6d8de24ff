// The toy model on a CUDA device gives the CPU's bits: forward passes, caches
// that grow and are shared, sessions, beams, sources of encoder-decoders.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/gpu/CudaContext.h"
#include "runtime/gpu/CudaGraphs.h"
#include "runtime/src/choose/Decoding.h"
#include "runtime/src/session/Session.h"
#include "runtime/src/step/Engine.h"
#include "test/runtime/gpu/FakeCuda.h"

#include <random>

namespace tfc::rt::test {
namespace {

Padded randomRows(uint32_t seed, int64_t batch, int64_t length) {
  std::mt19937 random(seed);
  Padded padded;
  padded.batch = batch;
  padded.length = length;
  for (int64_t row = 0; row < batch; ++row) {
    int64_t begin = row == 0 ? 0 : int64_t(random() % uint64_t(length));
    for (int64_t column = 0; column < length; ++column) {
      padded.ids.push_back(6 + random() % (vocab - 6));
      padded.mask.push_back(column >= begin);
    }
  }
  return padded;
}

/// Both programs of a library, with the same weights.
class CudaModel : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    FakeWeights weights(7);
    auto onCpu = loadCuda(GetParam(), weights, "cpu");
    auto onDevice = loadCuda(GetParam(), weights, "cuda");
    ASSERT_TRUE(onCpu) << messageOf(onCpu);
    ASSERT_TRUE(onDevice) << messageOf(onDevice);
    cpu = std::move(*onCpu);
    cuda = std::move(*onDevice);
    ASSERT_STREQ(cpu->program().name, "plain");
    ASSERT_STREQ(cuda->program().name, "fake-sm_80");
  }

  FakeCuda driver;
  std::unique_ptr<Model> cpu, cuda;
};

TEST_P(CudaModel, ForwardPassesEqualTheCpus) {
  for (uint32_t seed = 0; seed < 6; ++seed) {
    Padded padded = randomRows(seed, 1 + seed, 2 + seed % 5 * 3);
    std::vector<tfc_tensor> inputs = padded.tensors();
    if (cpu->isEncoderDecoder()) {
      tfc_tensor target = inputs[0];
      target.name = "decoder_input_ids";
      inputs.push_back(target);
    }
    auto run = [&](const Model &model) {
      return runForward(model, inputs.data(), uint32_t(inputs.size()), {});
    };
    auto expected = run(*cpu), got = run(*cuda);
    ASSERT_TRUE(expected) << messageOf(expected);
    ASSERT_TRUE(got) << messageOf(got);
    ASSERT_EQ(got->size(), expected->size());
    for (size_t i = 0; i < got->size(); ++i) {
      EXPECT_EQ((*got)[i].floats, (*expected)[i].floats)
          << (*got)[i].name << ", seed " << seed;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, CudaModel,
                         testing::Values("cuda_encoder", "cuda_decoder",
                                         "cuda_translator"));

class CudaGenerate : public CudaModel {};

TEST_P(CudaGenerate, TokensEqualTheCpus) {
  for (uint32_t beams = 1; beams <= 3; ++beams) {
    Padded padded = randomRows(beams, 3, 6);
    std::vector<tfc_tensor> inputs = padded.tensors();
    GenerateOptions options;
    options.maxNewTokens = 9;
    options.eos.emplace();
    options.decoding = defaultDecoding(cpu->table());
    options.decoding->num_beams = beams;
    auto run = [&](const Model &model) {
      return runGenerate(model, inputs.data(), uint32_t(inputs.size()),
                         options);
    };
    auto expected = run(*cpu), got = run(*cuda);
    ASSERT_TRUE(expected) << messageOf(expected);
    ASSERT_TRUE(got) << messageOf(got);
    EXPECT_EQ(got->front().ints, expected->front().ints) << beams << " beams";
    if (beams > 1) {
      EXPECT_EQ(got->back().floats, expected->back().floats);
    }
  }
}

/// Sequences that come one after the other, one of which is forked: its next
/// block is copied on the device.
TEST_P(CudaGenerate, SessionsAndForksEqualTheCpus) {
  auto run = [&](const Model &model) {
    std::vector<float> logits;
    auto created = Session::create(model, {});
    EXPECT_TRUE(created) << messageOf(created);
    Session &session = **created;
    const std::vector<int64_t> prompts[] = {{7, 8, 9, 10, 11}, {12}, {9, 9}};
    uint64_t first = 0;
    for (int step = 0; step < 8; ++step) {
      if (step < 3) {
        auto id =
            session.add({prompts[step].data(), int64_t(prompts[step].size())},
                        {}, 6, {std::vector<int64_t>()});
        EXPECT_TRUE(id) << messageOf(id);
        first = step == 0 && id ? *id : first;
      }
      if (step == 1) {
        tfc_decoding_options draws = defaultDecoding(model.table());
        draws.do_sample = 1;
        draws.temperature = 50;
        draws.seed = 3;
        auto fork = session.fork(first, &draws);
        EXPECT_TRUE(fork) << messageOf(fork);
      }
      Status status = session.step();
      EXPECT_TRUE(status) << messageOf(status);
      logits.insert(logits.end(), session.logits(), session.logits() + vocab);
    }
    EXPECT_GT(session.cache().committedBytes(), 0U);
    return logits;
  };
  EXPECT_EQ(run(*cuda), run(*cpu));
}
INSTANTIATE_TEST_SUITE_P(All, CudaGenerate,
                         testing::Values("cuda_decoder", "cuda_window"));

/// Where the device chooses, logits stay there: the host gets the tokens, those
/// of the CPU.
TEST(CudaGreatest, TokensAreTheDevices) {
  FakeCuda driver;
  FakeWeights weights(7);
  auto run = [&](const char *program, uint32_t numLogProbabilities) {
    auto model = loadCuda("cuda_chooses", weights, program);
    EXPECT_TRUE(model) << messageOf(model);
    auto session = Session::create(**model, {});
    EXPECT_TRUE(session) << messageOf(session);
    RequestOptions options;
    options.eos.emplace();
    options.numLogProbabilities = numLogProbabilities;
    std::vector<int64_t> tokens;
    const std::vector<int64_t> prompts[] = {{7, 8, 9, 10, 11}, {12}, {9, 9}};
    for (int step = 0; step < 8; ++step) {
      if (step < 3) {
        auto id = (*session)->add(
            {prompts[step].data(), int64_t(prompts[step].size())}, {}, 6,
            options);
        EXPECT_TRUE(id) << messageOf(id);
      }
      Status status = (*session)->step();
      EXPECT_TRUE(status) << messageOf(status);
      EXPECT_EQ((*session)->logits() == nullptr, numLogProbabilities == 0);
      for (const tfc_new_token &token : (*session)->newTokens()) {
        tokens.push_back(token.token);
      }
    }
    EXPECT_EQ(tokens.size(), 18U);
    return tokens;
  };
  std::vector<int64_t> expected = run("cpu", 1);
  EXPECT_EQ(run("cpu", 0), expected);
  EXPECT_EQ(run("cuda", 1), expected);
  EXPECT_EQ(run("cuda", 0), expected);
}

/// Tokens of sessions whose steps come again, and of such as do not: sequences
/// come and go, blocks are added, a cache's window gives some back.
std::vector<int64_t> tokensOfMany(const Model &model) {
  auto session = Session::create(model, {});
  EXPECT_TRUE(session) << messageOf(session);
  RequestOptions options;
  options.eos.emplace();
  std::vector<int64_t> tokens;
  const std::vector<int64_t> prompts[] = {{7, 8, 9}, {12}, {9, 9}};
  for (int step = 0; step < 3 || (*session)->numSequences() > 0; ++step) {
    if (step < 3) {
      auto id =
          (*session)->add({prompts[step].data(), int64_t(prompts[step].size())},
                          {}, 11 - 4 * step, options);
      EXPECT_TRUE(id) << messageOf(id);
    }
    Status status = (*session)->step();
    EXPECT_TRUE(status) << messageOf(status);
    for (const tfc_new_token &token : (*session)->newTokens()) {
      tokens.push_back(token.token);
    }
  }
  return tokens;
}

/// Steps that come again are graphs, whose kernels read what is new in the
/// tables: tokens, blocks, places.
TEST(CudaGraphs, GiveWhatLaunchesGive) {
  FakeWeights weights(7);
  for (const char *variant : {"cuda_decoder", "cuda_chooses", "cuda_window"}) {
    SCOPED_TRACE(variant);
    FakeCuda driver;
    auto cpu = loadCuda(variant, weights, "cpu");
    auto graphs = loadCuda(variant, weights, "cuda");
    setenv("TFC_CUDA_AVOID", "graphs", 1);
    auto launches = loadCuda(variant, weights, "cuda");
    unsetenv("TFC_CUDA_AVOID");
    ASSERT_TRUE(cpu && graphs && launches);
    std::vector<int64_t> expected = tokensOfMany(**cpu);
    EXPECT_EQ(expected.size(), 21U);
    EXPECT_EQ(tokensOfMany(**graphs), expected);
    EXPECT_EQ(tokensOfMany(**launches), expected);
  }
}

/// Of words that came before a graph is launched, and nothing else is.
TEST(CudaGraphs, AreMadeWhenAStepComesAgain) {
  FakeCuda driver;
  auto context = CudaContext::open(0);
  ASSERT_TRUE(context) << messageOf(context);
  CudaScope scope(**context);
  cuda::StreamHandle stream = nullptr;
  ASSERT_EQ((*context)->functions().cuStreamCreate(&stream, 1), 0);
  {
    CudaGraphs graphs(**context);
    int numRuns = 0;
    auto run = [&](const StepWords &words, int32_t returns = TFC_STATUS_DONE) {
      auto code = graphs.run(words, stream, [&] {
        ++numRuns;
        return returns;
      });
      EXPECT_TRUE(code) << messageOf(code);
      return code ? *code : -1;
    };
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(run({1, 2}), TFC_STATUS_DONE);
      EXPECT_EQ(run({1, 3}), TFC_STATUS_DONE);
    }
    EXPECT_EQ(numRuns, 4) << "twice each";
    // What does not end is no graph, and comes as it is.
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(run({4}, TFC_STATUS_STOPPED), TFC_STATUS_STOPPED);
    }
    EXPECT_EQ(numRuns, 8);
    // Those that did not come for long are forgotten.
    for (uint64_t i = 0; i < 100; ++i) {
      run({5, i});
    }
    numRuns = 0;
    run({1, 2});
    EXPECT_EQ(numRuns, 1);
    run({5, 99});
    run({5, 99});
    EXPECT_EQ(numRuns, 2);
  }
  EXPECT_EQ((*context)->functions().cuStreamDestroy(stream), 0);
}

/// Every word of a step that an entry may read makes another graph.
TEST(CudaGraphs, AreOfEveryNumberOfAStep) {
  tfc_entry_v0 entry{};
  entry.n_caches = entry.n_inputs = entry.n_outputs = 1;
  tfc_host_v0 host{};
  void *cache = nullptr, *output = nullptr;
  const void *input = nullptr, *adapter = nullptr;
  tfc_step_v0 step{};
  step.struct_size = sizeof(step);
  step.host = &host;
  step.caches = &cache;
  step.inputs = &input;
  step.outputs = &output;
  step.adapters = &adapter;
  auto list = [&] {
    StepWords words;
    listWords(entry, step, words);
    return words;
  };
  StepWords plain = list();
  EXPECT_EQ(list(), plain);
  // All of the struct, but what is the host's: its size, its arrays and itself.
  auto *words = reinterpret_cast<uint64_t *>(&step);
  size_t numOthers = 0;
  for (size_t i = 0; i < sizeof(step) / sizeof(*words); ++i) {
    auto *field = reinterpret_cast<char *>(words + i);
    auto is = [&](const auto &member) {
      return field == reinterpret_cast<const char *>(&member);
    };
    if (is(step.struct_size) || is(step.host) || is(step.caches) ||
        is(step.inputs) || is(step.outputs) || is(step.head_rows) ||
        is(step.adapters)) {
      continue;
    }
    ++words[i];
    EXPECT_NE(list(), plain) << "word " << i;
    --words[i];
    ++numOthers;
  }
  EXPECT_EQ(numOthers, 14U);
  host.n_workers = 1;
  EXPECT_NE(list(), plain);
  host.n_workers = 0;
  step.n_adapters = 1;
  plain = list();
  for (void **address : {&cache, &output, const_cast<void **>(&input),
                         const_cast<void **>(&adapter)}) {
    *address = &host;
    EXPECT_NE(list(), plain);
    *address = nullptr;
  }
}

/// With a forced token all beams go on from the prompt: blocks that nobody has
/// written would be NaN here.
TEST(CudaPair, GeneratesWhatTheCpuDoes) {
  FakeCuda driver;
  FakeWeights weights(3);
  for (const char *variant : {"cuda_translator", "cuda_forced"}) {
    auto cpu = loadCuda(variant, weights, "cpu");
    auto cuda = loadCuda(variant, weights, "cuda");
    ASSERT_TRUE(cpu && cuda) << messageOf(cpu) << messageOf(cuda);
    Padded padded = randomRows(2, 3, 7);
    std::vector<tfc_tensor> inputs = padded.tensors();
    for (uint32_t beams = 1; beams <= 3; ++beams) {
      GenerateOptions options;
      options.maxNewTokens = 8;
      options.decoding = defaultDecoding((*cpu)->table());
      options.decoding->num_beams = beams;
      auto run = [&](const Model &model) {
        return runGenerate(model, inputs.data(), uint32_t(inputs.size()),
                           options);
      };
      auto expected = run(**cpu), got = run(**cuda);
      ASSERT_TRUE(expected && got) << messageOf(expected) << messageOf(got);
      EXPECT_EQ(got->front().ints, expected->front().ints);
      EXPECT_EQ(got->back().floats, expected->back().floats);
    }
  }
}

/// Nobody says which: the device's where there is one, else the CPU's, without
/// a word.
TEST(CudaChoice, TakesTheDeviceWhereThereIsOne) {
  FakeWeights weights(1);
  auto chosen = [&] {
    auto model = loadCuda("cuda_encoder", weights, "");
    return model ? (*model)->program().name : messageOf(model);
  };
  {
    FakeCuda driver;
    EXPECT_EQ(chosen(), "fake-sm_80");
  }
  {
    FakeCuda driver("devices=0");
    EXPECT_EQ(chosen(), "plain");
  }
  {
    FakeCuda driver("capability=75");
    EXPECT_EQ(chosen(), "plain");
  }
  {
    FakeCuda driver("capability=90");
    EXPECT_EQ(chosen(), "fake-sm_80");
  }
  {
    FakeCuda driver("", "nowhere.so");
    EXPECT_EQ(chosen(), "plain");
  }
}

TEST(CudaTables, AreCheckedBeforeTheyAreUsed) {
  auto module = Module::open(fakeLibrary("cuda_decoder"));
  ASSERT_TRUE(module) << messageOf(module);
  const tfc_module_v0 good = (*module)->table();
  EXPECT_TRUE(checkModule(good));
  auto broken = [&](auto change) {
    tfc_module_v0 table = good;
    tfc_program_v0 program = good.programs[1];
    std::vector<tfc_kernel_v0> kernels(program.kernels,
                                       program.kernels + program.n_kernels);
    std::vector<tfc_image_v0> images(program.images,
                                     program.images + program.n_images);
    std::vector<tfc_place_v0> places(program.places,
                                     program.places + program.n_places);
    table.n_programs = 1;
    table.programs = &program;
    program.kernels = kernels.data();
    program.images = images.data();
    program.places = places.data();
    change(program, kernels[0], images[1], places[2]);
    return messageOf(checkModule(table));
  };
  using P = tfc_program_v0;
  using K = tfc_kernel_v0;
  using I = tfc_image_v0;
  using L = tfc_place_v0;
  EXPECT_EQ(broken([](P &, K &, I &, L &) {}), "");
  std::string start = "malformed library: expected ";
  EXPECT_EQ(broken([](P &p, K &, I &, L &) { p.memory = TFC_MEMORY_HOST; }),
            start + "a device's memory in programs of CUDA devices, and "
                    "nowhere else");
  EXPECT_EQ(broken([](P &p, K &, I &, L &) { p.images = nullptr; }),
            start + "kernels and images of a device's program");
  EXPECT_EQ(broken([](P &p, K &, I &, L &) { p.n_kernels = 0; }),
            start + "kernels and images of a device's program");
  EXPECT_EQ(broken([](P &, K &k, I &, L &) { k.block[2] = 0; }),
            start + "kernels with a name and a block");
  EXPECT_EQ(broken([](P &, K &, I &i, L &) { i.data = nullptr; }),
            start + "images that are there");
  EXPECT_EQ(broken([](P &, K &, I &i, L &) { --i.bytes; }),
            start + "PTX that ends with a null byte");
  EXPECT_EQ(broken([](P &p, K &, I &, L &) { --p.n_places; }),
            start + "a place for each weight");
  EXPECT_EQ(broken([](P &, K &, I &, L &l) { l.bytes = 1 << 20; }),
            start + "places within the packed weights");
  EXPECT_EQ(broken([](P &, K &, I &, L &l) { l.layer_stride = ~0ULL / 2; }),
            start + "places within the packed weights");
}

/// What a device of the driver has given by now, in this process.
uint64_t usedBytesOf(int device) {
  auto context = CudaContext::open(device);
  EXPECT_TRUE(context) << messageOf(context);
  EXPECT_EQ((*context)->device(), device);
  CudaScope scope(**context);
  size_t free = 0, total = 0;
  EXPECT_EQ((*context)->functions().cuMemGetInfo(&free, &total), 0);
  return total - free;
}

/// The same of the stand-in's first one.
uint64_t usedBytes() {
  FakeCuda driver;
  return usedBytesOf(0);
}

/// Weights may be most of what a device has: it needs no byte more.
TEST(CudaWeights, TakeTheirBytesAlone) {
  FakeWeights weights(1);
  uint64_t bytes = 0, used = usedBytes();
  {
    FakeCuda driver;
    auto model = loadCuda("cuda_decoder", weights, "cuda");
    ASSERT_TRUE(model) << messageOf(model);
    bytes = (*model)->program().packed_bytes;
  }
  {
    FakeCuda driver(concat("memory=", used + bytes));
    auto model = loadCuda("cuda_decoder", weights, "cuda");
    EXPECT_TRUE(model) << messageOf(model);
  }
  FakeCuda driver(concat("memory=", used + bytes - 1));
  std::string fault = messageOf(loadCuda("cuda_decoder", weights, "cuda"));
  EXPECT_NE(fault.find(concat("expected cuMemAlloc to give ", bytes, " bytes")),
            std::string::npos)
      << fault;
}

/// Two devices of a process, by turns: neither touches what is the other's,
/// which the stand-in would refuse, and both have their own memory.
TEST(CudaDevices, EachHasAModel) {
  FakeWeights weights(7);
  FakeCuda driver("devices=2");
  auto onCpu = loadCuda("cuda_decoder", weights, "cpu");
  auto first = loadCuda("cuda_decoder", weights, "cuda:0");
  uint64_t usedBefore = usedBytesOf(1);
  auto second = loadCuda("cuda_decoder", weights, "cuda:1");
  uint64_t used = usedBytesOf(1) - usedBefore;
  ASSERT_TRUE(onCpu) << messageOf(onCpu);
  ASSERT_TRUE(first) << messageOf(first);
  ASSERT_TRUE(second) << messageOf(second);
  EXPECT_GE(used, (*second)->program().packed_bytes);
  for (uint32_t seed = 0; seed < 3; ++seed) {
    Padded padded = randomRows(seed, 2, 5);
    auto expected = forward(**onCpu, padded);
    ASSERT_TRUE(expected) << messageOf(expected);
    for (const auto *model : {&*first, &*second}) {
      auto got = forward(**model, padded);
      ASSERT_TRUE(got) << messageOf(got);
      EXPECT_EQ((*got)[0].floats, (*expected)[0].floats) << seed;
    }
  }
}

/// A cache takes most of what the buffers of the largest step leave: there is
/// memory for them when all of the cache is in use.
TEST(CudaCache, LeavesRoomForTheLargestStep) {
  constexpr int64_t tokens = 120000;
  FakeWeights weights(1);
  uint64_t used = usedBytes();
  auto run = [&](int64_t stepTokens) {
    FakeCuda driver(concat("memory=", used + (uint64_t(222) << 20) / 10));
    auto model = loadCuda("cuda_decoder", weights, "cuda");
    EXPECT_TRUE(model) << messageOf(model);
    Engine engine(**model);
    EngineOptions options;
    options.stepTokens = stepTokens;
    EXPECT_EQ(messageOf(engine.open(options)), "");
    BlockTable all;
    BlockCache &cache = engine.step->cache;
    int64_t positions = cache.capacity() * cache.blockTokens();
    EXPECT_EQ(messageOf(cache.grow(all, positions)), "");
    EXPECT_EQ(cache.used(), cache.capacity());
    auto buffers = engine.where().makeStep(0);
    return messageOf(buffers->lendWorkspace(engine.step->stepBytes(tokens)));
  };
  EXPECT_EQ(run(tokens), "");
  EXPECT_NE(run(1).find("expected cuMemAlloc to give "), std::string::npos);
}

/// A step that is stopped leaves a device that runs the next one.
TEST(CudaStop, StopsBetweenLaunches) {
  FakeCuda driver;
  auto model = loadCuda("cuda_decoder", FakeWeights(1), "cuda");
  ASSERT_TRUE(model) << messageOf(model);
  Padded padded{1, 3, {7, 8, 9}, {}, {}, {}};
  std::vector<tfc_tensor> inputs = padded.tensors();
  struct Countdown {
    int left;
    static int32_t ask(void *user) {
      return --static_cast<Countdown *>(user)->left == 0;
    }
  };
  auto run = [&](int left) {
    Countdown countdown{left};
    GenerateOptions options;
    options.maxNewTokens = 2;
    options.eos.emplace();
    options.engine.stop = {Countdown::ask, &countdown};
    return runGenerate(**model, inputs.data(), uint32_t(inputs.size()),
                       options);
  };
  auto expected = run(1 << 30);
  ASSERT_TRUE(expected) << messageOf(expected);
  for (int left = 1; left < 6; ++left) {
    EXPECT_EQ(messageOf(run(left)), "stopped by the caller (should_stop)");
    auto again = run(1 << 30);
    ASSERT_TRUE(again) << messageOf(again);
    EXPECT_EQ(again->front().ints, expected->front().ints);
  }
}

} // namespace
} // namespace tfc::rt::test
