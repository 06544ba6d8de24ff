// Loops on threads that a caller lends: the same results, and errors for a
// caller that does not run them as said.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/threads/ForEach.h"

#include "test/runtime/FakeModel.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <thread>

namespace tfc::rt::test {
namespace {

constexpr uint32_t numWorkers = 3;

/// Threads of a program, which cut loops in an order of their own; and what is
/// wrong with them, if anything is.
class Lender {
public:
  std::atomic<int> numLoops{0};
  bool takesPart = true;
  /// Instead of all ranges of a loop.
  void (*runBadly)(int64_t n, tfc_loop_fn body, void *arg) = nullptr;

  Workers workers() { return Workers(numWorkers, parallelFor, this); }

  static void parallelFor(void *user, int64_t n, tfc_loop_fn body, void *arg) {
    auto &self = *static_cast<Lender *>(user);
    ++self.numLoops;
    if (self.runBadly) {
      self.runBadly(n, body, arg);
      return;
    }
    std::atomic<int64_t> next{0};
    auto work = [&](uint32_t worker) {
      // From the end, items one by one.
      for (int64_t item; (item = n - 1 - next++) >= 0;) {
        body(arg, item, item + 1, worker);
      }
    };
    std::vector<std::thread> threads;
    for (uint32_t worker = self.takesPart; worker < numWorkers; ++worker) {
      threads.emplace_back(work, worker);
    }
    if (self.takesPart) {
      work(0);
    }
    for (std::thread &thread : threads) {
      thread.join();
    }
  }
};

TEST(Workers, LendEveryItemOnce) {
  Lender lender;
  for (int64_t n : {0, 1, 2, 7, 200}) {
    std::vector<std::atomic<int>> counts(static_cast<size_t>(n));
    forEach(lender.workers(), n, [&](int64_t item, uint32_t worker) {
      EXPECT_LT(worker, numWorkers);
      ++counts[item];
    });
    EXPECT_TRUE(std::all_of(counts.begin(), counts.end(),
                            [](const auto &count) { return count == 1; }));
  }
  EXPECT_EQ(lender.numLoops, 3) << "one item needs no other thread";
}

TEST(Workers, ThrowBehindTheCallersThreads) {
  Lender lender;
  try {
    forEach(lender.workers(), 64, [](int64_t item, uint32_t) {
      throw std::runtime_error(std::to_string(item));
    });
    ADD_FAILURE();
  } catch (const LoopFault &) {
    ADD_FAILURE();
  } catch (const std::runtime_error &fault) {
    EXPECT_LT(std::stoi(fault.what()), 64);
  }
}

TEST(Workers, RefuseLoopsThatWereNotRun) {
  Lender lender;
  auto fault = [&](auto runBadly) -> std::string {
    lender.runBadly = runBadly;
    int64_t numDone = 0;
    try {
      forEach(lender.workers(), 10, [&](int64_t item, uint32_t worker) {
        EXPECT_TRUE(item >= 0 && item < 10 && worker < numWorkers);
        ++numDone;
      });
    } catch (const LoopFault &error) {
      return concat(numDone, ": ", error.what());
    }
    return "";
  };
  std::string expected = ": parallel_for: expected each of 10 items run once, "
                         "by workers below 3, got ";
  std::string others = ", and ranges or workers that there are not";
  EXPECT_EQ(fault([](int64_t, tfc_loop_fn, void *) {}),
            concat(0, expected, "0 items"));
  EXPECT_EQ(fault([](int64_t n, tfc_loop_fn body, void *arg) {
              body(arg, 0, n - 1, 0);
            }),
            concat(9, expected, "9 items"));
  EXPECT_EQ(fault([](int64_t n, tfc_loop_fn body, void *arg) {
              body(arg, 0, n, 0);
              body(arg, 0, n, 1);
            }),
            concat(20, expected, "20 items"));
  EXPECT_EQ(fault([](int64_t n, tfc_loop_fn body, void *arg) {
              body(arg, 0, n, numWorkers);
            }),
            concat(0, expected, "0 items", others));
  for (auto [begin, end] : {std::pair(-1, 9), {0, 11}, {5, 4}}) {
    static int64_t from, to;
    from = begin;
    to = end;
    EXPECT_EQ(fault([](int64_t n, tfc_loop_fn body, void *arg) {
                body(arg, from, to, 0);
                body(arg, 0, n, 1);
              }),
              concat(10, expected, "10 items", others));
  }
  // One item twice and one not at all: as many as there are.
  for (int64_t twice : {0, 3, 8}) {
    static int64_t at;
    at = twice;
    EXPECT_EQ(fault([](int64_t n, tfc_loop_fn body, void *arg) {
                body(arg, at, at + 1, 0);
                body(arg, 0, n - 1, 1);
              }),
              concat(10, expected, "10 items, some of them twice"));
  }
  // Empty ranges harm nobody.
  EXPECT_EQ(fault([](int64_t n, tfc_loop_fn body, void *arg) {
              body(arg, 3, 3, 2);
              body(arg, 0, n, 1);
            }),
            "");
}

/// A model whose loops run on lent threads.
class LentThreads : public ::testing::Test {
protected:
  void SetUp() override {
    writeTensors(folder / "model.safetensors", weights.stored());
    options.weightsPath = folder.path.string();
    options.threads = numWorkers;
    options.parallelFor = Lender::parallelFor;
    options.parallelUser = &lender;
  }

