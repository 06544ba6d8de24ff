// Weights that a library makes of others: once, whatever they are packed for,
// and never where they are read.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/Module.h"
#include "test/runtime/FakeModel.h"

#include <cstring>

namespace tfc::rt::test {
namespace {

class Prepare : public ::testing::Test {
protected:
  void SetUp() override {
    writeTensors(folder / "model.safetensors", FakeWeights(5).stored());
    options.weightsPath = folder / "model.safetensors";
    options.threads = 2;
  }

  Result<std::unique_ptr<Model>> load(const std::string &variant) {
    options.libraryPath = fakeLibrary(variant);
    return Model::load(options);
  }

  /// That `variant` is "encoder" to the bit: its scales were turned once.
  void expectPlain(const std::string &variant = "prepares") {
    LoadOptions before = options;
    options.packedPath.clear();
    auto plain = load("encoder");
    options = before;
    auto model = load(variant);
    ASSERT_TRUE(plain && model) << messageOf(model);
    ASSERT_EQ((*model)->weightBytes(), (*plain)->weightBytes());
    EXPECT_EQ(std::memcmp((*model)->weights(), (*plain)->weights(),
                          (*plain)->weightBytes()),
              0);
    Padded padded{2, 3, {7, 8, 9, 4, 5, 6}, {}, {}, {}};
    auto expected = forward(**plain, padded), got = forward(**model, padded);
    ASSERT_TRUE(expected && got) << messageOf(got);
    for (size_t i = 0; i < got->size(); ++i) {
      EXPECT_EQ((*got)[i].floats, (*expected)[i].floats);
    }
  }

  Folder folder;
  LoadOptions options;
};

TEST_F(Prepare, RunsOnceWhenWeightsArePacked) {
  expectPlain();
  options.threads = 7;
  expectPlain();
}

/// Who finds the file has them, and does not make them again.
TEST_F(Prepare, IsInTheFileOfPackedWeights) {
  options.packedPath = folder / "packed";
  for (bool isShared : {false, true, false}) {
    options.sharesPacked = isShared;
    expectPlain();
  }
  options.weightsPath.clear();
  for (bool isShared : {false, true}) {
    options.sharesPacked = isShared;
    auto model = load("prepares");
    ASSERT_TRUE(model) << messageOf(model);
  }
}

TEST_F(Prepare, RunsOverRandomWeights) {
  options.weightsPath.clear();
  options.randomWeights = true;
  auto plain = load("encoder"), model = load("prepares");
  ASSERT_TRUE(plain && model) << messageOf(model);
  EXPECT_EQ(std::memcmp((*model)->weights(), (*plain)->weights(),
                        (*plain)->weightBytes()),
            0);
}

TEST_F(Prepare, SaysWhatFails) {
  options.packedPath = folder / "packed";
  EXPECT_EQ(messageOf(load("fails_to_prepare")),
            "entry prepare: expected status 0, got 7");
  EXPECT_EQ(messageOf(load("overruns_to_prepare")),
            "entry prepare: expected writes within the 8 bytes of its "
            "workspace, got one beyond");
  EXPECT_FALSE(std::filesystem::exists(options.packedPath));
}

/// As any load, wherever the caller is asked.
TEST_F(Prepare, EndsWithTheLoad) {
  struct Patience {
    int64_t left, asked = 0;
  };
  options.progress = [](void *user, uint64_t, uint64_t) {
    auto &self = *static_cast<Patience *>(user);
    return int(self.asked++ == self.left);
  };
  options.threads = 1; // whose thread is asked
  int64_t whole = 0;
  for (const char *variant : {"encoder", "prepares"}) {
    for (int64_t times = 0; times < 100; ++times) {
      Patience patience{times};
      options.progressUser = &patience;
      auto model = load(variant);
      if (model) {
        EXPECT_GT(times, whole) << "it is asked while it prepares, too";
        whole = times;
        break;
      }
      EXPECT_EQ(messageOf(model), "stopped by the caller (progress)");
    }
  }
}

/// What is wrong with the caller's threads goes through no compiled code.
TEST_F(Prepare, ThreadsOfTheCallerMayFail) {
  int64_t loops = 0;
  options.parallelUser = &loops;
  options.parallelFor = [](void *user, int64_t n, tfc_body_fn body, void *arg) {
    body(arg, 0, n, 0);
    if (++*static_cast<int64_t *>(user) == 2) {
      body(arg, 0, n, 0); // once more
    }
  };
  EXPECT_EQ(messageOf(load("encoder")), "");
  EXPECT_EQ(loops, 1) << "it packs in one loop";
  loops = 0;
  std::string message = messageOf(load("prepares"));
  EXPECT_EQ(message.find("parallel_for: expected "), 0U) << message;
}

TEST_F(Prepare, IsAnEntryWithoutPorts) {
  auto module = Module::open(fakeLibrary("prepares"));
  ASSERT_TRUE(module) << messageOf(module);
  const tfc_module_v0 good = (*module)->table();
  auto broken = [&](auto change) {
    tfc_module_v0 table = good;
    tfc_program_v0 program = good.programs[0];
    std::vector<tfc_entry_v0> entries(program.entries, program.entries + 2);
    table.n_programs = 1;
    table.programs = &program;
    change(entries, entries[1]);
    program.n_entries = static_cast<uint32_t>(entries.size());
    program.entries = entries.data();
    return messageOf(checkModule(table));
  };
  using All = std::vector<tfc_entry_v0>;
  using E = tfc_entry_v0;
  EXPECT_EQ(broken([](All &, E &) {}), "");
  std::string start = "malformed library: expected ";
  std::string none = start +
                     "an entry \"prepare\" without ports and caches, in "
                     "a program of the host's memory";
  auto copyInputs = [](All &all, E &e) {
    e.inputs = all[0].inputs;
    e.n_inputs = 1;
  };
  EXPECT_EQ(broken(copyInputs), none);
  EXPECT_EQ(broken([](All &all, E &e) {
              e.outputs = all[0].outputs;
              e.n_outputs = 1;
            }),
            none);
  EXPECT_EQ(broken([](All &all, E &e) {
              e.caches = all[0].caches;
              e.n_caches = 1;
            }),
            none);
  EXPECT_EQ(broken([](All &, E &e) { e.name = "ready"; }), none);
  EXPECT_EQ(broken([](All &, E &e) { e.name = nullptr; }), none);
  EXPECT_EQ(broken([](All &, E &e) { e.flags = 0; }), none);
  EXPECT_EQ(broken([](All &, E &e) { e.flags |= TFC_ENTRY_DISTANCES; }), none);
  EXPECT_EQ(broken([](All &, E &e) { e.run = nullptr; }), none);
  EXPECT_EQ(broken([](All &, E &e) { e.workspace_bytes = nullptr; }), none);
  EXPECT_EQ(broken([](All &all, E &) { all[0].flags |= TFC_ENTRY_PREPARE; }),
            none);
  EXPECT_EQ(broken([](All &all, E &e) { all.push_back(E(e)); }),
            start + "one entry \"prepare\" at most");
}

} // namespace
} // namespace tfc::rt::test
