// What a model's engines have left when a pass is over, and who keeps the
// blocks of a source.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/step/Engine.h"

#include "runtime/src/session/Session.h"
#include "test/runtime/PairModel.h"

namespace tfc::rt::test {
namespace {

TEST(Engine, HasNoBlocksInUseAfterAPass) {
  for (const char *variant : {"encoder", "decoder", "shifting"}) {
    SCOPED_TRACE(variant);
    auto model = loadFake(variant, FakeWeights());
    Padded padded{2, 6, {7, 8, 9, 4, 6, 5, 2, 4, 6, 7, 8, 5}, {}, {}, {}};
    auto got = forward(*model, padded);
    ASSERT_TRUE(got) << messageOf(got);
    // The one that the pass gave back.
    auto engine = model->borrowEngine();
    ASSERT_TRUE(engine) << messageOf(engine);
    for (const Runner *runner :
         {(*engine)->encode.get(), (*engine)->step.get()}) {
      if (runner) {
        EXPECT_GT(runner->cache.capacity(), 0);
        EXPECT_EQ(runner->cache.used(), 0);
      }
    }
    EXPECT_EQ((*engine)->cross.used(), 0);
  }
}

TEST(Engine, ScratchBlocksServeEveryStep) {
  auto model = loadFake("translator", FakeWeights());
  Engine engine(*model);
  ASSERT_TRUE(engine.open({}));
  for (int round = 0; round < 3; ++round) {
    // Ports: token ids and positions. A block holds 4 positions.
    Source source;
    source.values = {{7, 8, 9, 4, 6}, {0, 1, 2, 3, 4}};
    ASSERT_TRUE(engine.encodeSources({&source}));
    EXPECT_EQ(source.count, 5);
    EXPECT_EQ(engine.encode->cache.used(), 2);
    engine.cross.release(source.blocks);
  }
}

/// Two blocks of a source, and others.
const std::vector<int64_t> someSource = {7, 8, 9, 4, 6};
const std::vector<int64_t> otherSource = {9, 9, 2, 2, 11};

/// A prompt that reads `source`, which is null for the first one.
Prompt promptOver(const Model &model, std::shared_ptr<Source> &source,
                  int64_t maxNewTokens) {
  tfc_tensor tensor{"input_ids", TFC_I64, 2, {1, 5, 0}, someSource.data()};
  auto inputs = readInputs(model, &tensor, 1);
  EXPECT_TRUE(inputs) << messageOf(inputs);
  EXPECT_TRUE(startDecoder(model, *inputs));
  auto prompt =
      promptOfRow(model, *model.decoder(), inputs->decoder, 0, maxNewTokens);
  EXPECT_TRUE(prompt) << messageOf(prompt);
  if (!source) {
    source = sourceOfRow(model, inputs->encoder, 0);
  }
  prompt->source = source;
  prompt->choice.promptLength = 1;
  return std::move(*prompt);
}

std::vector<int64_t> alone(const Model &model,
                           const std::vector<int64_t> &source, int64_t count) {
  Pair pair{{1, static_cast<int64_t>(source.size()), source, {}, {}, {}}, {}};
  auto got = generate(model, pair, count);
  EXPECT_TRUE(got) << messageOf(got);
  const std::vector<int64_t> &row = got->front().ints;
  return {row.begin() + 1, row.end()};
}

TEST(Engine, ASourceStaysUntilItsLastReaderGoes) {
  auto model = loadFake("translator", FakeWeights(5));
  auto session = Session::create(*model, {});
  ASSERT_TRUE(session) << messageOf(session);
  std::shared_ptr<Source> source;
  std::map<uint64_t, std::vector<int64_t>> tokens;
  uint64_t brief = (*session)->add(promptOver(*model, source, 1));
  uint64_t lasting = (*session)->add(promptOver(*model, source, 6));
  source.reset();
  auto step = [&] {
    Status status = (*session)->step();
    EXPECT_TRUE(status) << messageOf(status);
    for (const tfc_new_token &token : (*session)->newTokens()) {
      tokens[token.sequence].push_back(token.token);
    }
  };
  step();
  EXPECT_EQ(tokens[brief].size(), 1U);
  EXPECT_EQ((*session)->crossCache().used(), 2) << "the other still reads";
  // Whoever comes now takes blocks that nobody reads.
  auto other =
      (*session)->add({otherSource.data(), 5}, {}, 6, {std::vector<int64_t>()});
  ASSERT_TRUE(other) << messageOf(other);
  for (int i = 0; i < 6; ++i) {
    step();
  }
  EXPECT_EQ(tokens[lasting], alone(*model, someSource, 6));
  EXPECT_EQ(tokens[*other], alone(*model, otherSource, 6));
  EXPECT_EQ((*session)->crossCache().used(), 0);
}

TEST(Engine, SaysWhenCompiledCodeWritesTooFar) {
  Padded padded{1, 3, {7, 8, 9}, {}, {}, {}};
  auto model = loadFake("overruns_workspace", FakeWeights());
  auto got = forward(*model, padded);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::Internal);
  EXPECT_EQ(messageOf(got),
            fakeLibrary("overruns_workspace") +
                ": entry encode: expected writes within the 80 bytes of its "
                "workspace, got one beyond");
  model = loadFake("overruns_output", FakeWeights());
  got = forward(*model, padded, {"last_hidden_state"});
  ASSERT_FALSE(got);
  EXPECT_EQ(messageOf(got),
            fakeLibrary("overruns_output") +
                ": entry encode: expected writes within the 48 bytes of output "
                "last_hidden_state, got one beyond");
  EXPECT_TRUE(forward(*model, padded, {"logits"}));
}

} // namespace
} // namespace tfc::rt::test
