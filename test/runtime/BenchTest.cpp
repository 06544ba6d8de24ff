// tfc-bench: workloads, what they must cost, statistics, and the tool itself.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Roofline.h"
#include "runtime/src/load/TilePermission.h"
#include "runtime/src/load/X86Levels.h"
#include "runtime/src/threads/ThreadPool.h"
#include "runtime/tools/Report.h"
#include "test/runtime/FakeModel.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>

namespace tfc::bench {
namespace {

using rt::test::fakeLibrary;
using rt::test::messageOf;

TEST(Workload, IsParsed) {
  auto lengths = [](const char *text) {
    auto workload = parseWorkload(text);
    return workload ? workload->lengths : std::vector<int64_t>();
  };
  EXPECT_EQ(lengths("encode:1x128"), std::vector<int64_t>{128});
  EXPECT_EQ(lengths("decode:3x7"), (std::vector<int64_t>{7, 7, 7}));
  EXPECT_EQ(lengths("prefill:12,5"), (std::vector<int64_t>{12, 5}));
  EXPECT_EQ(parseWorkload("decode:1x1")->kind, Kind::Decode);
  EXPECT_EQ(parseWorkload("decode:1x1")->newTokens, 0);
  EXPECT_EQ(lengths("generate:2x4+16"), (std::vector<int64_t>{4, 4}));
  EXPECT_EQ(lengths("generate:12,5+16"), (std::vector<int64_t>{12, 5}));
  EXPECT_EQ(parseWorkload("generate:2x4+16")->newTokens, 16);
  for (const char *text : {"generate:4",
                           "generate:4+",
                           "generate:+4",
                           "generate:4+0",
                           "generate:4+4+4",
                           "decode:4+4",
                           "",
                           "encode",
                           "encode:",
                           "encode:0x4",
                           "encode:4x",
                           "encode:x4",
                           "encode:4x0",
                           "encode:1,,2",
                           "encode:1,",
                           "encode:-1",
                           "run:1x4",
                           "encode:4x4x4",
                           "encode:99999999999999999999",
                           "encode:9999999x1"}) {
    EXPECT_FALSE(parseWorkload(text)) << text;
  }
}

/// A decoder of two layers whose head is tied: 6 wide, 2 x 3 for queries, 3 for
/// keys and values, 10 for the ffn, 20 tokens.
class CostOf : public ::testing::Test {
protected:
  void SetUp() override {
    auto add = [&](const char *name, uint32_t layers, uint32_t rank,
                   int64_t rows, int64_t cols) {
      tfc_weight_v0 weight{};
      weight.name = name;
      weight.layers = layers;
      weight.sources = &sources[rank - 1];
      weight.rows = rows;
      weight.cols = cols;
      weights.push_back(weight);
    };
    sources[0].rank = 1;
    sources[1].rank = 2;
    add("decoder.embeddings.token.weight", 1, 2, 20, 6);
    add("decoder.embeddings.position.weight", 1, 2, 9, 6);
    add("decoder.layers.attn.q.weight", 2, 2, 6, 6);
    add("decoder.layers.attn.q.bias", 2, 1, 6, 1);
    add("decoder.layers.attn.k.weight", 2, 2, 3, 6);
    add("decoder.layers.attn.v.weight", 2, 2, 3, 6);
    add("decoder.layers.attn.o.weight", 2, 2, 6, 6);
    add("decoder.layers.ffn.up.weight", 2, 2, 10, 6);
    add("decoder.layers.ffn.down.weight", 2, 2, 6, 10);
    module.weights = weights.data();
    module.n_weights = static_cast<uint32_t>(weights.size());
    module.spec_json = R"({"heads": {"lm": {"from": "decoder", "steps": [
        {"op": "logits", "name": "proj", "tied": "decoder.embeddings.token"}
      ]}}, "outputs": {"logits": "lm", "last_hidden_state": "decoder.hidden"}})";
    ports[0].name = "last_hidden_state";
    ports[1].name = "logits";
    ports[1].rows = TFC_ROWS_WANTED;
    entry.outputs = ports;
    entry.n_outputs = 2;
    entry.query_rows = 8;
  }

  static constexpr double layer = 6 * 6 + 2 * 3 * 6 + 6 * 6 + 2 * 6 * 10;
  tfc_source_v0 sources[2]{}; // of vectors, of matrices
  std::vector<tfc_weight_v0> weights;
  tfc_module_v0 module{};
  tfc_program_v0 program{};
  tfc_port_v0 ports[2]{};
  tfc_entry_v0 entry{};
};

