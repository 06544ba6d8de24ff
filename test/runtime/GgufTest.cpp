// GGUF files: blocks by hand-computed values, names and rows as Hugging Face
// has them, tokenizers, and files that lie.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/GgufWriter.h"

#include "runtime/src/files/gguf/GgufFile.h"
#include "runtime/src/files/quantized/Quantized.h"
#include "runtime/text/ReadTokenizer.h"
#include "test/runtime/FakeModel.h"
#include "test/runtime/ScaleTypes.h"

#include <cmath>
#include <fstream>

namespace tfc::rt::test {
namespace {

using Row = std::vector<float>;

constexpr const char *one = "\x00\x3c"; // of f16
std::string half(const char *bits) { return std::string(bits, 2); }

class GgufTest : public ::testing::Test {
protected:
  Folder folder;
  std::string path = folder / "model.gguf";

  void write(const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  std::string errorOf(const std::string &bytes) {
    write(bytes);
    std::string message = messageOf(TensorFiles::open(path));
    size_t at = message.find(path);
    return at == 0 ? message.substr(path.size() + 2) : message;
  }
  /// A row of one block.
  Row decode(uint32_t type, uint64_t elements, const std::string &block) {
    GgufWriter file;
    file.add("general.architecture", std::string("qwen2"));
    file.tensor("blk.0.ffn_up.weight", {1, elements}, type, block);
    write(file.finish());
    auto files = TensorFiles::open(path);
    EXPECT_TRUE(files) << messageOf(files);
    const Tensor *tensor =
        files ? files->find("model.layers.0.mlp.up_proj.weight") : nullptr;
    EXPECT_TRUE(tensor);
    Row values(elements);
    if (tensor) {
      convertToF32(*tensor, 0, static_cast<int64_t>(elements), values.data());
    }
    return values;
  }
};

/// What is kept of the block that was decoded last, as what it stands for.
Row keptOf(const std::string &path, const KeptForm &form) {
  auto files = TensorFiles::open(path);
  EXPECT_TRUE(files) << messageOf(files);
  const Tensor *tensor = files->find("model.layers.0.mlp.up_proj.weight");
  const IntegerMatrix *matrix = findKept(*tensor->quantized, form);
  if (!matrix) {
    return {};
  }
  KeptRows kept = readKept(*matrix, form, 0, 1);
  Row values;
  for (size_t i = 0; i < kept.integers.size(); ++i) {
    EXPECT_TRUE(kept.integers[i] >= -8 && kept.integers[i] <= 7);
    size_t group = i / static_cast<size_t>(form.group);
    values.push_back(static_cast<float>(kept.integers[i] + 8) *
                         kept.scales[group] -
                     kept.floatZeros[group]);
  }
  EXPECT_TRUE(areHeld(kept.scales, matrix->scaleType));
  EXPECT_TRUE(areHeld(kept.floatZeros, matrix->scaleType));
  return values;
}

/// 0x21 0x43 ... : element i is 1 + 2i of the low nibbles, those from 16 on are
/// the high ones.
std::string nibbles() {
  std::string bytes;
  for (int i = 0; i < 16; ++i) {
    bytes += static_cast<char>(i | (15 - i) << 4);
  }
  return bytes;
}

TEST_F(GgufTest, BlocksOf32) {
  for (int i = 0; i < 32; ++i) {
    float q = static_cast<float>(i < 16 ? i : 31 - i);
    auto at = static_cast<size_t>(i);
    // -2, since scales may be negative.
    EXPECT_EQ(decode(2, 32, half("\x00\xc0") + nibbles())[at], -2 * (q - 8));
    EXPECT_EQ(decode(3, 32, half(one) + half("\x00\xb8") + nibbles())[at],
              q - 0.5F);
    // The fifth bit of elements 0, 17 and 31.
    float high = i == 0 || i == 17 || i == 31 ? 16.0F : 0.0F;
    std::string word("\x01\x00\x02\x80", 4);
    EXPECT_EQ(decode(6, 32, half(one) + word + nibbles())[at], q + high - 16);
    EXPECT_EQ(decode(7, 32, half(one) + half(one) + word + nibbles())[at],
              q + high + 1);
  }
  std::string bytes(32, '\0');
  bytes[3] = '\x80', bytes[31] = 5;
  Row values = decode(8, 32, half("\x00\x38") + bytes);
  EXPECT_EQ(values[3], -64);
  EXPECT_EQ(values[31], 2.5F);
  values = decode(39, 32, "\x80" + nibbles());
  EXPECT_EQ(values[1], 1);
  EXPECT_EQ(values[15], -12);
  EXPECT_EQ(values[16], -12);
}

/// All scales and minima differ, so that each is where it belongs: scale of
/// group j is j + 1 (and 17 + j for the upper four), minimum 2j (33 + j).
std::string pairsOfScales() {
  std::string bytes(12, '\0');
  auto scale = [](int j) { return j < 4 ? j + 1 : 17 + j; };
  auto least = [](int j) { return j < 4 ? 2 * j : 33 + j; };
  for (size_t j = 0; j < 4; ++j) {
    int k = static_cast<int>(j);
    bytes[j] = static_cast<char>(scale(k) | scale(k + 4) >> 4 << 6);
    bytes[j + 4] = static_cast<char>(least(k) | least(k + 4) >> 4 << 6);
    bytes[j + 8] =
        static_cast<char>((scale(k + 4) & 15) | (least(k + 4) & 15) << 4);
  }
  return bytes;
}

TEST_F(GgufTest, BlocksOf256) {
  std::string low(128, '\x53'); // 3 in even groups, 5 in odd ones
  std::string head = half(one) + half("\x00\x40") + pairsOfScales();
  Row four = decode(12, 256, head + low);
  // Bit 1 and 6 of byte 2: elements 34 and 194.
  std::string high(32, '\0');
  high[2] = 0x42;
  Row five = decode(13, 256, head + high + low);
  for (size_t e = 0; e < 256; ++e) {
    auto group = static_cast<float>(e / 32);
    float scale = e < 128 ? group + 1 : 17 + group;
    float least = e < 128 ? 2 * group : 33 + group;
    float q = e / 32 % 2 ? 5 : 3;
    EXPECT_EQ(four[e], scale * q - 2 * least) << e;
    float more = e == 34 || e == 194 ? 16 : 0;
    EXPECT_EQ(five[e], scale * (q + more) - 2 * least) << e;
  }
}

/// Blocks with a minimum are kept as they are where groups have zeros that are
/// floats, and those without beside them.
TEST_F(GgufTest, MinimaAreKept) {
  const KeptForm floats{true, 32, false, true}, plain{true, 32};
  std::string head = half(one) + half("\x00\x40") + pairsOfScales();
  std::string low;
  for (int i = 0; i < 128; ++i) {
    low += static_cast<char>(37 * i);
  }
  Row values = decode(12, 256, head + low);
  EXPECT_EQ(keptOf(path, floats), values);
  EXPECT_EQ(keptOf(path, plain), Row());
  EXPECT_EQ(keptOf(path, {false, 32}), Row());
  EXPECT_EQ(keptOf(path, {true, 64, false, true}), Row());
  values = decode(3, 32, half("\x00\x38") + half("\x00\xb8") + nibbles());
  EXPECT_EQ(keptOf(path, floats), values);
  values = decode(2, 32, half("\x00\xc0") + nibbles());
  EXPECT_EQ(keptOf(path, floats), values);
}

TEST_F(GgufTest, BlocksOf256WithSignedScales) {
  std::string block(210, '\0');
  for (size_t i = 0; i < 16; ++i) {
    block[192 + i] = static_cast<char>(static_cast<int>(i) - 8);
  }
  block[209] = 0x3c; // 1
  block[0] = 0x21, block[32] = 0x43, block[64 + 5] = '\xf0';
  block[128] = '\x1b', block[128 + 32 + 5] = 0x30;
  Row values = decode(14, 256, block);
  // Element 128h + 32k + l: nibble k / 2 of byte 64h + 32(k % 2) + l, bits 2k
  // of byte 32h + l.
  EXPECT_EQ(values[0], -8 * (1 + 3 * 16 - 32));
  EXPECT_EQ(values[32], -6 * (3 + 2 * 16 - 32));
  EXPECT_EQ(values[64], -4 * (2 + 1 * 16 - 32));
  EXPECT_EQ(values[96], -2 * (4 - 32));
  EXPECT_EQ(values[128 + 64 + 5], 4 * (15 + 3 * 16 - 32));
  EXPECT_EQ(values[1], -8 * -32);
}

GgufWriter llama() {
  GgufWriter file;
  file.add("general.architecture", std::string("llama"));
  file.add("llama.attention.head_count", 2U);
  file.add("llama.attention.head_count_kv", 1U);
  return file;
}

/// Two heads of four rows of queries, one of keys: row 4h + 2j + i of Hugging
/// Face is 4h + 2i + j of the file... of one column each.
TEST_F(GgufTest, RowsOfRotatedHeads) {
  GgufWriter file = llama();
  file.floats("blk.3.attn_q.weight", {8, 1}, {0, 1, 2, 3, 4, 5, 6, 7});
  file.floats("blk.3.attn_q.bias", {8}, {0, 1, 2, 3, 4, 5, 6, 7});
  file.floats("blk.3.attn_k.weight", {4, 1}, {0, 1, 2, 3});
  file.floats("blk.3.attn_v.weight", {4, 1}, {0, 1, 2, 3});
  file.floats("rope_freqs.weight", {2}, {1, 1});
  write(file.finish());
  auto files = TensorFiles::open(path);
  ASSERT_TRUE(files) << messageOf(files);
  EXPECT_EQ(files->tensors().size(), 4U);
  for (const auto &[name, expected] :
       {std::pair{"q_proj.weight", Row{0, 2, 1, 3, 4, 6, 5, 7}},
        {"q_proj.bias", Row{0, 2, 1, 3, 4, 6, 5, 7}},
        {"k_proj.weight", Row{0, 2, 1, 3}},
        {"v_proj.weight", Row{0, 1, 2, 3}}}) {
    const Tensor *tensor =
        files->find(std::string("model.layers.3.self_attn.") + name);
    ASSERT_TRUE(tensor) << name;
    Row values(expected.size());
    convertToF32(*tensor, 0, tensor->elements(), values.data());
    EXPECT_EQ(values, expected) << name;
  }
}

/// Blocks that are integers times a scale are kept as they are, in rows that
/// change places, too: what is kept stands for the very numbers of the file.
TEST_F(GgufTest, BlocksOfIntegersAreKept) {
  const KeptForm fours{true, 32, false}, bytes{false, 32, false};
  std::string rest(32, '\x80');
  for (auto [type, block, form, other] :
       {std::tuple{2U, half("\x00\xc0") + nibbles(), fours, bytes},
        {6U, half(one) + std::string("\x01\x00\x02\x80", 4) + nibbles(), bytes,
         fours},
        {8U, half("\x00\xb8") + rest, bytes, fours}}) {
    GgufWriter file = llama();
    std::string flipped = block;
    flipped[2] ^= 5;
    file.tensor("blk.0.attn_k.weight", {4, 32}, type,
                block + flipped + flipped + block);
    write(file.finish());
    auto files = TensorFiles::open(path);
    ASSERT_TRUE(files) << messageOf(files);
    const Tensor *tensor =
        files->find("model.layers.0.self_attn.k_proj.weight");
    ASSERT_TRUE(tensor);
    const IntegerMatrix *matrix = findKept(*tensor->quantized, form);
    ASSERT_TRUE(matrix);
    // Four bits are bytes, too.
    EXPECT_EQ(findKept(*tensor->quantized, other) != nullptr, type == 2);
    EXPECT_FALSE(findKept(*tensor->quantized, {form.isFour, 64, false}));
    KeptRows kept = readKept(*matrix, form, 0, 4);
    Row exact(4 * 32), values;
    convertToF32(*tensor, 0, tensor->elements(), exact.data());
    for (size_t i = 0; i < kept.integers.size(); ++i) {
      values.push_back(static_cast<float>(kept.integers[i]) *
                       kept.scales[i / 32]);
    }
    EXPECT_EQ(values, exact) << type;
  }
  // A minimum that is no integer, or scales of 16 elements, are not.
  GgufWriter file = llama();
  file.tensor("blk.0.ffn_up.weight", {1, 32}, 3,
              half(one) + half(one) + nibbles());
  write(file.finish());
  auto files = TensorFiles::open(path);
  ASSERT_TRUE(files) << messageOf(files);
  const Tensor *tensor = files->find("model.layers.0.mlp.up_proj.weight");
  EXPECT_FALSE(findKept(*tensor->quantized, fours));
  EXPECT_FALSE(findKept(*tensor->quantized, bytes));
}

TEST_F(GgufTest, FilesThatLie) {
  GgufWriter good = llama();
  good.floats("output_norm.weight", {4}, {1, 2, 3, 4});
  std::string bytes = good.finish();
  EXPECT_EQ(errorOf(bytes), "");
  // Wherever it ends before the last number does, it is one error.
  constexpr size_t padding = 16;
  for (size_t size = 4; size < bytes.size() - padding; ++size) {
    std::string error = errorOf(bytes.substr(0, size));
    EXPECT_NE(error, "") << size;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
  GgufWriter many = llama();
  many.numTensors = uint64_t(1) << 60;
  EXPECT_NE(errorOf(many.finish())
                .find("expected as many tensors and values "
                      "as fit into"),
            std::string::npos);
  GgufWriter older = llama();
  older.version = 1;
  EXPECT_EQ(errorOf(older.finish()), "expected version 2 or 3 of GGUF, got 1");
  older.version = 3U << 24;
  EXPECT_EQ(errorOf(older.finish()),
            "expected version 2 or 3 of GGUF, got a file of a machine with the "
            "other order of bytes");
  GgufWriter unknown = llama();
  unknown.tensor("output.weight", {1, 256}, 10, std::string(84, '\0'));
  EXPECT_EQ(errorOf(unknown.finish()),
            "tensor \"output.weight\": expected blocks that tfc reads (F32, "
            "F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K, MXFP4)"
            ", got those of type 10; take another file of the model");
  GgufWriter ragged = llama();
  ragged.tensor("output.weight", {2, 40}, 8, std::string(68, '\0'));
  EXPECT_EQ(errorOf(ragged.finish()),
            "tensor \"output.weight\": expected rows of whole Q8_0 blocks of "
            "32, got 40 columns");
  GgufWriter blocks = llama();
  blocks.tensor("blk.0.attn_q.bias", {32}, 8, std::string(34, '\0'));
  EXPECT_EQ(errorOf(blocks.finish()),
            "tensor \"blk.0.attn_q.bias\": expected a vector of floats, got "
            "Q8_0 blocks");
  GgufWriter wide = llama();
  wide.tensor("output.weight", {1U << 30, 1U << 30}, 0, "");
  EXPECT_NE(errorOf(wide.finish()).find("at most 2^56 elements"),
            std::string::npos);
  GgufWriter other;
  other.add("general.architecture", std::string("mamba"));
  EXPECT_EQ(
      errorOf(other.finish()),
      "expected general.architecture to be one of arcee, bert, bloom, "
      "cohere2, command-r, deepseek2, dots1, ernie4_5, ernie4_5-moe, "
      "exaone4, falcon, falcon-h1, gemma, gemma2, gemma3, gemma4, glm4, "
      "glm4moe, gpt-oss, gpt2, gptneox, granite, granitehybrid, "
      "granitemoe, hunyuan-dense, internlm2, lfm2, lfm2moe, llama, "
      "llama4, mamba2, minimax-m2, mistral3, modern-bert, mpt, nemotron, "
      "nemotron_h, nemotron_h_moe, nomic-bert, olmo, olmo2, olmoe, phi2, "
      "phi3, qwen2, qwen2moe, qwen2vl, qwen3, qwen35, qwen35moe, "
      "qwen3moe, qwen3next, qwen3vl, qwen3vlmoe, seed_oss, smollm3, "
      "stablelm, starcoder2 (others of GGUF are not read), got \"mamba\"; "
      "import the model's Hugging Face folder");
}

/// A file of `architecture` with one layer's parts.
GgufWriter partsOf(const char *architecture) {
  GgufWriter file;
  file.add("general.architecture", std::string(architecture));
  return file;
}

/// A whole head of metadata, and frequencies divided as LLaMA 3 has them.
GgufWriter llama3(size_t spoiled) {
  GgufWriter file = llama();
  for (const char *key :
       {"block_count", "feed_forward_length", "context_length"}) {
    file.add(std::string("llama.") + key, 64U);
  }
  file.add("llama.embedding_length", 256U);
  file.add("llama.rope.freq_base", 500000.0F);
  file.add("llama.attention.layer_norm_rms_epsilon", 1e-5F);
  file.floats("token_embd.weight", {1, 1}, {1});
  Row factors;
  for (int i = 0; i < 64; ++i) {
    double length = 2 * 3.141592653589793 * std::pow(500000.0, i / 64.0);
    double smooth = (8192 / length - 1) / 3;
    double factor = length < 8192 / 4.0 ? 1
                    : length > 8192     ? 32
                                        : 1 / ((1 - smooth) / 32 + smooth);
    factors.push_back(static_cast<float>(factor));
  }
  if (spoiled < factors.size()) {
    factors[spoiled] *= 1.1F;
  }
  file.floats("rope_freqs.weight", {64}, factors);
  return file;
}

TEST_F(GgufTest, FactorsOfFrequencies) {
  auto configOf = [&](const GgufWriter &writer) {
    write(writer.finish());
    auto file = GgufFile::open(path);
    EXPECT_TRUE(file) << messageOf(file);
    return file ? makeGgufConfig(**file) : Result<std::string>(file.error());
  };
  auto config = configOf(llama3(64));
  ASSERT_TRUE(config) << messageOf(config);
  for (const char *part :
       {"\"rope_type\": \"llama3\"", "\"factor\": 32.0",
        "\"rms_norm_eps\": 1e-05", "\"tie_word_embeddings\": true",
        "\"hidden_size\": 256", "\"num_key_value_heads\": 1"}) {
    EXPECT_NE(config->find(part), std::string::npos) << part << *config;
  }
  auto other = configOf(llama3(30));
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find(
                "tensor \"rope_freqs.weight\": expected the factors of LLaMA "
                "3's rule (of 32 from 8192 positions on), got "),
            std::string::npos)
      << other.error().message;
  GgufWriter scores = llama3(64);
  scores.add("llama.logit_scale", 8U);
  EXPECT_NE(messageOf(configOf(scores)).find("expected no llama.logit_scale"),
            std::string::npos);
  GgufWriter scaled = llama3(64);
  scaled.add("llama.rope.scaling.type", std::string("su"));
  EXPECT_NE(messageOf(configOf(scaled))
                .find("rope.scaling.type none, linear, yarn or longrope, got "
                      "\"su\""),
            std::string::npos);
}

/// The ids of a text with the file's tokenizer.
std::vector<int64_t> idsOf(const std::string &path, const std::string &text) {
  auto tokenizer = text::readTokenizer(path);
  EXPECT_TRUE(tokenizer) << messageOf(tokenizer);
  if (!tokenizer) {
    return {};
  }
  auto encoded = (*tokenizer)->encode(text, {}, {});
  EXPECT_TRUE(encoded) << messageOf(encoded);
  std::vector<int64_t> ids;
  for (size_t i = 0; encoded && i < encoded->size(); ++i) {
    ids.push_back((*encoded)[i].id);
  }
  return ids;
}

TEST_F(GgufTest, PiecesByTheirScores) {
  GgufWriter file = llama();
  file.add("tokenizer.ggml.model", std::string("llama"));
  file.add("tokenizer.ggml.tokens",
           std::vector<std::string>{"<unk>", "<s>", "</s>", "\u2581", "a", "b",
                                    "c", "ab", "bc", "\u2581a", "<|u|>"});
  file.add("tokenizer.ggml.scores", 6,
           std::vector<float>{0, 0, 0, -1, -2, -3, -4, -9, -5, -7, -1000});
  file.add("tokenizer.ggml.token_type", 5,
           std::vector<int32_t>{2, 3, 3, 1, 1, 1, 1, 1, 1, 1, 4});
  file.add("tokenizer.ggml.bos_token_id", 1U);
  file.add("tokenizer.ggml.unknown_token_id", 0U);
  write(file.finish());
  // "bc" before "ab", though its number is greater.
  EXPECT_EQ(idsOf(path, "abc"), (std::vector<int64_t>{1, 9, 8}));
  EXPECT_EQ(idsOf(path, "ab<|u|>b"), (std::vector<int64_t>{1, 9, 5, 10, 5}));
}

TEST_F(GgufTest, BytesByMerges) {
  GgufWriter file = llama();
  file.add("tokenizer.ggml.model", std::string("gpt2"));
  file.add("tokenizer.ggml.pre", std::string("qwen2"));
  file.add("tokenizer.ggml.tokens",
           std::vector<std::string>{"a", "b", "1", "2", "ab", "\u0120", "<e>",
                                    "12"});
  file.add("tokenizer.ggml.merges", std::vector<std::string>{"a b", "1 2"});
  file.add("tokenizer.ggml.token_type", 5,
           std::vector<int32_t>{1, 1, 1, 1, 1, 1, 3, 1});
  write(file.finish());
  // Digits are cut one by one.
  EXPECT_EQ(idsOf(path, "ab 12<e>"), (std::vector<int64_t>{4, 5, 2, 3, 6}));
}

TEST_F(GgufTest, CutsOfWords) {
  const std::vector<std::string> tokens = {"1",   "2",    "3",  "4",  "b",
                                           "C",   "a",    "'",  "s",  "12",
                                           "123", "1234", "bC", "a'", "a's"};
  auto wordsOf = [&](const std::string &pre, const std::string &text) {
    GgufWriter file = llama();
    file.add("tokenizer.ggml.model", std::string("gpt2"));
    file.add("tokenizer.ggml.pre", pre);
    file.add("tokenizer.ggml.tokens", tokens);
    file.add(
        "tokenizer.ggml.merges",
        std::vector<std::string>{"1 2", "12 3", "123 4", "b C", "a '", "a' s"});
    file.add("tokenizer.ggml.add_bos_token", 7, std::string(1, '\0'));
    write(file.finish());
    std::string words;
    for (int64_t id : idsOf(path, text)) {
      words += (words.empty() ? "" : " ") + tokens[static_cast<size_t>(id)];
    }
    return words;
  };
  struct Case {
    const char *pre, *digits, *capitals, *suffix;
  };
  for (const Case &each : {Case{"gpt-2", "1234", "bC", "a ' s"},
                           {"smollm", "1 2 3 4", "bC", "a ' s"},
                           {"llama-bpe", "123 4", "bC", "a ' s"},
                           {"qwen2", "1 2 3 4", "bC", "a ' s"},
                           {"qwen35", "1 2 3 4", "bC", "a ' s"},
                           {"seed-coder", "1 2 3 4", "bC", "a ' s"},
                           {"gpt-4o", "123 4", "b C", "a's"},
                           {"tekken", "1 2 3 4", "b C", "a ' s"},
                           {"deepseek-v3", "123 4", "bC", "a ' s"}}) {
    EXPECT_EQ(wordsOf(each.pre, "1234"), each.digits) << each.pre;
    EXPECT_EQ(wordsOf(each.pre, "bC"), each.capitals) << each.pre;
    EXPECT_EQ(wordsOf(each.pre, "a's"), each.suffix) << each.pre;
  }
}

/// The mark is what begins a word; tokens without one continue it.
TEST_F(GgufTest, WordsOfBert) {
  GgufWriter file = llama();
  file.add("tokenizer.ggml.model", std::string("bert"));
  file.add("tokenizer.ggml.pre", std::string("jina-v2-en"));
  file.add("tokenizer.ggml.tokens",
           std::vector<std::string>{"[PAD]", "[UNK]", "[CLS]", "[SEP]",
                                    "[MASK]", "\u2581a", "b", "\u2581b",
                                    "[unused1]", "\u2581,"});
  file.add("tokenizer.ggml.token_type", 5,
           std::vector<int32_t>{3, 3, 3, 3, 3, 1, 1, 1, 1, 1});
  write(file.finish());
  EXPECT_EQ(idsOf(path, "Ab, b c"),
            (std::vector<int64_t>{2, 5, 6, 9, 7, 1, 3}));
  file.add("tokenizer.ggml.normalizer.lowercase", 7, std::string(1, '\0'));
  write(file.finish());
  EXPECT_EQ(idsOf(path, "Ab a"), (std::vector<int64_t>{2, 1, 5, 3}));
  GgufWriter lines = llama();
  lines.add("tokenizer.ggml.model", std::string("bert"));
  lines.add("tokenizer.ggml.tokens", std::vector<std::string>{"a\nb"});
  write(lines.finish());
  EXPECT_NE(messageOf(text::readTokenizer(path))
                .find("tokens: expected texts without an end of a line"),
            std::string::npos);
}

/// The pieces that are likely together, with begin and end around them.
TEST_F(GgufTest, PiecesOfUnigram) {
  GgufWriter file = partsOf("bert");
  file.add("tokenizer.ggml.model", std::string("t5"));
  file.add("tokenizer.ggml.tokens",
           std::vector<std::string>{"<s>", "<pad>", "</s>", "<unk>", "\u2581",
                                    "a", "b", "\u2581ab"});
  file.add("tokenizer.ggml.scores", 6,
           std::vector<float>{0, 0, 0, 0, -3, -4, -4, -5});
  file.add("tokenizer.ggml.token_type", 5,
           std::vector<int32_t>{3, 3, 3, 2, 1, 1, 1, 1});
  file.add("tokenizer.ggml.bos_token_id", 0U);
  file.add("tokenizer.ggml.eos_token_id", 2U);
  file.add("tokenizer.ggml.unknown_token_id", 3U);
  write(file.finish());
  EXPECT_EQ(idsOf(path, "ab  ba"), (std::vector<int64_t>{0, 7, 4, 6, 5, 2}));
  file.add("tokenizer.ggml.remove_extra_whitespaces", 7, std::string(1, '\0'));
  write(file.finish());
  EXPECT_NE(messageOf(text::readTokenizer(path))
                .find("remove_extra_whitespaces: expected true, got false"),
            std::string::npos);
}

TEST_F(GgufTest, ExpertsAreApart) {
  GgufWriter file = partsOf("qwen3moe");
  file.floats("blk.1.ffn_up_exps.weight", {2, 1, 2}, {1, 2, 3, 4});
  write(file.finish());
  auto files = TensorFiles::open(path);
  ASSERT_TRUE(files) << messageOf(files);
  const Tensor *second =
      files->find("model.layers.1.mlp.experts.1.up_proj.weight");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->shape, (std::vector<int64_t>{1, 2}));
  Row values(2);
  convertToF32(*second, 0, 2, values.data());
  EXPECT_EQ(values, (Row{3, 4}));
  GgufWriter flat = partsOf("qwen3moe");
  flat.floats("blk.1.ffn_up_exps.weight", {2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(
      errorOf(flat.finish()),
      "tensor \"blk.1.ffn_up_exps.weight\": expected three axes, of which "
      "the first are experts, got 2");
}

TEST_F(GgufTest, RowsOfTwoTensorsAreOneMatrix) {
  auto rowsOf = [&](const char *architecture, const char *name) {
    GgufWriter file = partsOf(architecture);
    file.floats("blk.0.ffn_up_exps.weight", {2, 2, 1}, {10, 20, 30, 40});
    file.floats("blk.0.ffn_gate_exps.weight", {2, 2, 1}, {1, 2, 3, 4});
    write(file.finish());
    auto files = TensorFiles::open(path);
    EXPECT_TRUE(files) << messageOf(files);
    const Tensor *tensor = files ? files->find(name) : nullptr;
    EXPECT_TRUE(tensor);
    Row values(8);
    if (tensor) {
      convertToF32(*tensor, 0, 8, values.data());
    }
    return values;
  };
  EXPECT_EQ(rowsOf("gpt-oss", "model.layers.0.mlp.experts.gate_up_proj"),
            (Row{1, 10, 2, 20, 3, 30, 4, 40}));
  EXPECT_EQ(rowsOf("granitemoe",
                   "model.layers.0.block_sparse_moe.input_linear.weight"),
            (Row{1, 2, 10, 20, 3, 4, 30, 40}));
  GgufWriter half = partsOf("gpt-oss");
  half.floats("blk.0.ffn_up_exps.weight", {2, 2, 1}, {10, 20, 30, 40});
  EXPECT_EQ(errorOf(half.finish()),
            "tensors ffn_gate_exps.weight and ffn_up_exps.weight of "
            "\"model.layers.0.mlp.experts.gate_up_proj\": expected both, of "
            "one shape with an axis of experts, got others");
}

TEST_F(GgufTest, NormsWithoutTheOneThatWasAdded) {
  GgufWriter file = partsOf("gemma3");
  file.floats("blk.0.attn_norm.weight", {2}, {1.5, 0.75});
  file.floats("blk.0.attn_q.weight", {1, 2}, {1.5, 0.75});
  write(file.finish());
  auto files = TensorFiles::open(path);
  ASSERT_TRUE(files) << messageOf(files);
  Row values(2);
  convertToF32(*files->find("model.layers.0.input_layernorm.weight"), 0, 2,
               values.data());
  EXPECT_EQ(values, (Row{0.5, -0.25}));
  convertToF32(*files->find("model.layers.0.self_attn.q_proj.weight"), 0, 2,
               values.data());
  EXPECT_EQ(values, (Row{1.5, 0.75}));
}

/// A file of Qwen3.5 with two heads of keys, and three of values for each.
GgufWriter states() {
  GgufWriter file = partsOf("qwen35");
  file.add("qwen35.ssm.group_count", 2U);
  file.add("qwen35.ssm.time_step_rank", 6U);
  file.add("qwen35.ssm.inner_size", 192U);
  file.add("qwen35.ssm.state_size", 1U);
  return file;
}

TEST_F(GgufTest, HeadsOfValuesHaveTheirOrder) {
  GgufWriter file = states();
  file.floats("blk.0.ssm_a", {6}, {-1, -1, -2, -4, -1, -1});
  file.floats("blk.0.ssm_alpha.weight", {6, 1}, {0, 1, 2, 3, 4, 5});
  std::string blocks;
  for (char head = 0; head < 6; ++head) {
    blocks += half(one) + std::string(32, head);
  }
  file.tensor("blk.0.ssm_out.weight", {1, 192}, 8, blocks);
  write(file.finish());
  auto files = TensorFiles::open(path);
  ASSERT_TRUE(files) << messageOf(files);
  Row values(192);
  convertToF32(*files->find("model.layers.0.linear_attn.in_proj_a.weight"), 0,
               6, values.data());
  EXPECT_EQ(Row(values.begin(), values.begin() + 6), (Row{0, 2, 4, 1, 3, 5}));
  convertToF32(*files->find("model.layers.0.linear_attn.A_log"), 0, 6,
               values.data());
  EXPECT_EQ(Row(values.begin(), values.begin() + 6),
            (Row{0, std::log(2.0F), 0, 0, std::log(4.0F), 0}));
  const Tensor *out = files->find("model.layers.0.linear_attn.out_proj.weight");
  ASSERT_TRUE(out);
  convertToF32(*out, 0, 192, values.data());
  Row heads;
  for (size_t i = 0; i < 192; i += 32) {
    heads.push_back(values[i]);
    EXPECT_EQ(values[i], values[i + 31]);
  }
  EXPECT_EQ(heads, (Row{0, 2, 4, 1, 3, 5}));
  // Their blocks are kept as they are, in that order.
  const IntegerMatrix *kept = findKept(*out->quantized, {false, 32, false});
  ASSERT_TRUE(kept);
  KeptRows rows = readKept(*kept, {false, 32, false}, 0, 1);
  EXPECT_EQ(rows.integers[32], 2);
  EXPECT_EQ(rows.integers[64], 4);
  GgufWriter other = states();
  other.floats("blk.0.ssm_alpha.weight", {3, 1}, {0, 1, 2});
  EXPECT_EQ(errorOf(other.finish()),
            "tensor \"blk.0.ssm_alpha.weight\": expected rows for heads as "
            "ssm.group_count, ssm.time_step_rank, ssm.inner_size and "
            "ssm.state_size say, got 3");
}

TEST_F(GgufTest, HeadsThatNoNumberHolds) {
  for (const char *key :
       {"group_count", "time_step_rank", "inner_size", "state_size"}) {
    GgufWriter file = partsOf("qwen35");
    for (const char *each :
         {"group_count", "time_step_rank", "inner_size", "state_size"}) {
      file.add(std::string("qwen35.ssm.") + each, 10,
               bytesOf(each == key ? uint64_t(1) << 52 : uint64_t(1)));
    }
    file.floats("blk.0.attn_qkv.weight", {3, 1}, {0, 1, 2});
    EXPECT_NE(errorOf(file.finish()).find("expected rows for heads as"),
              std::string::npos)
        << key;
  }
}

/// Of two groups of two heads of queries each, of one row: keys and values
/// stand behind the queries of their group.
TEST_F(GgufTest, HeadsAreJoined) {
  GgufWriter file = partsOf("falcon");
  file.add("falcon.attention.head_count", 4U);
  file.add("falcon.attention.head_count_kv", 2U);
  file.floats("blk.0.attn_qkv.weight", {8, 1}, {0, 1, 2, 3, 10, 11, 20, 21});
  write(file.finish());
  auto files = TensorFiles::open(path);
  ASSERT_TRUE(files) << messageOf(files);
  Row values(8);
  convertToF32(*files->find("transformer.h.0.self_attention.query_key_value"
                            ".weight"),
               0, 8, values.data());
  EXPECT_EQ(values, (Row{0, 1, 10, 20, 2, 3, 11, 21}));
  GgufWriter other = partsOf("gptneox");
  other.add("gptneox.attention.head_count", 2U);
  other.floats("blk.0.attn_qkv.bias", {5}, {0, 1, 2, 3, 4});
  EXPECT_EQ(errorOf(other.finish()),
            "tensor \"blk.0.attn_qkv.bias\": expected rows for 2 heads of "
            "queries and 2 of keys and values each, got 5");
}

/// Two heads of three keys and one value each, of a latent of two.
TEST_F(GgufTest, LatentsAreOneMatrix) {
  GgufWriter file = partsOf("deepseek2");
  file.floats("blk.0.attn_k_b.weight", {2, 2, 3},
              {1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16});
  file.floats("blk.0.attn_v_b.weight", {2, 1, 2}, {7, 8, 17, 18});
  write(file.finish());
  auto files = TensorFiles::open(path);
  ASSERT_TRUE(files) << messageOf(files);
  const Tensor *both = files->find("model.layers.0.self_attn.kv_b_proj.weight");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->shape, (std::vector<int64_t>{8, 2}));
  Row values(16);
  convertToF32(*both, 0, 16, values.data());
  EXPECT_EQ(values,
            (Row{1, 4, 2, 5, 3, 6, 7, 8, 11, 14, 12, 15, 13, 16, 17, 18}));
  GgufWriter half = partsOf("deepseek2");
  half.floats("blk.0.attn_k_b.weight", {2, 2, 3}, Row(12));
  EXPECT_EQ(errorOf(half.finish()),
            "tensors attn_k_b.weight and attn_v_b.weight of "
            "\"model.layers.0.\": expected both, of as many heads and of one "
            "latent, got others");
}

TEST_F(GgufTest, NormsOfHeadsAreApart) {
  GgufWriter file = partsOf("stablelm");
  file.floats("blk.0.attn_q_norm.weight", {2, 2}, {1, 2, 3, 4});
  write(file.finish());
  auto files = TensorFiles::open(path);
  ASSERT_TRUE(files) << messageOf(files);
  const Tensor *second =
      files->find("model.layers.0.self_attn.q_layernorm.norms.1.weight");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->shape, (std::vector<int64_t>{2}));
  GgufWriter flat = partsOf("stablelm");
  flat.floats("blk.0.attn_q_norm.weight", {2}, {1, 2});
  EXPECT_EQ(errorOf(flat.finish()),
            "tensor \"blk.0.attn_q_norm.weight\": expected two axes, of which "
            "the first are heads, got 1");
}

TEST_F(GgufTest, LayersThatGuessAreLeftOut) {
  GgufWriter file = partsOf("glm4moe");
  file.add("glm4moe.block_count", 3U);
  file.add("glm4moe.nextn_predict_layers", 1U);
  file.floats("blk.1.attn_norm.weight", {1}, {1});
  file.floats("blk.2.attn_norm.weight", {1}, {1});
  write(file.finish());
  auto files = TensorFiles::open(path);
  ASSERT_TRUE(files) << messageOf(files);
  ASSERT_EQ(files->tensors().size(), 1U);
  EXPECT_EQ(files->tensors()[0]->name, "model.layers.1.input_layernorm.weight");
}

TEST_F(GgufTest, LayersThatGuessAreOfNoKind) {
  GgufWriter file = partsOf("nemotron_h_moe");
  for (auto [key, value] : {std::pair("block_count", 4U),
                            {"nextn_predict_layers", 1U},
                            {"embedding_length", 8U},
                            {"context_length", 16U},
                            {"attention.head_count", 2U},
                            {"ssm.inner_size", 4U},
                            {"ssm.time_step_rank", 2U}}) {
    file.add(std::string("nemotron_h_moe.") + key, value);
  }
  file.add("nemotron_h_moe.attention.head_count_kv", 4U,
           std::vector<uint32_t>{0, 2, 0, 2});
  file.add("nemotron_h_moe.feed_forward_length", 4U,
           std::vector<uint32_t>{0, 0, 7, 7});
  file.floats("token_embd.weight", {3, 8}, std::vector<float>(24));
  write(file.finish());
  auto opened = GgufFile::open(path);
  ASSERT_TRUE(opened) << messageOf(opened);
  auto config = makeGgufConfig(**opened);
  ASSERT_TRUE(config) << messageOf(config);
  std::string packed;
  for (char each : *config) {
    packed += each == ' ' || each == '\n' ? "" : std::string(1, each);
  }
  EXPECT_NE(packed.find("\"layers_block_type\":[\"linear_attention\","
                        "\"full_attention\",\"moe\"]"),
            std::string::npos)
      << packed;
}

TEST_F(GgufTest, TokenizersThatAreNotRead) {
  auto errorOfText = [&](const GgufWriter &file) {
    write(file.finish());
    std::string message = messageOf(text::readTokenizer(path));
    return message.substr(std::min(message.size(), path.size() + 2));
  };
  EXPECT_EQ(errorOfText(llama()),
            "tokenizer.ggml.model: expected llama, gpt2, bert or t5, got none; "
            "give a tokenizer.json with --tokenizer");
  GgufWriter file = llama();
  file.add("tokenizer.ggml.model", std::string("gpt2"));
  file.add("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b"});
  EXPECT_EQ(
      errorOfText(file),
      "tokenizer.ggml.pre: expected one of chatglm-bpe, command-r, dbrx, "
      "deepseek-r1-qwen, deepseek-v3, exaone, exaone4, falcon3, glm4, "
      "gpt-2, gpt-4o, hunyuan, hunyuan-dense, lfm2, llama-bpe, llama4, "
      "minimax-m2, modern-bert, mpt, olmo, phi-2, pixtral, qwen2, qwen35, "
      "refact, roberta-bpe, seed-coder, smaug-bpe, smollm, solar-open, "
      "starcoder, "
      "tekken, got \"\"; give a tokenizer.json with --tokenizer");
  file = llama();
  file.add("tokenizer.ggml.model", std::string("llama"));
  file.add("tokenizer.ggml.tokens", std::vector<std::string>{"a", "b"});
  file.add("tokenizer.ggml.scores", 6, std::vector<float>{0});
  EXPECT_EQ(errorOfText(file), "tokenizer.ggml.scores: expected 2 numbers (one "
                               "a token), got 1");
  file = llama();
  file.add("tokenizer.ggml.model", std::string("llama"));
  file.add("tokenizer.ggml.tokens", std::vector<std::string>{"a"});
  file.add("tokenizer.ggml.scores", 6, std::vector<float>{0});
  file.add("tokenizer.ggml.bos_token_id", 7U);
  EXPECT_EQ(errorOfText(file),
            "tokenizer.ggml.bos_token_id: expected an id below 1, got 7");
}

} // namespace
} // namespace tfc::rt::test
