// Generation of encoder-decoders: what their decoders begin with, and the
// blocks of sources.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/choose/Decoding.h"
#include "runtime/src/session/Session.h"
#include "test/runtime/PairModel.h"

namespace tfc::rt::test {
namespace {

const std::vector<int64_t> noEos;

TEST(PairGenerate, GeneratesFromItsStart) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    std::mt19937 random(seed);
    FakeWeights weights(seed);
    auto model = loadFake("translator", weights, 1 + seed % 3);
    Pair pair{randomBatch(random, 1 + seed % 4, 1 + random() % 16), {}};
    EncodedSource source = encodeReference(weights, pair.source);
    int64_t batch = pair.source.batch;
    Padded start{batch, 1, std::vector<int64_t>(batch, 2), {}, {}, {}};
    std::vector<int64_t> expected =
        referenceGenerate(weights, start, noEos, 0, 7, &source);
    auto got = generate(*model, pair, 7);
    ASSERT_TRUE(got) << messageOf(got);
    EXPECT_EQ(got->front().ints, expected);
    // Given, the start is not put before itself; positions are columns.
    pair.target = randomBatch(random, batch, 4);
    pair.target.ids[0] = 2;
    expected = referenceGenerate(weights, pair.target, noEos, 0, 7, &source);
    got = generate(*model, pair, 7);
    ASSERT_TRUE(got) << messageOf(got);
    EXPECT_EQ(got->front().ints, expected);
  }
}

TEST(PairGenerate, PutsItsStartBeforeWhatIsGiven) {
  FakeWeights weights;
  auto model = loadFake("translator", weights);
  Pair pair{{2, 2, {7, 8, 9, 10}, {}, {}, {}},
            {2, 2, {4, 2, 6, 7}, {}, {}, {}}};
  pair.target.mask = {1, 1, 0, 1};
  EncodedSource source = encodeReference(weights, pair.source);
  Padded whole{2, 3, {2, 4, 2, 2, 6, 7}, {1, 1, 1, 1, 0, 1}, {}, {}};
  auto got = generate(*model, pair, 5);
  ASSERT_TRUE(got) << messageOf(got);
  EXPECT_EQ(got->front().ints,
            referenceGenerate(weights, whole, noEos, 0, 5, &source));
  pair.target.positions = {0, 1, 0, 1};
  EXPECT_EQ(messageOf(generate(*model, pair, 5)),
            "input \"decoder_input_ids\": expected rows that begin with 2 (the "
            "model's decoder_start, where decoder_position_ids are given), got "
            "others");
}

TEST(PairGenerate, WithoutStartItsFirstTokenIsBos) {
  FakeWeights weights;
  auto model = loadFake("startless", weights);
  Pair pair{{1, 2, {7, 8}, {}, {}, {}}, {}};
  EncodedSource source = encodeReference(weights, pair.source);
  auto got = generate(*model, pair, 5);
  ASSERT_TRUE(got) << messageOf(got);
  EXPECT_EQ(got->front().ints,
            referenceGenerate(weights, {1, 1, {1}, {}, {}, {}}, noEos, 0, 5,
                              &source));
}

TEST(PairGenerate, GuessesNoMask) {
  FakeWeights weights;
  auto model = loadFake("translator", weights);
  Pair pair{{1, 4, {7, 0, 8, 0}, {}, {}, {}}, {1, 3, {2, 0, 4}, {}, {}, {}}};
  EncodedSource source = encodeReference(weights, pair.source);
  auto got = generate(*model, pair, 5);
  ASSERT_TRUE(got) << messageOf(got);
  EXPECT_EQ(got->front().ints,
            referenceGenerate(weights, pair.target, noEos, 0, 5, &source));
}

TEST(PairGenerate, ReturnedSequencesAndBeamsReadOneSource) {
  FakeWeights weights(4);
  auto model = loadFake("translator", weights, 2);
  std::mt19937 random(3);
  Pair pair{randomBatch(random, 3, 7), {}};
  tfc_decoding_options how = defaultDecoding(model->table());
  how.do_sample = 1;
  how.num_return_sequences = 3;
  auto drawn = generate(*model, pair, 6, how);
  ASSERT_TRUE(drawn) << messageOf(drawn);
  EXPECT_EQ(drawn->front().shape, (std::vector<int64_t>{9, 7}));
  // The first draw of each prompt is the one that comes alone.
  how.num_return_sequences = 1;
  auto alone = generate(*model, pair, 6, how);
  ASSERT_TRUE(alone) << messageOf(alone);
  for (int64_t i = 0; i < 3 * 7; ++i) {
    EXPECT_EQ(alone->front().ints[i],
              drawn->front().ints[i / 7 * 3 * 7 + i % 7]);
  }
  how = defaultDecoding(model->table());
  how.num_beams = how.num_return_sequences = 4;
  auto beams = generate(*model, pair, 6, how);
  ASSERT_TRUE(beams) << messageOf(beams);
  EXPECT_EQ(beams->front().shape, (std::vector<int64_t>{12, 7}));
}

struct Running {
  std::vector<int64_t> source, tokens;
  int64_t count = 0;
};