TEST_F(CostOf, CountsMatricesAsTheyAreKept) {
  std::string spec = module.spec_json;
  auto whole = CostSheet::read(module, program);
  spec.insert(1, R"("precision": {"weights": "bf16"}, )");
  module.spec_json = spec.c_str();
  auto narrow = CostSheet::read(module, program);
  ASSERT_TRUE(whole && narrow);
  EXPECT_EQ(whole->weightType(), "f32");
  EXPECT_EQ(narrow->weightType(), "bf16");
  rt::Batch batch(entry, true);
  batch.add(1, 4, 5, {});
  // Keys and values are f32 in both: 2 layers, 5 keys, 3 + 3 wide.
  double cache = 4.0 * 2 * 5 * (3 + 3);
  EXPECT_EQ(narrow->of(entry, batch, true, {0, 1}).bytes - cache,
            (whole->of(entry, batch, true, {0, 1}).bytes - cache) / 2);
}

/// Of bytes: a byte a weight, 8 bytes a row, and what is looked up in 16 bits,
/// whose products are f32's. Of bf16 all matrices are alike.
TEST_F(CostOf, CountsDotsAsTheProgramHasThem) {
  std::string spec = module.spec_json, narrow = spec;
  spec.insert(1, R"("precision": {"weights": "int8"}, )");
  module.spec_json = spec.c_str();
  program.features = TFC_FEATURE_X86_64_V3;
  for (tfc_weight_v0 &weight : weights) {
    bool isTable =
        std::string(weight.name).find("embeddings") != std::string::npos;
    weight.kept = isTable ? TFC_DTYPE_F32 : TFC_DTYPE_I8;
  }
  auto bytes = CostSheet::read(module, program);
  // By groups of 3, of bytes and of four bits with zeros.
  std::vector<tfc_weight_v0> ofRows = weights;
  for (tfc_weight_v0 &weight : weights) {
    weight.group = weight.kept ? 3 : 0;
  }
  auto groups = CostSheet::read(module, program);
  for (tfc_weight_v0 &weight : weights) {
    weight.kept = weight.kept ? TFC_DTYPE_I4 : TFC_DTYPE_F32;
    weight.flags |= TFC_WEIGHT_FLOAT_ZEROS;
  }
  auto fours = CostSheet::read(module, program);
  for (tfc_weight_v0 &weight : weights) {
    weight.flags |= TFC_WEIGHT_HALF_SCALES;
  }
  auto halves = CostSheet::read(module, program);
  ASSERT_TRUE(groups && fours && halves);
  std::copy(ofRows.begin(), ofRows.end(), weights.begin());
  for (tfc_weight_v0 &weight : weights) {
    weight.kept = TFC_DTYPE_F32;
  }
  narrow.insert(1, R"("precision": {"weights": "bf16"}, )");
  module.spec_json = narrow.c_str();
  auto wide = CostSheet::read(module, program);
  program.features = TFC_FEATURE_X86_64_V4 | TFC_FEATURE_FAST_AVX512_BF16;
  auto dots = CostSheet::read(module, program);
  ASSERT_TRUE(bytes && wide && dots);
  EXPECT_EQ(bytes->dot(), rt::Dot::Words256);
  EXPECT_EQ(wide->dot(), rt::Dot::None);
  EXPECT_EQ(dots->dot(), rt::Dot::Bf16x512);
  program.features = TFC_FEATURE_X86_64_V4 | TFC_FEATURE_AMX_BF16;
  auto tiles = CostSheet::read(module, program);
  ASSERT_TRUE(tiles);
  EXPECT_EQ(tiles->dot(), rt::Dot::Bf16Tiles);
  rt::Batch batch(entry, true);
  batch.add(1, 4, 5, {});
  batch.rows = {0};
  double products = 2 * 2 * layer, head = 2 * 20 * 6;
  double rows = 6 + 3 + 3 + 6 + 10 + 6, cache = 4.0 * 2 * 5 * (3 + 3);
  Cost cost = bytes->of(entry, batch, true, {0, 1});
  EXPECT_EQ(cost.dots, products);
  double tables = 2 * (20 * 6 + 12);
  EXPECT_DOUBLE_EQ(cost.bytes - cache, 2 * (layer + 8 * rows) + tables);
  EXPECT_DOUBLE_EQ(groups->of(entry, batch, true, {0, 1}).bytes - cache,
                   2 * (layer + 4 * layer / 3) + tables);
  EXPECT_DOUBLE_EQ(fours->of(entry, batch, true, {0, 1}).bytes - cache,
                   2 * (layer / 2 + 8 * layer / 3) + tables);
  EXPECT_DOUBLE_EQ(halves->of(entry, batch, true, {0, 1}).bytes - cache,
                   2 * (layer / 2 + 4 * layer / 3) + tables);
  EXPECT_EQ(dots->of(entry, batch, true, {0, 1}).dots, products + head);
  EXPECT_EQ(wide->of(entry, batch, true, {0, 1}).dots, 0);
}