  std::unique_ptr<Model> load(const std::string &variant) {
    options.libraryPath = fakeLibrary(variant);
    auto model = Model::load(options);
    EXPECT_TRUE(model) << messageOf(model);
    return model ? std::move(*model) : nullptr;
  }

  Folder folder;
  FakeWeights weights{5};
  Lender lender;
  LoadOptions options;
};

TEST_F(LentThreads, GiveTheSameBits) {
  Padded padded{3, 4, {7, 8, 9, 4, 5, 6, 3, 2, 1, 2, 3, 4}, {}, {}, {}};
  for (bool takesPart : {true, false}) {
    lender.takesPart = takesPart;
    lender.numLoops = 0;
    auto lent = load("encoder"), own = loadFake("encoder", weights);
    ASSERT_TRUE(lent);
    EXPECT_EQ(lent->numThreads(), numWorkers);
    EXPECT_GT(lender.numLoops, 0) << "packing";
    lender.numLoops = 0;
    auto got = forward(*lent, padded), expected = forward(*own, padded);
    ASSERT_TRUE(got && expected) << messageOf(got);
    EXPECT_EQ((*got)[0].floats, (*expected)[0].floats);
    EXPECT_GT(lender.numLoops, 0);
    // Tokens are chosen there, too.
    lent = load("decoder");
    own = loadFake("decoder", weights);
    auto tokens = generate(*lent, padded, 5),
         others = generate(*own, padded, 5);
    ASSERT_TRUE(tokens && others) << messageOf(tokens);
    EXPECT_EQ(tokens->ints, others->ints);
  }
}

TEST_F(LentThreads, ThatRunNothingAreAnErrorNotANumber) {
  auto model = load("decoder");
  ASSERT_TRUE(model);
  Padded padded{2, 3, {7, 8, 9, 4, 5, 6}, {}, {}, {}};
  auto expected = forward(*model, padded);
  ASSERT_TRUE(expected) << messageOf(expected);
  lender.runBadly = [](int64_t, tfc_loop_fn, void *) {};
  auto got = forward(*model, padded);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::InvalidArgument);
  EXPECT_EQ(got.error().message.find("parallel_for: expected each of "), 0U)
      << got.error().message;
  lender.runBadly = nullptr;
  got = forward(*model, padded);
  ASSERT_TRUE(got) << messageOf(got);
  EXPECT_EQ((*got)[0].floats, (*expected)[0].floats);
}

TEST_F(LentThreads, NeedANumberOfWorkers) {
  options.threads = 0;
  options.libraryPath = fakeLibrary("encoder");
  EXPECT_EQ(messageOf(Model::load(options)),
            "expected threads beside parallel_for (how many workers it has), "
            "got 0");
}

} // namespace
} // namespace tfc::rt::test
