// Values of quantised matrices, computed by hand; a tensor that lies or is
// missing is an error.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/QuantizedFolder.h"

#include "runtime/src/files/quantized/NarrowFloats.h"
#include "runtime/src/files/quantized/Quantized.h"
#include "test/runtime/ScaleTypes.h"

#include <cmath>

namespace tfc::rt::test {
namespace {

using Row = std::vector<float>;

/// [2, 12] of compressed-tensors in 4 bits: 2 words a row, groups of 6. All
/// fields are 8 (0) but for column 0 of row 0 (-8), column 9 of row 0 (7) and
/// column 5 of row 1 (-1).
QuantizedFolder packed4() {
  return {{words("m.weight_packed", {2, 2},
                 {0x88888880, 0x888888f8, 0x88788888, 0x88888888}),
           floats("m.weight_scale", {2, 2}, {0.5F, 2, 3, 4}),
           longs("m.weight_shape", {2, 12})},
          ""};
}

TEST(Quantized, CompressedFourBits) {
  QuantizedFolder folder = packed4();
  EXPECT_EQ(folder.values("m.weight"),
            (Row{-4, 0, 0, 0, 0, 0,  0, 0, 0, 14, 0, 0, //
                 0,  0, 0, 0, 0, -3, 0, 0, 0, 0,  0, 0}));
  EXPECT_EQ(folder.formats(),
            "quantised: compressed-tensors, 4 bits, groups of 6: 1 matrix");
  // Zero points are packed along the rows: those of row 0 are 8 and 9, of row 1
  // 7 and 8.
  folder.add(words("m.weight_zero_point", {1, 2}, {0x78, 0x89}));
  EXPECT_EQ(folder.values("m.weight"),
            (Row{-4, 0, 0, 0, 0, 0, -2, -2, -2, 12, -2, -2, //
                 3,  3, 3, 3, 3, 0, 0,  0,  0,  0,  0,  0}));
  EXPECT_EQ(folder.formats(), "quantised: compressed-tensors, 4 bits with zero "
                              "points, groups of 6: 1 matrix");
}

TEST(Quantized, CompressedGroupsInTheirOwnOrder) {
  QuantizedFolder folder = packed4();
  folder.add(
      words("m.weight_g_idx", {12}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(folder.values("m.weight"),
            (Row{-16, 0, 0, 0, 0, 0,  0, 0, 0, 3.5F, 0, 0, //
                 0,   0, 0, 0, 0, -4, 0, 0, 0, 0,    0, 0}));
  // As it is before somebody sets it.
  folder = packed4();
  folder.add(words("m.weight_g_idx", {12}, std::vector<uint32_t>(12, ~0U)));
  EXPECT_EQ(folder.values("m.weight")[0], -4);
  folder = packed4();
  folder.add(words("m.weight_g_idx", {12}, std::vector<uint32_t>(12, 2)));
  EXPECT_EQ(folder.error(), "DIR/model.safetensors: tensor \"m.weight_g_idx\": "
                            "expected groups from 0 to 1 (as many as there are "
                            "scales), got 2 at 0");
}

TEST(Quantized, CompressedEightBits) {
  QuantizedFolder packed{{words("m.weight_packed", {1, 2}, //
                                {0x807fff00, 0x00000081}),
                          floats("m.weight_scale", {1, 1}, {0.5F}),
                          longs("m.weight_shape", {1, 5})},
                         ""};
  EXPECT_EQ(packed.values("m.weight"), (Row{-64, 63.5F, -0.5F, 0, 0.5F}));
  QuantizedFolder rows{
      {bytes("m.weight", DType::I8, {2, 2}, {128, 127, 255, 1}),
       floats("m.weight_scale", {2, 1}, {2, 3})},
      ""};
  EXPECT_EQ(rows.values("m.weight"), (Row{-256, 254, -3, 3}));
  rows.add(bytes("m.weight_zero_point", DType::I8, {2, 1}, {128, 1}));
  EXPECT_EQ(rows.values("m.weight"), (Row{0, 510, -6, 0}));
  EXPECT_EQ(rows.formats(), "quantised: compressed-tensors, 8 bits with zero "
                            "points, a scale a row: 1 matrix");
  QuantizedFolder whole{
      {bytes("m.weight", DType::I8, {2, 2}, {128, 127, 255, 1}),
       floats("m.weight_scale", {1}, {2})},
      ""};
  EXPECT_EQ(whole.values("m.weight"), (Row{-256, 254, -2, 2}));
}

/// K = 8, N = 8, two groups of 4; a word is 8 rows of a column. Column 0 of the
/// words (row 0 of the matrix) is 0 1 2 ... 7, column 1 all 15, others 8.
QuantizedFolder gptq(const std::string &config, uint32_t zeros) {
  return {{words("m.qweight", {1, 8},
                 {0x76543210, 0xffffffff, 0x88888888, 0x88888888, 0x88888888,
                  0x88888888, 0x88888888, 0x88888888}),
           words("m.qzeros", {2, 1}, {zeros, zeros}),
           floats("m.scales", {2, 8},
                  {1, 2, 1, 1, 1, 1, 1, 1, 0.5F, 4, 1, 1, 1, 1, 1, 1})},
          "{\"quantization_config\": {\"quant_method\": \"gptq\", "
          "\"group_size\": 4" +
              config + "}}"};
}

/// Of bytes: K = 8, N = 4, two groups of 4; a word is 4 rows of a column.
QuantizedFolder gptq8(uint32_t zeros) {
  return {{words("m.qweight", {2, 4},
                 {0x03020100, 0xfffefdfc, 0x80808080, 0x00ff00ff, 0x83828180,
                  0x7f7f7f7f, 0x04030201, 0xffffffff}),
           words("m.qzeros", {2, 1}, {zeros, zeros}),
           floats("m.scales", {2, 4}, {1, 2, 1, 1, 0.5F, 4, 1, 1})},
          "{\"quantization_config\": {\"quant_method\": \"gptq\", "
          "\"bits\": 8, \"group_size\": 4}}"};
}

TEST(Quantized, GptqSymmetricByTheValueOfItsZeros) {
  for (const char *config :
       {", \"sym\": true", ", \"checkpoint_format\": \"gptq_v2\"", ""}) {
    for (uint32_t zeros : {0x77777777U, 0x88888888U}) {
      QuantizedFolder folder = gptq(config, zeros);
      Row values = folder.values("m.weight");
      ASSERT_EQ(values.size(), 64U);
      values.resize(24);
      EXPECT_EQ(values, (Row{-8, -7, -6, -5, -2, -1.5F, -1, -0.5F, //
                             14, 14, 14, 14, 28, 28,    28, 28,    //
                             0,  0,  0,  0,  0,  0,     0,  0}))
          << config;
    }
  }
  EXPECT_EQ(gptq(", \"sym\": true", 0x77777778).error(),
            "DIR/model.safetensors: tensor \"m.qzeros\": expected zero points "
            "of the middle in all modules (\"sym\" is true): all 7 or all 8 of "
            "4 bits, 127 or 128 of 8, got others");
}

/// 1 is added to the whole word: a field of all ones carries.
TEST(Quantized, GptqZerosByTheFormatOfTheFile) {
  QuantizedFolder first = gptq(", \"sym\": false", 0x888880f1);
  Row values = first.values("m.weight");
  EXPECT_EQ(values[0], 0 - 2);
  EXPECT_EQ(values[8], 2 * (15 - 0));
  EXPECT_EQ(values[16], 8 - 2);
  EXPECT_EQ(first.formats(),
            "quantised: GPTQ 4 bits, groups of 4: 1 matrix\n"
            "zero points without one: 2 of GPTQ are all ones, read with "
            "carries as GPTQModel writes them; AutoGPTQ reads others");
  QuantizedFolder second =
      gptq(", \"checkpoint_format\": \"gptq_v2\"", 0x888880f1);
  values = second.values("m.weight");
  EXPECT_EQ(values[0], 0 - 1);
  EXPECT_EQ(values[8], 2 * (15 - 15));
  EXPECT_EQ(values[16], 8 - 0);
}

TEST(Quantized, GptqGroupsInTheirOwnOrderAndShortOnes) {
  QuantizedFolder folder = gptq("", 0x77777777);
  folder.add(words("m.g_idx", {8}, {1, 0, 0, 1, 0, 1, 0, 1}));
  Row values = folder.values("m.weight");
  values.resize(8);
  EXPECT_EQ(values, (Row{-4, -7, -6, -2.5F, -4, -1.5F, -2, -0.5F}));
  EXPECT_EQ(folder.formats(), "quantised: GPTQ 4 bits, groups of 4 in their "
                              "own order: 1 matrix");
  // 8 columns are a group of 5 and one of 3.
  QuantizedFolder brief = gptq(", \"group_size\": 5", 0x77777777);
  EXPECT_EQ(brief.values("m.weight")[4], -4);
  EXPECT_EQ(brief.values("m.weight")[5], -1.5F);
  folder = gptq(", \"group_size\": 3", 0x77777777);
  EXPECT_EQ(folder.error(),
            "DIR/model.safetensors: tensor \"m.scales\": expected the scales "
            "of groups of 3 of 8 columns, got 2 groups");
  folder = gptq("", 0x77777777);
  folder.add(words("m.g_idx", {8}, {0, 0, 0, 0, 1, 1, 1, ~0U}));
  EXPECT_EQ(folder.error(), "DIR/model.safetensors: tensor \"m.g_idx\": "
                            "expected groups from 0 to 1 (as many as there are "
                            "scales), got -1 at 7");
}

TEST(Quantized, GptqEightBits) {
  QuantizedFolder folder{{words("m.qweight", {1, 4}, //
                                {0x807f00ff, 0, 0, 0}),
                          words("m.qzeros", {1, 1}, {0x7f7f7f7f}),
                          floats("m.scales", {1, 4}, {2, 1, 1, 1})},
                         ""};
  Row values = folder.values("m.weight");
  values.resize(5);
  EXPECT_EQ(values, (Row{254, -256, -2, 0, -128}));
}

/// Nibble i of a word is row (0 2 4 6 1 3 5 7)[i].
TEST(Quantized, AwqNibblesInTheirOrder) {
  QuantizedFolder folder{{words("m.qweight", {2, 1}, {0x76543210, 0x00000001}),
                          words("m.qzeros", {1, 1}, {0x10000002}),
                          floats("m.scales", {1, 8}, //
                                 {1, 2, 3, 4, 5, 6, 7, 8})},
                         "{\"quantization_config\": {\"quant_method\": "
                         "\"awq\", \"version\": \"GEMM\", \"bits\": 4}}"};
  EXPECT_EQ(folder.values("m.weight"),
            (Row{-2, -1, 8, 0, 3, 0, 20, 0, 10, 0, 36, 0, 21, 0, 48, -8}));
  EXPECT_EQ(folder.formats(), "quantised: AWQ 4 bits, a scale a row: 1 matrix");
}

/// What a library keeps of a matrix stands for what the matrix does.
void expectKept(QuantizedFolder folder, const KeptForm &form) {
  const Tensor &tensor = folder.find("m.weight");
  const IntegerMatrix *matrix = findKept(*tensor.quantized, form);
  ASSERT_TRUE(matrix);
  KeptRows kept = readKept(*matrix, form, 0, matrix->rows);
  auto columns = static_cast<size_t>(matrix->columns);
  size_t group = form.group > 0 ? static_cast<size_t>(form.group) : columns;
  Row values;
  for (size_t i = 0; i < kept.integers.size(); ++i) {
    size_t at = i / group;
    EXPECT_TRUE(!form.isFour ||
                (kept.integers[i] >= -8 && kept.integers[i] <= 7));
    EXPECT_TRUE(form.hasZeros || kept.zeros[at] == 0);
    values.push_back(static_cast<float>(kept.integers[i] - kept.zeros[at]) *
                     kept.scales[at]);
  }
  EXPECT_EQ(values, folder.values("m.weight"));
  EXPECT_TRUE(areHeld(kept.scales, matrix->scaleType));
}

TEST(Quantized, ScalesAreOfTheTypeOfTheirTensor) {
  auto typeOf = [](DType type, uint16_t one) {
    QuantizedFolder folder{
        {bytes("m.weight", DType::I8, {1, 2}, {1, 2}),
         elements<uint16_t>("m.weight_scale", type, {1, 1}, {one})},
        ""};
    expectKept(folder, {});
    auto *matrix = dynamic_cast<const IntegerMatrix *>(
        folder.find("m.weight").quantized.get());
    return matrix ? matrix->scaleType : DType::U8;
  };
  // Each is no number of the other.
  EXPECT_EQ(typeOf(DType::F16, 0x3c01), DType::F16);
  EXPECT_EQ(typeOf(DType::BF16, 0x0081), DType::BF16);
}

TEST(Quantized, IntegersAreKeptAsTheyAre) {
  const KeptForm bytesForm{}, halves{true, 2, false}, zeros{true, 4, true};
  expectKept(packed4(), halves);
  QuantizedFolder folder = packed4();
  folder.add(words("m.weight_zero_point", {1, 2}, {0x78, 0x89}));
  EXPECT_FALSE(findKept(*folder.find("m.weight").quantized, halves));
  expectKept(folder, {true, 2, true});
  // Groups of 6 are cut by those of 2, not of 4.
  EXPECT_FALSE(findKept(*folder.find("m.weight").quantized, zeros));
  for (uint32_t points : {0x77777777U, 0x88888888U}) {
    expectKept(gptq("", points), {true, 4, false});
  }
  expectKept(gptq(", \"sym\": false", 0x888880f1), zeros);
  // Four bits by groups fit bytes by groups, with zero points, too; and so do
  // eight bits whose zero points are all those of the middle.
  expectKept(gptq(", \"sym\": false", 0x888880f1), {false, 4, false});
  QuantizedFolder eight = gptq8(0x7f7f7f7f);
  expectKept(eight, {false, 4, false});
  EXPECT_FALSE(findKept(*eight.find("m.weight").quantized, bytesForm));
  EXPECT_FALSE(findKept(*gptq8(0x7f7f7f01).find("m.weight").quantized,
                        {false, 4, false}));
  // Whole groups may stand in any order.
  folder = gptq("", 0x77777777);
  folder.add(words("m.g_idx", {8}, {1, 1, 1, 1, 0, 0, 0, 0}));
  expectKept(folder, {true, 4, false});
  // Columns that belong to the groups of others are rounded anew.
  folder = gptq("", 0x77777777);
  folder.add(words("m.g_idx", {8}, {1, 0, 0, 1, 0, 1, 0, 1}));
  EXPECT_FALSE(findKept(*folder.find("m.weight").quantized, {true, 4, false}));
  // -128, and four bits with a scale a row, which fit bytes with zero points.
  QuantizedFolder rows{
      {bytes("m.weight", DType::I8, {2, 2}, {128, 127, 255, 1}),
       floats("m.weight_scale", {2, 1}, {2, 3})},
      ""};
  expectKept(rows, bytesForm);
  EXPECT_FALSE(findKept(*rows.find("m.weight").quantized, {true, 2, false}));
  rows.add(bytes("m.weight_zero_point", DType::I8, {2, 1}, {128, 1}));
  EXPECT_FALSE(findKept(*rows.find("m.weight").quantized, bytesForm));
  QuantizedFolder awq{{words("m.qweight", {2, 1}, {0x76543210, 0x00000001}),
                       words("m.qzeros", {1, 1}, {0x10000002}),
                       floats("m.scales", {1, 8}, {1, 2, 3, 4, 5, 6, 7, 8})},
                      ""};
  expectKept(awq, bytesForm);
  expectKept(awq, {true, 2, true});
}

TEST(Quantized, Fp8) {
  // 1, -1.875, 448, the least one, -0.
  std::vector<uint8_t> codes = {0x38, 0xbf, 0x7e, 0x01, 0x80, 0x38};
  QuantizedFolder rows{{bytes("m.weight", DType::F8E4M3, {2, 3}, codes),
                        floats("m.weight_scale", {2, 1}, {2, 0.5F})},
                       ""};
  EXPECT_EQ(rows.values("m.weight"),
            (Row{2, -3.75F, 896, 0.0009765625F, 0, 0.5F}));
  QuantizedFolder whole{{bytes("m.weight", DType::F8E4M3, {2, 3}, codes),
                         floats("m.weight_scale", {}, {2}),
                         floats("m.input_scale", {}, {7})},
                        ""};
  EXPECT_EQ(whole.values("m.weight"), (Row{2, -3.75F, 896, 0.00390625F, 0, 2}));
  EXPECT_EQ(whole.formats(),
            "quantised: fp8, a scale a matrix: 1 matrix\n"
            "scales without effect: 1 of activations or of the cache");
  // Blocks of 2 x 2, the last column is a block of its own.
  QuantizedFolder blocks{
      {bytes("m.weight", DType::F8E4M3, {3, 3},
             {0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38, 0x38}),
       bytes("m.weight_scale_inv", DType::F8E8M0, {2, 2}, {127, 128, 129, 0})},
      "{\"quantization_config\": {\"quant_method\": \"fp8\", "
      "\"weight_block_size\": [2, 2]}}"};
  EXPECT_EQ(blocks.values("m.weight"),
            (Row{1, 1, 2, 1, 1, 2, 4, 4, std::ldexp(1.0F, -127)}));
}

TEST(Quantized, Fp4) {
  std::vector<uint8_t> codes(16, 0);
  codes[0] = 0x21, codes[1] = 0xf7, codes[8] = 0x52;
  QuantizedFolder mx{{bytes("m.weight_packed", DType::U8, {1, 16}, codes),
                      bytes("m.weight_scale", DType::U8, {1, 1}, {128})},
                     ""};
  Row values = mx.values("m.weight");
  ASSERT_EQ(values.size(), 32U);
  EXPECT_EQ(Row(values.begin(), values.begin() + 4), (Row{1, 2, 12, -12}));
  EXPECT_EQ(Row(values.begin() + 16, values.begin() + 18), (Row{2, 6}));
  EXPECT_EQ(mx.find("m.weight").dtype, DType::BF16);
  // Twice a code is a byte.
  expectKept(mx, {false, 32});
  EXPECT_FALSE(findKept(*mx.find("m.weight").quantized, {true, 32}));
  QuantizedFolder nv{
      {bytes("m.weight_packed", DType::U8, {1, 16}, codes),
       bytes("m.weight_scale", DType::F8E4M3, {1, 2}, {0x38, 0x40}),
       floats("m.weight_global_scale", {1}, {4})},
      ""};
  values = nv.values("m.weight");
  EXPECT_EQ(Row(values.begin(), values.begin() + 4),
            (Row{0.125F, 0.25F, 1.5F, -1.5F}));
  EXPECT_EQ(Row(values.begin() + 16, values.begin() + 18), (Row{0.5F, 1.5F}));
  EXPECT_EQ(nv.find("m.weight").dtype, DType::F32);
}

TEST(Quantized, CodesOfNarrowFloats) {
  for (int code = 0; code < 256; ++code) {
    EXPECT_EQ(std::isnan(e4m3Value(static_cast<uint8_t>(code))),
              (code & 127) == 127);
    EXPECT_EQ(std::isnan(e8m0Value(static_cast<uint8_t>(code))), code == 255);
  }
  EXPECT_EQ(e4m3Value(0x7e), 448);
  EXPECT_EQ(e4m3Value(0x08), std::ldexp(1.0F, -6));
  EXPECT_EQ(e8m0Value(0), std::ldexp(1.0F, -127));
  EXPECT_EQ(e2m1Value(0xb), -1.5F);
}

/// Any piece of a matrix is a piece of the whole.
TEST(Quantized, PiecesAreThoseOfTheWhole) {
  QuantizedFolder folder = gptq("", 0x77777777);
  Row whole = folder.values("m.weight");
  const Tensor &tensor = folder.find("m.weight");
  for (int64_t first = 0; first < 64; first += 5) {
    for (int64_t count : {0, 1, 7, 8, 19}) {
      count = std::min(count, 64 - first);
      Row piece(static_cast<size_t>(count));
      convertToF32(tensor, first, count, piece.data());
      EXPECT_EQ(piece,
                Row(whole.begin() + first, whole.begin() + first + count));
    }
  }
}

/// Tied tables are compared by value, whatever they are made of.
TEST(Quantized, AreComparedByValue) {
  QuantizedFolder folder{{bytes("a.weight", DType::I8, {2, 2}, {1, 2, 3, 4}),
                          floats("a.weight_scale", {2, 1}, {2, 1}),
                          bytes("b.weight", DType::I8, {2, 2}, {1, 2, 3, 5}),
                          floats("b.weight_scale", {2, 1}, {2, 1}),
                          floats("c.weight", {2, 2}, {2, 4, 3, 4})},
                         ""};
  EXPECT_FALSE(sameValues(folder.find("a.weight"), folder.find("b.weight")));
  EXPECT_TRUE(sameValues(folder.find("a.weight"), folder.find("c.weight")));
  EXPECT_TRUE(sameValues(folder.find("a.weight"), folder.find("a.weight")));
}

} // namespace
} // namespace tfc::rt::test