/// The decoder above with cross-attention of the same widths, and an encoder of
/// one layer, a product of 6 x 6 and a table 6 wide.
TEST_F(CostOf, DividesAnEncoderDecodersOpsAmongItsEntries) {
  for (const char *name :
       {"decoder.layers.cross.q.weight", "decoder.layers.cross.o.weight"}) {
    weights.push_back(weights[2]);
    weights.back().name = name;
  }
  for (const char *name :
       {"decoder.layers.cross.k.weight", "decoder.layers.cross.v.weight"}) {
    weights.push_back(weights[4]);
    weights.back().name = name;
  }
  weights.push_back(weights[0]);
  weights.back().name = "encoder.embeddings.token.weight";
  weights.push_back(weights[2]);
  weights.back().name = "encoder.layers.attn.q.weight";
  weights.back().layers = 1;
  module.weights = weights.data();
  module.n_weights = static_cast<uint32_t>(weights.size());
  auto sheet = CostSheet::read(module, program);
  ASSERT_TRUE(sheet) << messageOf(sheet);
  entry.name = "step";
  rt::Batch batch(entry, true);
  batch.add(1, 4, 5, {}, 7);
  // One token sees 5 keys of its own and 7 of its source.
  Cost step = sheet->of(entry, batch, true, {0, 0});
  EXPECT_EQ(step.flops, 2 * 2 * (layer + 2 * 36) + 2 * 4 * (5 + 7) * 6);
  EXPECT_EQ(step.bytes,
            4 * (2 * (layer + 2 * 36) + 12 + 2 * (5 + 7) * (3 + 3)));
  entry.name = "encode";
  rt::Batch sources(entry, false);
  sources.add(7, 0, 7, {}, 7);
  Cost encode = sheet->of(entry, sources, false, {0, 0});
  double products = 36 + 2 * 2 * 3 * 6;
  EXPECT_EQ(encode.flops, 2 * 7 * products + 4 * 7 * 7 * 6);
  EXPECT_EQ(encode.bytes, 4 * (products + 7 * 6));
}

