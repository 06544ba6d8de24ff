// How `tfc verify` packs a padded batch for the interpreter.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/verify/VerifyDecoding.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tfc;

namespace {

/// An entry with ids, segments that may be absent, positions, and an output
/// that takes `take`; the pad token is 0.
class VerifyBatchTest : public testing::Test {
protected:
  EntryInfo entry(const std::string &name, const std::string &take) {
    context.loadDialect<transformer::TransformerDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(
        R"(module attributes {transformer.model = #transformer.model<
        "m", kind = decoder, spec = "{}", pad = 0, max_positions = 4>}
        { func.func @)" +
            name + R"((%ids: tensor<?xi32> {transformer.input =
            #transformer.input<"input_ids", fill = required, limit = 10>},
          %types: tensor<?xi32> {transformer.input =
            #transformer.input<"token_type_ids", fill = absent, limit = 2>},
          %positions: tensor<?xi32> {transformer.input =
            #transformer.input<"position_ids", fill = position, limit = 4>},
          %rows: tensor<?xi32> {transformer.rows}, %x: tensor<?x1xf32>) {
          transformer.output "y" wanted take )" +
            take + R"( { transformer.yield %x : tensor<?x1xf32> }
          return } })",
        &context);
    return EntryInfo(*module->getOps<func::FuncOp>().begin());
  }

  /// Left padding, and a hole.
  static PaddedBatch batch() {
    PaddedBatch batch;
    batch.batch = 2;
    batch.length = 3;
    batch.inputs["input_ids"] = {0, 5, 6, 7, 8, 9};
    batch.mask = {0, 1, 1, 1, 0, 1};
    return batch;
  }

  static std::vector<std::vector<int64_t>> table(const reference::Step &step) {
    std::vector<std::vector<int64_t>> table;
    for (const reference::Sequence &s : step.sequences) {
      table.push_back({s.id, s.first, s.count, s.past, s.keys});
    }
    return table;
  }

  using Ids = std::vector<int32_t>;
  using Table = std::vector<std::vector<int64_t>>;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(VerifyBatchTest, DropsMaskedTokens) {
  reference::Step step = packForward(entry("step", "all"), batch(), batch());
  EXPECT_EQ(step.inputs["input_ids"], (Ids{5, 6, 7, 9}));
  EXPECT_EQ(step.inputs["token_type_ids"], (Ids{-1, -1, -1, -1}));
  EXPECT_EQ(step.inputs["position_ids"], (Ids{1, 2, 0, 2}));
  EXPECT_EQ(table(step), (Table{{0, 0, 2, 0, 2}, {1, 2, 2, 0, 2}}));
  EXPECT_EQ(step.rows, (Ids{0, 1, 2, 3}));
}

TEST_F(VerifyBatchTest, AMaskedTokenWhoseRowIsWantedIsASpectator) {
  // The first column of row 0 is masked.
  reference::Step step =
      packForward(entry("encode", "first"), batch(), batch());
  EXPECT_EQ(step.inputs["input_ids"], (Ids{5, 6, 0, 7, 9}));
  EXPECT_EQ(table(step),
            (Table{{0, 0, 2, 0, 2}, {0, 2, 1, 2, 2}, {1, 3, 2, 0, 2}}));
  EXPECT_EQ(step.rows, (Ids{2, 3}));
}

TEST_F(VerifyBatchTest, ACausalSpectatorSeesWhatIsBeforeIt) {
  PaddedBatch padded = batch();
  padded.inputs["input_ids"] = {5, 6, 0, 7, 8, 9};
  padded.mask = {1, 0, 1, 1, 1, 1};
  // Column 1 of row 0 is the last that is not the pad token, and masked.
  reference::Step step =
      packForward(entry("step", "last_nonpad"), padded, padded);
  EXPECT_EQ(step.inputs["input_ids"], (Ids{5, 6, 7, 8, 9}));
  EXPECT_EQ(table(step),
            (Table{{0, 0, 1, 0, 1}, {0, 1, 1, 1, 1}, {1, 2, 3, 0, 3}}));
  EXPECT_EQ(step.rows, (Ids{1, 4}));
}

TEST_F(VerifyBatchTest, ACausalDecoderEndsWhereItsOneRowIsTaken) {
  EntryInfo info = entry("step", "first_visible");
  reference::Step step = packForward(info, batch(), batch());
  EXPECT_EQ(step.inputs["input_ids"], (Ids{5, 7}));
  EXPECT_EQ(step.rows, (Ids{0, 1}));
  // But where another output has a row for every token.
  info.givesTokens = true;
  step = packForward(info, batch(), batch());
  EXPECT_EQ(step.inputs["input_ids"], (Ids{5, 6, 7, 9}));
  EXPECT_EQ(step.rows, (Ids{0, 2}));
}