TEST(PairGenerate, SequencesThatComeAndGoEqualThemselvesAlone) {
  FakeWeights weights(5);
  auto model = loadFake("translator", weights, 3);
  auto session = Session::create(*model, {});
  ASSERT_TRUE(session) << messageOf(session);
  std::mt19937 random(1);
  std::map<uint64_t, Running> running;
  size_t numFinished = 0;
  for (int step = 0; step < 50; ++step) {
    for (uint32_t n = step < 30 ? random() % 3 : 0; n > 0; --n) {
      Running one;
      one.source.resize(1 + random() % 9);
      for (int64_t &id : one.source) {
        id = 1 + random() % (vocab - 1);
      }
      one.count = 1 + random() % 7;
      auto id = (*session)->add(
          {one.source.data(), static_cast<int64_t>(one.source.size())}, {},
          one.count, {noEos});
      ASSERT_TRUE(id) << messageOf(id);
      running[*id] = one;
    }
    if (step % 7 == 6 && !running.empty()) {
      EXPECT_TRUE((*session)->remove(running.begin()->first));
      running.erase(running.begin());
    }
    Status status = (*session)->step();
    ASSERT_TRUE(status) << messageOf(status);
    EXPECT_EQ((*session)->newTokens().size(), running.size());
    for (const tfc_new_token &token : (*session)->newTokens()) {
      Running &one = running.at(token.sequence);
      one.tokens.push_back(token.token);
      if (static_cast<int64_t>(one.tokens.size()) < one.count) {
        continue;
      }
      Pair pair{
          {1, static_cast<int64_t>(one.source.size()), one.source, {}, {}, {}},
          {}};
      auto alone = generate(*model, pair, one.count);
      ASSERT_TRUE(alone) << messageOf(alone);
      one.tokens.insert(one.tokens.begin(), 2);
      EXPECT_EQ(one.tokens, alone->front().ints);
      running.erase(token.sequence);
      ++numFinished;
    }
  }
  EXPECT_GT(numFinished, 15U);
  EXPECT_EQ((*session)->cache().used(), 0);
  EXPECT_EQ((*session)->crossCache().used(), 0);
}

TEST(PairGenerate, OneLimitHoldsForBothCaches) {
  auto model = loadFake("translator", FakeWeights());
  const tfc_entry_v0 &step = *model->decoder();
  // Two sequences of one block for themselves and one for their sources.
  uint64_t limit = 2 * (cacheOf(step, TFC_CACHE_SELF).block_bytes +
                        cacheOf(step, TFC_CACHE_CROSS).block_bytes);
  auto session = Session::create(*model, {{limit, {}}});
  ASSERT_TRUE(session) << messageOf(session);
  std::vector<int64_t> tokens = {7, 8, 9};
  std::vector<uint64_t> added;
  for (int i = 0; i < 3; ++i) {
    auto id = (*session)->add({tokens.data(), 3}, {}, 3, {noEos});
    ASSERT_TRUE(id) << messageOf(id);
    added.push_back(*id);
  }
  ASSERT_TRUE((*session)->step());
  EXPECT_EQ((*session)->newTokens().size(), 2U);
  EXPECT_EQ((*session)->leftOut(), std::vector<uint64_t>{added[2]});
  EXPECT_EQ((*session)->cacheBytes().used, limit);
  EXPECT_TRUE((*session)->remove(added[1]));
  ASSERT_TRUE((*session)->step());
  EXPECT_EQ((*session)->newTokens().size(), 2U);
  EXPECT_TRUE((*session)->leftOut().empty());
  EXPECT_EQ((*session)->crossCache().used(), 2);
}

TEST(PairGenerate, SessionsTakeDecoderTokens) {
  FakeWeights weights;
  auto model = loadFake("translator", weights);
  auto session = Session::create(*model, {});
  ASSERT_TRUE(session) << messageOf(session);
  std::vector<int64_t> tokens = {7, 8, 9}, begin = {4, 5};
  auto id = (*session)->add({tokens.data(), 3}, {begin.data(), 2}, 1, {noEos});
  ASSERT_TRUE(id) << messageOf(id);
  ASSERT_TRUE((*session)->step());
  EncodedSource source =
      encodeReference(weights, {1, 3, {7, 8, 9}, {}, {}, {}});
  EXPECT_EQ((*session)->newTokens().front().token,
            referenceGenerate(weights, {1, 3, {2, 4, 5}, {}, {}, {}}, noEos, 0,
                              1, &source)
                .back());
  auto bad = (*session)->add({tokens.data(), 3}, {begin.data(), 0}, 1, {noEos});
  EXPECT_EQ(messageOf(bad), "input \"decoder_input_ids\": expected shape "
                            "[batch, length], each at least 1, got [1, 0]");
  // Where there is no encoder, there is no such input.
  auto decoder = loadFake("decoder", weights);
  auto other = Session::create(*decoder, {});
  ASSERT_TRUE(other) << messageOf(other);
  bad = (*other)->add({tokens.data(), 3}, {begin.data(), 2}, 1, {noEos});
  EXPECT_EQ(messageOf(bad),
            "input \"decoder_input_ids\": expected one of input_ids, "
            "token_type_ids, position_ids, attention_mask, got another name");
}

} // namespace
} // namespace tfc::rt::test