TEST_F(CostOf, CountsProductsAttentionAndHead) {
  auto sheet = CostSheet::read(module, program);
  ASSERT_TRUE(sheet) << messageOf(sheet);
  rt::Batch batch(entry, true);
  batch.add(3, 0, 3, {});
  batch.add(1, 4, 5, {});
  batch.rows = {2, 3};
  // Queries see 1, 2, 3 and 5 keys.
  double flops = 2 * 4 * 2 * layer + 2 * 4 * (1 + 2 + 3 + 5) * 6;
  double bytes = 4 * (2 * layer + 4 * 12 + 2 * (3 + 5) * (3 + 3));
  Cost without = sheet->of(entry, batch, true, {1, 0});
  EXPECT_EQ(without.flops, flops);
  EXPECT_EQ(without.bytes, bytes);
  Cost with = sheet->of(entry, batch, true, {1, 1});
  EXPECT_EQ(with.flops, flops + 2 * 2 * 20 * 6);
  EXPECT_EQ(with.bytes, bytes + 4 * 20 * 6);
  // Without a mask every query sees all keys.
  EXPECT_EQ(sheet->of(entry, batch, false, {0, 0}).flops,
            2 * 4 * 2 * layer + 2 * 4 * (3 * 3 + 5) * 6);
}

TEST_F(CostOf, GoesToTheLoopThatNamesIt) {
  auto sheet = CostSheet::read(module, program);
  ASSERT_TRUE(sheet) << messageOf(sheet);
  rt::Batch batch(entry, true);
  batch.add(3, 0, 3, {});
  auto costs = sheet->list(entry, batch, true, {1, 0});
  auto flopsOf = [&](const std::string &name) {
    double flops = 0;
    for (const NamedCost &op : costs) {
      flops += op.name == name ? op.cost.flops : 0;
    }
    return flops;
  };
  EXPECT_EQ(flopsOf("decoder.layers.attn.q"), 2 * 3 * 2 * 36);
  EXPECT_EQ(flopsOf("decoder.layers.attn"), 2 * 4 * (1 + 2 + 3) * 6);
  EXPECT_EQ(flopsOf("embeddings"), 0);
}

TEST_F(CostOf, RefusesAnotherSpec) {
  module.spec_json = "{";
  EXPECT_EQ(messageOf(CostSheet::read(module, program))
                .find("expected a library with a canonical spec, got"),
            0U);
}

TEST(Roofline, IsMeasured) {
  rt::LoadOptions options;
  options.libraryPath = fakeLibrary("decoder");
  options.randomWeights = true;
  options.threads = 2;
  auto model = rt::Model::load(options);
  ASSERT_TRUE(model) << messageOf(model);
  EXPECT_GT(rt::measureFlops((*model)->host()), 1e6);
  EXPECT_EQ(rt::measureDots((*model)->host(), rt::Dot::None), 0);
  for (auto [dot, needs] :
       {std::pair{rt::Dot::Bf16x512, TFC_FEATURE_FAST_AVX512_BF16},
        {rt::Dot::Bytes512, TFC_FEATURE_AVX512_VNNI},
        {rt::Dot::Bytes256, TFC_FEATURE_AVX_VNNI},
        {rt::Dot::Words512, TFC_FEATURE_X86_64_V4},
        {rt::Dot::Words256, TFC_FEATURE_X86_64_V3},
        {rt::Dot::Bf16Tiles, TFC_FEATURE_AMX_BF16},
        {rt::Dot::BytesTiles, TFC_FEATURE_AMX_INT8}}) {
    bool hasIt =
        rt::hostIsa == TFC_ISA_X86_64 && (rt::machineFeatures() & needs) != 0;
    bool isOfTiles = (static_cast<uint64_t>(needs) & tileFeatures) != 0;
    hasIt = hasIt && (!isOfTiles || rt::tileRefusal().empty());
    EXPECT_EQ(rt::measureDots((*model)->host(), dot) > 1e6, hasIt)
        << rt::nameOf(dot);
  }
  auto memory = rt::Mapping::allocate(1 << 20);
  ASSERT_TRUE(memory);
  EXPECT_GT(rt::measureReads((*model)->host(), memory->data(), 1 << 20), 1e6);
  EXPECT_EQ(rt::measureReads((*model)->host(), memory->data(), 4096), 0);
}