TEST_F(VerifyBatchTest, RandomBatchesFitTheModel) {
  EntryInfo info = entry("step", "last_nonpad");
  PaddedBatch random = makeRandomBatches(info, 7).front();
  EXPECT_EQ(random.batch, 3);
  EXPECT_EQ(random.length, 4); // max_positions
  EXPECT_EQ(random.mask, (Ids{1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(random.inputs.count("position_ids"), 0u);
  for (size_t i = 0; i < random.mask.size(); ++i) {
    int32_t id = random.inputs["input_ids"][i];
    EXPECT_TRUE(random.mask[i] ? id >= 1 && id < 10 : id == 0) << id;
  }
  EXPECT_EQ(random.inputs, makeRandomBatches(info, 7).front().inputs);
  EXPECT_NE(random.inputs, makeRandomBatches(info, 8).front().inputs);
}

TEST_F(VerifyBatchTest, WithoutAPadTokenAClassifierGetsOneSequence) {
  EntryInfo info = entry("step", "last_nonpad");
  info.pad = -1;
  EXPECT_EQ(makeRandomBatches(info, 7).front().batch, 1);
}

TEST_F(VerifyBatchTest, DecodingMixesPromptsAndSingleTokens) {
  EntryInfo info = entry("step", "all");
  DecodeSteps steps(info, nullptr);
  steps.add(1, {5, 6});
  reference::Step first = steps.next("logits");
  EXPECT_EQ(first.outputs, std::set<std::string>{"logits"});
  EXPECT_EQ(table(first), (Table{{1, 0, 2, 0, 2}}));
  steps.advance(1, 7);
  steps.add(2, {8, 9});
  reference::Step second = steps.next("logits");
  EXPECT_EQ(second.inputs["input_ids"], (Ids{7, 8, 9}));
  EXPECT_EQ(second.inputs["position_ids"], (Ids{2, 0, 1}));
  EXPECT_EQ(table(second), (Table{{1, 0, 1, 2, 3}, {2, 1, 2, 0, 2}}));
  EXPECT_EQ(second.rows, (Ids{0, 2}));
}

/// A decoder behind an encoder, whose end token is 3.
static EntryInfo makeDecoder(EntryInfo info) {
  info.prefix = "decoder_";
  info.decoderStart = 2;
  info.eos = {3};
  return info;
}

TEST_F(VerifyBatchTest, CrossAttentionSeesTheSourceTokensThatExist) {
  PaddedBatch source = batch(), target = batch();
  target.mask = {1, 1, 1, 1, 0, 0};
  target.inputs["decoder_input_ids"] = target.inputs["input_ids"];
  reference::Step step =
      packForward(makeDecoder(entry("step", "all")), target, source);
  ASSERT_EQ(step.sequences.size(), 2u);
  EXPECT_EQ(step.sequences[0].count, 3);
  EXPECT_EQ(step.sequences[0].crossCount, 2);
  EXPECT_EQ(step.sequences[1].count, 1);
  EXPECT_EQ(step.sequences[1].crossCount, 2);
}

TEST_F(VerifyBatchTest, TheSourcesLastEndTokenIsTakenFromTheDecoder) {
  EntryInfo decoder = makeDecoder(entry("step", "last_eos"));
  PaddedBatch source = batch();
  source.mask = {1, 1, 1, 1, 1, 1};
  source.inputs["input_ids"] = {3, 3, 7, 8, 9, 3};
  PaddedBatch target = source;
  target.inputs["decoder_input_ids"] = {2, 3, 3, 2, 8, 9};
  reference::Step step = packForward(decoder, target, source);
  EXPECT_EQ(step.rows, (Ids{1, 4}));

  // Random batches have one end a row, where its tokens end.
  EntryInfo encoder = decoder;
  encoder.prefix.clear();
  std::vector<PaddedBatch> random = makeRandomBatches({encoder, decoder}, 7);
  ASSERT_EQ(random.size(), 2u);
  EXPECT_EQ(random[0].mask, random[1].mask);
  for (int64_t row = 0; row < random[0].batch; ++row) {
    for (int64_t column = 0; column < random[0].length; ++column) {
      size_t at = row * random[0].length + column;
      bool isLast = random[0].mask[at] &&
                    (column + 1 == random[0].length || !random[0].mask[at + 1]);
      EXPECT_EQ(random[0].inputs["input_ids"][at] == 3, isLast);
    }
  }
}

TEST_F(VerifyBatchTest, PromptsOfAnEncoderAreEncodedOnce) {
  EntryInfo encoder = entry("encode", "all");
  EntryInfo decoder = makeDecoder(encoder);
  DecodeSteps steps(decoder, &encoder);
  steps.add(1, {5, 6, 7});
  std::optional<reference::Step> encode = steps.nextEncode();
  ASSERT_TRUE(encode);
  EXPECT_EQ(encode->inputs["input_ids"], (Ids{5, 6, 7}));
  EXPECT_EQ(table(*encode), (Table{{1, 0, 3, 0, 3}}));
  EXPECT_FALSE(steps.nextEncode());
  reference::Step first = steps.next("logits");
  EXPECT_EQ(table(first), (Table{{1, 0, 1, 0, 1}}));
  EXPECT_EQ(first.sequences[0].crossCount, 3);
  steps.advance(1, 4);
  EXPECT_FALSE(steps.nextEncode());
  EXPECT_EQ(table(steps.next("logits")), (Table{{1, 0, 1, 1, 2}}));
}

} // namespace
