// Quantised checkpoints that are not read: formats by name, parts that are
// missing or do not fit each other, values that are no numbers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/QuantizedFolder.h"

namespace tfc::rt::test {
namespace {

/// A folder whose config.json has this quantization_config.
std::string errorOfConfig(const std::string &quantization,
                          const std::string &key = "quantization_config") {
  return QuantizedFolder({floats("a.weight", {1}, {1})},
                         "{\"" + key + "\": {" + quantization + "}}")
      .error();
}

TEST(QuantizedErrors, MethodsByName) {
  const char *expected =
      "DIR/config.json: /quantization_config: expected a quant_method that tfc "
      "reads (compressed-tensors, gptq, awq, fp8, fbgemm_fp8, mxfp4), got ";
  for (const char *method :
       {"bitsandbytes", "torchao", "modelopt", "quark", "auto-round", "hqq",
        "aqlm", "bitnet", "eetq", "quanto", "spqr"}) {
    std::string message =
        errorOfConfig(concat("\"quant_method\": \"", method, "\""));
    EXPECT_EQ(message.find(concat(expected, "\"", method, "\"; ")), 0U)
        << message;
    EXPECT_EQ(message.find('\n'), message.npos) << message;
  }
  EXPECT_EQ(
      errorOfConfig("\"quant_method\": \"hqq\"", "compression_config"),
      "DIR/config.json: /compression_config: expected a quant_method "
      "that tfc reads (compressed-tensors, gptq, awq, fp8, fbgemm_fp8, mxfp4), "
      "got \"hqq\"; import the model without it, with --dtype bf16 or "
      "int8 to make it small");
}

TEST(QuantizedErrors, ValuesOfSettings) {
  struct Case {
    const char *config, *message;
  };
  const Case cases[] = {
      {"\"quant_method\": \"gptq\", \"bits\": 3",
       "/bits: expected 4 or 8 bits, got \"3\""},
      {"\"quant_method\": \"gptq\", \"pack_dtype\": \"int16\"",
       "/pack_dtype: expected \"int32\", got \"int16\""},
      {"\"quant_method\": \"gptq\", \"is_marlin_format\": true",
       "/is_marlin_format: expected false (the layout of a GPU's kernel), got "
       "\"true\""},
      {"\"quant_method\": \"gptq\", \"checkpoint_format\": \"marlin\"",
       "/checkpoint_format: expected \"gptq\" or \"gptq_v2\", got \"marlin\""},
      {"\"quant_method\": \"awq\", \"version\": \"GEMV\"",
       "/version: expected \"gemm\" (others lay out words otherwise), got "
       "\"gemv\""},
      {"\"quant_method\": \"awq\", \"w_bit\": 8",
       "/bits: expected 4 or 8 bits, got \"8\""},
      {"\"quant_method\": \"compressed-tensors\", \"format\": \"marlin-24\"",
       "/format: expected int-quantized, naive-quantized, pack-quantized, "
       "float-quantized, nvfp4-pack-quantized, mxfp4-pack-quantized or "
       "mixed-precision, got \"marlin-24\""},
      {"\"config_groups\": {\"a\": {\"weights\": {\"num_bits\": 2}}}",
       "/config_groups/a/weights/num_bits: expected 4 or 8 bits, got \"2\""},
      {"\"config_groups\": {}, \"sparsity_config\": {\"format\": "
       "\"sparse-24-bitmask\"}",
       "/sparsity_config/format: expected \"dense\", got "
       "\"sparse-24-bitmask\""},
      {"\"config_groups\": {}, \"transform_config\": {\"config_groups\": "
       "{\"R1\": {}}}",
       "/transform_config: expected none (tfc turns no activations at run "
       "time), got \"R1\""},
      {"\"quant_method\": \"fp8\", \"fmt\": \"e5m2\"",
       "/fmt: expected \"e4m3\" (tfc reads no other narrow floats), got "
       "\"e5m2\""}};
  for (const Case &one : cases) {
    EXPECT_EQ(errorOfConfig(one.config),
              concat("DIR/config.json: /quantization_config", one.message,
                     "; import the model without it, with --dtype bf16 or int8 "
                     "to make it small"));
  }
  EXPECT_EQ(errorOfConfig("\"weight_block_size\": [0, 128]"),
            "DIR/config.json: /quantization_config: expected weight_block_size "
            "of two integers from 1 to 1073741824, got [0, 128]");
}

/// Codes and scales of all experts, [experts, rows, groups, 16].
TEST(QuantizedErrors, ExpertsThatAreNone) {
  QuantizedFolder alone({bytes("e.down_proj_blocks", DType::U8, {1}, {1})}, "");
  EXPECT_NE(alone.error().find("down_proj_scales"), std::string::npos)
      << alone.error();
  QuantizedFolder flat({bytes("e.down_proj_blocks", DType::U8, {1}, {1}),
                        bytes("e.down_proj_scales", DType::U8, {1}, {1})},
                       "");
  EXPECT_EQ(flat.error(),
            "DIR/model.safetensors: tensor \"e.down_proj_blocks\": expected "
            "[experts, rows, groups, 16], got shape [1]");
}

TEST(QuantizedErrors, FormatsByTheirTensors) {
  for (const auto &[name, format] : {std::pair{"a.SCB", "bitsandbytes"},
                                     {"a.weight.absmax", "bitsandbytes"},
                                     {"a._weight_qdata", "torchao"},
                                     {"a.weight_scale_2", "modelopt"},
                                     {"a.W_q", "hqq"},
                                     {"a.codebooks", "aqlm"},
                                     {"a.workspace", "marlin"},
                                     {"a.act.scales", "awq"}}) {
    QuantizedFolder folder({bytes(name, DType::U8, {1}, {1})}, "");
    EXPECT_EQ(folder.error().find(concat(
                  "DIR/model.safetensors: expected a quantised format that tfc "
                  "reads (compressed-tensors, gptq, awq, fp8, fbgemm_fp8, "
                  "mxfp4), got "
                  "tensor \"",
                  name, "\" of ", format, "; ")),
              0U)
        << folder.error();
  }
  QuantizedFolder wide({bytes("a.weight", DType::F8E5M2, {1}, {1})}, "");
  EXPECT_EQ(wide.error(),
            "DIR/model.safetensors: tensor \"a.weight\": expected F8_E4M3 of "
            "the narrow floats, got F8_E5M2; import the model without it");
}

/// The parts of one module each; each is left out, made longer, narrower and of
/// another type, and whatever that gives is one error or a matrix.
TEST(QuantizedErrors, PartsThatDoNotFit) {
  const std::vector<std::vector<NamedTensor>> modules = {
      {words("m.qweight", {2, 8}, std::vector<uint32_t>(16)),
       words("m.qzeros", {2, 1}, {0x77777777, 0x77777777}),
       floats("m.scales", {2, 8}, std::vector<float>(16))},
      {words("m.qweight", {16, 1}, std::vector<uint32_t>(16)),
       words("m.qzeros", {2, 1}, {1, 2}),
       floats("m.scales", {2, 8}, std::vector<float>(16))},
      {words("m.weight_packed", {2, 2}, std::vector<uint32_t>(4)),
       longs("m.weight_shape", {2, 16}),
       floats("m.weight_scale", {2, 4}, std::vector<float>(8))},
      {bytes("m.weight", DType::F8E4M3, {2, 2}, {1, 2, 3, 4}),
       floats("m.weight_scale", {2, 1}, {1, 2})},
      {bytes("m.weight_packed", DType::U8, {1, 32}, std::vector<uint8_t>(32)),
       bytes("m.weight_scale", DType::F8E4M3, {1, 4}, {1, 2, 3, 4}),
       floats("m.weight_global_scale", {1}, {1})}};
  for (const std::vector<NamedTensor> &module : modules) {
    EXPECT_EQ(QuantizedFolder(module, "").error(), "");
    for (const NamedTensor &part : module) {
      QuantizedFolder missing(module, "");
      missing.change(part.name, {});
      EXPECT_NE(missing.error(), "") << part.name;
      EXPECT_EQ(missing.error().find('\n'), std::string::npos)
          << missing.error();
      NamedTensor flat = part;
      flat.shape = {static_cast<int64_t>(part.bytes.size()), 1, 1, 1};
      flat.dtype = DType::U8;
      QuantizedFolder other(module, "");
      other.change(part.name, flat);
      EXPECT_NE(other.error(), "") << part.name;
      NamedTensor twice = part;
      twice.shape.push_back(2);
      twice.bytes.resize(part.bytes.size() * 2);
      other = QuantizedFolder(module, "");
      other.change(part.name, twice);
      EXPECT_NE(other.error(), "") << part.name;
    }
  }
}

TEST(QuantizedErrors, NamesThePart) {
  EXPECT_EQ(QuantizedFolder(
                {words("m.qweight", {2, 8}, std::vector<uint32_t>(16))}, "")
                .error(),
            "DIR/model.safetensors: expected tensor \"m.scales\" beside "
            "\"m.qweight\" (a quantised matrix), got none");
  EXPECT_EQ(
      QuantizedFolder({words("m.qweight", {16, 2}, std::vector<uint32_t>(32)),
                       words("m.qzeros", {2, 1}, {1, 2}),
                       floats("m.scales", {2, 8}, std::vector<float>(16))},
                      "")
          .error(),
      "DIR/model.safetensors: tensor \"m.qweight\": expected [columns / "
      "8, 8] (GPTQ, 4 bits), [columns / 4, 8] (8 bits) or [columns, 8 / "
      "8] (AWQ's gemm) for scales [2, 8], got [16, 2]; other layouts "
      "(gemv, 2, 3 and 6 bits) are not read");
  EXPECT_EQ(QuantizedFolder(
                {words("m.weight_packed", {2, 3}, std::vector<uint32_t>(6)),
                 longs("m.weight_shape", {2, 16}),
                 floats("m.weight_scale", {2, 1}, {1, 2})},
                "")
                .error(),
            "DIR/model.safetensors: tensor \"m.weight_packed\": expected the "
            "words of [2, 16] (weight_shape) in 4 or 8 bits, got [2, 3]");
  EXPECT_EQ(QuantizedFolder(
                {bytes("m.weight", DType::F8E4M3, {3, 2}, {1, 2, 3, 4, 5, 6}),
                 floats("m.weight_scale_inv", {1, 2}, {1, 2})},
                "")
                .error(),
            "DIR/model.safetensors: tensor \"m.weight_scale_inv\": expected "
            "shape [1, 1] (blocks of 128 x 128), got [1, 2]");
  EXPECT_EQ(QuantizedFolder({floats("m.weight", {1, 1}, {1}),
                             floats("m.weight_scale", {1}, {1})},
                            "")
                .error(),
            "DIR/model.safetensors: tensor \"m.weight_scale\": expected the "
            "integers or narrow floats that it belongs to beside it (weight of "
            "I8 or F8_E4M3, weight_packed or qweight), got none");
  EXPECT_EQ(QuantizedFolder({bytes("m.weight", DType::I8, {1, 1}, {1}),
                             floats("m.weight_scale", {1}, {1})},
                            "{\"quantization_config\": ")
                .error(),
            "DIR/config.json: expected an object of JSON of at most 16777216 "
            "bytes (it says how the tensors are quantised)");
}

/// Sizes that overflow when they are multiplied, and none.
TEST(QuantizedErrors, Sizes) {
  for (int64_t columns : {int64_t(0), int64_t(-8), INT64_MAX, INT64_MIN}) {
    QuantizedFolder folder({words("m.weight_packed", {1, 1}, {1}),
                            longs("m.weight_shape", {1, columns}),
                            floats("m.weight_scale", {1, 1}, {1})},
                           "");
    EXPECT_NE(folder.error().find("in 4 or 8 bits, got [1, 1]"),
              std::string::npos)
        << folder.error();
  }
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{0, int64_t(1) << 40}, {int64_t(1) << 40, 0}, {}}) {
    QuantizedFolder folder({words("m.qweight", shape,
                                  std::vector<uint32_t>(shape.empty() ? 1 : 0)),
                            words("m.qzeros", {0, 1}, {}),
                            floats("m.scales", {0, 8}, {})},
                           "");
    EXPECT_NE(folder.error().find("expected two axes, from 1 to 1073741824 "
                                  "each (a quantised matrix), got"),
              std::string::npos)
        << folder.error();
  }
}

} // namespace
} // namespace tfc::rt::test