TEST(OpTable, NamesOps) {
  EXPECT_EQ(opOfSymbol("step_body_3.decoder.layers.ffn.up"),
            "decoder.layers.ffn.up");
  EXPECT_EQ(opOfSymbol("step_body_3"), "step_body_3");
  EXPECT_EQ(opOfSymbol("+0x1a40"), "+0x1a40");
  // Named bodies are tested with a compiler; here nothing has a name.
  rt::ThreadPool::instance().reserve(2);
  tfc_host_v0 host{};
  host.n_workers = 2;
  host.parallel_for = [](void *, int64_t n, tfc_body_fn body, void *arg) {
    rt::ThreadPool::instance().parallelFor(2, n, body, arg);
    return int32_t(TFC_STATUS_DONE);
  };
  LoopRecorder recorder(host);
  std::atomic<int64_t> sum{0};
  auto body = [](void *arg, int64_t begin, int64_t end, uint32_t) {
    *static_cast<std::atomic<int64_t> *>(arg) += end - begin;
  };
  for (int i = 0; i < 4; ++i) {
    recorder.host().parallel_for(recorder.host().ctx, 100, body, &sum);
  }
  EXPECT_EQ(sum, 400);
  std::vector<OpTime> ops =
      makeOpTable(recorder, BodyNames(""), {{"other", {1, 1}}}, 2);
  ASSERT_EQ(ops.size(), 1U);
  EXPECT_EQ(ops[0].name.rfind("+0x", 0), 0U);
  EXPECT_EQ(ops[0].calls, 2);
  EXPECT_GT(ops[0].seconds, 0);
  EXPECT_GE(ops[0].imbalance, 0);
  EXPECT_GE(ops[0].overhead, 0);
  EXPECT_FALSE(ops[0].cost);
}

TEST(Symbols, AreReadFromAnyFile) {
  rt::test::Folder folder;
  EXPECT_TRUE(readSymbols(folder / "none").empty());
  std::vector<std::pair<uint64_t, std::string>> symbols =
      readSymbols(fakeLibrary("encoder"));
  auto named = [&](const char *name) {
    return std::any_of(symbols.begin(), symbols.end(),
                       [&](const auto &s) { return s.second == name; });
  };
  EXPECT_TRUE(named("tfc_module_query"));
  // Cut anywhere, it is still only a file without names.
  std::ifstream file(fakeLibrary("encoder"), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  for (size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 300) {
    std::ofstream(folder / "cut", std::ios::binary) << bytes.substr(0, size);
    EXPECT_LE(readSymbols(folder / "cut").size(), symbols.size());
  }
}

TEST(CommandLineOfBench, ReportsEveryFault) {
  auto faults = [](const std::vector<std::string> &arguments) {
    std::string text;
    for (const std::string &fault : readCommandLine(arguments).faults) {
      text += fault + "\n";
    }
    return text;
  };
  EXPECT_EQ(faults({"m.so", "--random", "--workload=decode:1x4", "--workload",
                    "prefill:4", "--threads", "2", "--format=json"}),
            "");
  EXPECT_EQ(faults({"--help"}), "");
  EXPECT_EQ(faults({"--random", "--weights", "w", "--warmup", "-1", "--fast",
                    "--workload", "x", "--format"}),
            "--warmup: expected an integer from 0 to 1000, got -1\n"
            "expected an option of tfc-bench, got --fast\n"
            "--workload: expected a workload (decode:4x128), got x\n"
            "--format: expected table, json or csv, got nothing\n"
            "expected a compiled model, got none\n"
            "expected either --random, or --weights or --packed, got both\n");
  EXPECT_EQ(faults({"m.so", "--packed", "p", "--inputs", "i"}),
            "expected --inputs and --reference together, got --inputs alone\n");
  EXPECT_EQ(faults({"m.so", "--random", "--inputs=i", "--reference=r"}),
            "expected --weights or --packed with --reference (random weights "
            "agree with nothing), got --random\n");
}

} // namespace
} // namespace tfc::bench
