// Calls that the caller stops: at every place where it is asked, and what goes
// on afterwards.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/session/Session.h"

#include "test/runtime/FakeModel.h"
#include "test/runtime/PairModel.h"

namespace tfc::rt::test {
namespace {

const std::vector<int64_t> noEos;
const char stopped[] = "stopped by the caller (should_stop)";

/// Says stop when it has been asked often enough.
struct Patience {
  int64_t left;
  int64_t numAsked = 0;

  StopRequest request() {
    return {[](void *user) {
              auto &self = *static_cast<Patience *>(user);
              ++self.numAsked;
              return int(self.left-- <= 0);
            },
            this};
  }
};

TEST(Stop, AForwardPassStopsWhereverItIsAsked) {
  auto model = loadFake("encoder", FakeWeights());
  int64_t ids[] = {1, 2, 3, 4, 5, 6};
  tfc_tensor input{"input_ids", TFC_I64, 2, {2, 3, 0}, ids};
  auto run = [&](const StopRequest &stop) {
    return runForward(*model, &input, 1, {}, stop);
  };
  auto whole = run({});
  ASSERT_TRUE(whole) << messageOf(whole);
  Patience endless{1000};
  ASSERT_TRUE(run(endless.request()));
  // Before the step and before each of its two loops.
  EXPECT_EQ(endless.numAsked, 3);
  for (int64_t limit = 0; limit < endless.numAsked; ++limit) {
    Patience patience{limit};
    auto got = run(patience.request());
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, Code::Cancelled);
    EXPECT_EQ(got.error().message, stopped);
    EXPECT_EQ(patience.numAsked, limit + 1) << "it is not asked again";
    auto again = run({});
    ASSERT_TRUE(again) << messageOf(again);
    EXPECT_EQ((*again)[0].floats, (*whole)[0].floats);
  }
}

/// The tokens of two sequences, one of which comes later, in a session that is
/// stopped at every place once.
template <typename Add>
void stopEverywhere(const Model &model, const Add &add, int64_t numSteps) {
  auto plain = Session::create(model, {});
  ASSERT_TRUE(plain) << messageOf(plain);
  Patience patience{1000};
  auto stopping = Session::create(model, {{0, patience.request()}});
  ASSERT_TRUE(stopping) << messageOf(stopping);
  for (int64_t step = 0; step < numSteps; ++step) {
    if (step < 2) {
      add(**plain);
      add(**stopping);
    }
    ASSERT_TRUE((*plain)->step());
    for (int64_t limit = 0;; ++limit) {
      patience.left = limit;
      Status status = (*stopping)->step();
      if (status) {
        EXPECT_GT(limit, 2) << "a step of two layers asks three times";
        break;
      }
      EXPECT_EQ(status.error().code, Code::Cancelled);
      EXPECT_TRUE((*stopping)->newTokens().empty());
    }
    const auto &want = (*plain)->newTokens(), &got = (*stopping)->newTokens();
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(got[i].sequence, want[i].sequence);
      EXPECT_EQ(got[i].token, want[i].token);
    }
  }
}

TEST(Stop, NothingHasHappenedToASession) {
  auto model = loadFake("decoder", FakeWeights());
  auto add = [](Session &session) {
    int64_t tokens[] = {7, 8, 9, 10, 11};
    auto id = session.add({tokens, 5}, {}, 6, {noEos});
    ASSERT_TRUE(id) << messageOf(id);
  };
  stopEverywhere(*model, add, 5);
}

TEST(Stop, NorToASessionOfAnEncoderDecoder) {
  auto model = loadFake("translator", FakeWeights());
  auto add = [](Session &session) {
    int64_t tokens[] = {7, 8, 9, 10, 11};
    auto id = session.add({tokens, 5}, {}, 6, {noEos});
    ASSERT_TRUE(id) << messageOf(id);
  };
  stopEverywhere(*model, add, 5);
}

} // namespace
} // namespace tfc::rt::test
