// A step has a most number of tokens; here it is small.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/choose/Decoding.h"
#include "runtime/src/session/Session.h"
#include "test/runtime/PairModel.h"

namespace tfc::rt::test {
namespace {

std::unique_ptr<Model> loadLimited(const std::string &variant) {
  Folder folder;
  writeTensors(folder / "model.safetensors", FakeWeights().stored());
  LoadOptions options;
  options.libraryPath = fakeLibrary(variant);
  options.weightsPath = folder.path.string();
  options.stepLimit = 10;
  auto model = Model::load(options);
  EXPECT_TRUE(model) << messageOf(model);
  return model ? std::move(*model) : nullptr;
}

const std::vector<int64_t> someTokens = {7, 8, 9, 4, 6, 5};

TEST(StepLimit, HoldsForSessions) {
  auto model = loadLimited("decoder");
  auto session = Session::create(*model, {});
  ASSERT_TRUE(session) << messageOf(session);
  auto add = [&](int64_t count) {
    auto id = (*session)->add({someTokens.data(), count}, {}, 3,
                              {std::vector<int64_t>()});
    EXPECT_TRUE(id) << messageOf(id);
    return *id;
  };
  add(5);
  uint64_t last = add(6);
  Status status = (*session)->step();
  ASSERT_TRUE(status) << messageOf(status);
  EXPECT_EQ((*session)->newTokens().size(), 1U);
  EXPECT_EQ((*session)->leftOut(), std::vector<uint64_t>{last});
  // Beside one that generates there are nine.
  status = (*session)->step();
  ASSERT_TRUE(status) << messageOf(status);
  EXPECT_EQ((*session)->newTokens().size(), 2U);
  for (int i = 0; i < 11; ++i) {
    add(1);
  }
  ASSERT_TRUE((*session)->step());
  EXPECT_EQ((*session)->newTokens().size(), 10U);
  EXPECT_EQ((*session)->leftOut().size(), 3U);
}

TEST(StepLimit, HoldsForSources) {
  auto model = loadLimited("translator");
  auto session = Session::create(*model, {});
  ASSERT_TRUE(session) << messageOf(session);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE((*session)->add({someTokens.data(), 6}, {}, 3,
                                {std::vector<int64_t>()}));
  }
  for (size_t count : {1, 2}) {
    Status status = (*session)->step();
    ASSERT_TRUE(status) << messageOf(status);
    EXPECT_EQ((*session)->newTokens().size(), count);
    EXPECT_EQ((*session)->leftOut().size(), 2 - count);
  }
}

TEST(StepLimit, HoldsForBeams) {
  auto model = loadLimited("translator");
  tfc_decoding_options how = defaultDecoding(model->table());
  how.num_beams = 6;
  Pair pair{{2, 3, {7, 8, 9, 4, 6, 5}, {}, {}, {}}, {}};
  // The prompts are two tokens, the beams twelve.
  EXPECT_EQ(messageOf(generate(*model, pair, 4, how)),
            "expected at most 10 tokens in a step, got 12");
  how.num_beams = 5;
  auto got = generate(*model, pair, 4, how);
  EXPECT_TRUE(got) << messageOf(got);
}

TEST(StepLimit, HoldsForInputs) {
  auto model = loadLimited("decoder");
  Padded padded{2, 6, {7, 8, 9, 4, 6, 5, 3, 4, 6, 7, 8, 5}, {}, {}, {}};
  EXPECT_EQ(messageOf(forward(*model, padded)),
            "input \"input_ids\": expected at most 10 tokens, got shape "
            "[2, 6]");
  padded = {2, 5, {7, 8, 9, 4, 6, 5, 3, 4, 6, 7}, {}, {}, {}};
  auto got = forward(*model, padded);
  EXPECT_TRUE(got) << messageOf(got);
}

} // namespace
} // namespace tfc::rt::test
