// Folders of tensor files, and the search for a model's parameters in them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/FakeModel.h"

#include <fstream>

namespace tfc::rt::test {
namespace {

namespace fs = std::filesystem;

void writeText(const std::string &path, const std::string &text) {
  std::ofstream(path, std::ios::binary) << text;
}

NamedTensor byteTensor(const std::string &name, uint8_t value = 0) {
  return {name, DType::U8, {1}, {value}};
}

std::string indexOf(const std::string &map) {
  return "{\"metadata\":{\"total_size\":2,\"x\":[1,{\"weight_map\":3}]},"
         "\"weight_map\":" +
         map + "}";
}

TEST(TensorFiles, OpensFoldersOfEveryKind) {
  Folder folder;
  EXPECT_EQ(messageOf(TensorFiles::open(folder.path.string())),
            folder.path.string() +
                ": expected model.safetensors, model.safetensors.index.json "
                "or other *.safetensors files, got none");
  writeTensors(folder / "b.safetensors", {byteTensor("b")});
  writeTensors(folder / "a.safetensors", {byteTensor("a")});
  auto all = TensorFiles::open(folder.path.string());
  ASSERT_TRUE(all) << messageOf(all);
  EXPECT_EQ(all->tensors().size(), 2U);
  writeText(folder / "model.safetensors.index.json",
            indexOf("{\"b\":\"b.safetensors\"}"));
  auto indexed = TensorFiles::open(folder.path.string());
  ASSERT_TRUE(indexed) << messageOf(indexed);
  EXPECT_EQ(indexed->tensors().size(), 1U);
  EXPECT_TRUE(indexed->find("b"));
  writeTensors(folder / "model.safetensors", {byteTensor("c")});
  auto single = TensorFiles::open(folder.path.string());
  ASSERT_TRUE(single) << messageOf(single);
  EXPECT_TRUE(single->find("c"));
  auto file = TensorFiles::open(folder / "a.safetensors");
  ASSERT_TRUE(file) << messageOf(file);
  EXPECT_TRUE(file->find("a"));
}

/// sentence-transformers' modules have the names of tensors that others have.
TEST(TensorFiles, NamesTensorsOfModulesByTheirFolder) {
  Folder folder;
  writeTensors(folder / "model.safetensors", {byteTensor("linear.weight")});
  for (const char *name : {"2_Dense", "onnx", "checkpoint_5", "3_LayerNorm"}) {
    std::filesystem::create_directory(folder / name);
  }
  writeTensors(folder / "2_Dense/model.safetensors",
               {byteTensor("linear.bias"), byteTensor("linear.weight")});
  writeTensors(folder / "onnx/model.safetensors", {byteTensor("a")});
  writeTensors(folder / "checkpoint_5/model.safetensors", {byteTensor("b")});
  auto all = TensorFiles::open(folder.path.string());
  ASSERT_TRUE(all) << messageOf(all);
  EXPECT_EQ(all->tensors().size(), 3U);
  EXPECT_TRUE(all->find("2_Dense/linear.weight"));
  EXPECT_TRUE(all->find("2_Dense/linear.bias"));
  Folder other;
  writeTensors(other / "model.safetensors", {byteTensor("c")});
  std::filesystem::create_symlink(other / "model.safetensors",
                                  folder / "3_LayerNorm/model.safetensors");
  EXPECT_EQ(messageOf(TensorFiles::open(folder.path.string())),
            folder.path.string() +
                "/3_LayerNorm: expected a model.safetensors in this folder, "
                "got a link out of it");
}

TEST(TensorFiles, RefusesTensorsInTwoFiles) {
  Folder folder;
  writeTensors(folder / "a.safetensors", {byteTensor("x")});
  writeTensors(folder / "b.safetensors", {byteTensor("x")});
  auto files = TensorFiles::open(folder.path.string());
  ASSERT_FALSE(files);
  EXPECT_NE(messageOf(files).find("expected distinct tensors, got \"x\" as in"),
            std::string::npos);
}

TEST(TensorFiles, RefusesIndexesThatLieOrLeave) {
  Folder folder, outside;
  writeTensors(outside / "o.safetensors", {byteTensor("o")});
  writeTensors(folder / "a.safetensors", {byteTensor("a")});
  fs::create_symlink(outside / "o.safetensors", folder / "link.safetensors");
  fs::create_symlink(outside.path, folder / "inner");
  std::string index = folder / "model.safetensors.index.json";
  std::string refused = index + ": expected names of files in its folder, got ";
  std::string absolute = outside / "o.safetensors";
  struct Case {
    std::string map, message;
  };
  const Case cases[] = {
      {"{\"o\":\"" + absolute + "\"}", refused + "\"" + absolute + "\""},
      {"{\"o\":\"../" + outside.path.filename().string() + "/o.safetensors\"}",
       refused + "\"../" + outside.path.filename().string() +
           "/o.safetensors\""},
      {"{\"a\":\"inner/../a.safetensors\"}",
       refused + "\"inner/../a.safetensors\""},
      {"{\"a\":\"\"}", refused + "\"\""},
      {"{\"a\":\"a.safetensors\\u0000\"}", refused + "\"a.safetensors\\x00\""},
      {"{\"o\":\"link.safetensors\"}",
       refused + "\"link.safetensors\", a link out of it"},
      {"{\"o\":\"inner/o.safetensors\"}",
       refused + "\"inner/o.safetensors\", a link out of it"},
      {"{\"o\":\"gone.safetensors\"}",
       index + ": expected shard \"gone.safetensors\" in its folder, got none"},
      {"{\"x\":\"a.safetensors\"}",
       folder / "a.safetensors" +
           ": expected tensor \"x\" (model.safetensors.index.json puts it "
           "there), got none"},
      {"{\"a\":3}",
       index + ": weight_map: \"a\": expected the name of a file, got a "
               "number"},
      {"{\"a\":\"a.safetensors\",\"a\":\"a.safetensors\"}",
       index + ": weight_map: expected distinct tensors, got \"a\" twice"},
      {"[]", index + ": weight_map: expected an object, got an array"},
      {"{", index + ": expected JSON, got a syntax error at byte "},
  };
  for (const Case &c : cases) {
    writeText(index, indexOf(c.map));
    std::string message = messageOf(TensorFiles::open(folder.path.string()));
    EXPECT_EQ(message.substr(0, c.message.size()), c.message) << c.map;
  }
  writeText(index, "{}");
  EXPECT_EQ(messageOf(TensorFiles::open(folder.path.string())),
            index + ": expected an object with a weight_map, got none");
  writeText(index, "[1]");
  EXPECT_EQ(messageOf(TensorFiles::open(folder.path.string())),
            index + ": expected an object with a weight_map, got an array");
}

TEST(TensorFiles, FollowsTheHubCache) {
  Folder cache;
  fs::create_directories(cache / "blobs");
  fs::create_directories(cache / "snapshots/1");
  writeTensors(cache / "blobs/abc", {byteTensor("a")});
  fs::create_symlink("../../blobs/abc", cache / "snapshots/1/a.safetensors");
  writeText(cache / "snapshots/1/model.safetensors.index.json",
            indexOf("{\"a\":\"a.safetensors\"}"));
  auto files = TensorFiles::open(cache / "snapshots/1");
  EXPECT_TRUE(files) << messageOf(files);
}

TEST(TensorFiles, FindsNamesByPattern) {
  Folder folder;
  writeTensors(folder / "a.safetensors",
               {byteTensor("bert.h.11.norm.gamma"), byteTensor("head.weight"),
                byteTensor("bert.h.2.norm.weight")});
  auto files = TensorFiles::open(folder.path.string());
  ASSERT_TRUE(files) << messageOf(files);
  Aliases aliases = {{".weight", ".gamma"}, {".bias", ".beta"}};
  auto find = [&](const char *pattern, int64_t layer) {
    return files->find(pattern, "bert.", layer, aliases);
  };
  EXPECT_TRUE(find("{p}h.{i}.norm.weight", 11));
  EXPECT_TRUE(find("{p}h.{i}.norm.gamma", 2));
  EXPECT_FALSE(find("{p}h.{i}.norm.weight", 1));
  EXPECT_FALSE(find("{p}h.{i}.norm.bias", 2));
  EXPECT_TRUE(find("head.weight", 0));
  EXPECT_TRUE(files->find("{p}h.{e}.norm.weight", "bert.", 7, aliases, 11));
  EXPECT_FALSE(files->find("{p}h.{e}.norm.weight", "bert.", 11, aliases, 7));
  EXPECT_EQ(expandPattern("{p}{i}.{e}.{e}", "a.", 3, 12), "a.3.12.12");
  std::vector<PatternUse> uses = {{"head.weight", 0},
                                  {"{p}h.{i}.norm.weight", 2}};
  EXPECT_EQ(files->choosePrefix(uses, {"", "bert."}, aliases), "bert.");
  EXPECT_EQ(files->choosePrefix(uses, {"x.", "y."}, aliases), "x.");
  EXPECT_EQ(files->choosePrefix(uses, {}, aliases), "");
  EXPECT_EQ(files->closestName("bert.h.2.norm.wieght"), "bert.h.2.norm.weight");
  EXPECT_EQ(files->closestName("entirely different"), "");
}

Tensor shaped(DType dtype, std::vector<int64_t> shape) {
  Tensor tensor;
  tensor.name = "t";
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.file = "f.safetensors";
  return tensor;
}

TEST(TensorFiles, ExpertsAreStackedOrApart) {
  WeightSource weight;
  weight.name = "moe.up";
  weight.rows = 3;
  weight.cols = 2;
  weight.storedRows = 3;
  weight.experts = 4;
  weight.firstLayer = 5;
  weight.layerStep = 2;
  // The number counts experts, and layers above them.
  EXPECT_EQ(weight.layerOf(7), 7);
  EXPECT_EQ(weight.expertOf(7), 3);
  EXPECT_TRUE(checkTensor(shaped(DType::F32, {3, 2}), weight));
  EXPECT_FALSE(checkTensor(shaped(DType::F32, {4, 3, 2}), weight));
  weight.stacked = true;
  EXPECT_TRUE(checkTensor(shaped(DType::F32, {4, 3, 2}), weight));
  EXPECT_EQ(messageOf(checkTensor(shaped(DType::F32, {4, 2, 3}), weight)),
            "f.safetensors: tensor \"t\": expected shape [4, 3, 2] (weight "
            "moe.up), got [4, 2, 3]; the transposed layout would fit");
  weight.inOut = true;
  EXPECT_TRUE(checkTensor(shaped(DType::F32, {4, 2, 3}), weight));
}

TEST(TensorFiles, ChecksShapesAndTypes) {
  WeightSource weight;
  weight.name = "ffn.up";
  weight.rows = 3;
  weight.cols = 2;
  weight.storedRows = 9;
  EXPECT_TRUE(checkTensor(shaped(DType::F16, {9, 2}), weight));
  // Axes of one are nothing to it, wherever they are.
  EXPECT_TRUE(checkTensor(shaped(DType::F32, {1, 1, 9, 2}), weight));
  EXPECT_TRUE(checkTensor(shaped(DType::F32, {9, 1, 2}), weight));
  EXPECT_TRUE(checkTensor(shaped(DType::F32, {9, 2, 1}), weight));
  EXPECT_FALSE(checkTensor(shaped(DType::F32, {9, 2, 2}), weight));
  // Heads may have an axis of their own.
  EXPECT_TRUE(checkTensor(shaped(DType::F32, {3, 3, 2}), weight));
  EXPECT_FALSE(checkTensor(shaped(DType::F32, {3, 2, 3}), weight));
  EXPECT_FALSE(checkTensor(shaped(DType::F32, {18}), weight));
  EXPECT_EQ(messageOf(checkTensor(shaped(DType::F32, {2, 9}), weight)),
            "f.safetensors: tensor \"t\": expected shape [9, 2] (weight "
            "ffn.up), got [2, 9]; the transposed layout would fit");
  EXPECT_EQ(messageOf(checkTensor(shaped(DType::F32, {3, 2}), weight)),
            "f.safetensors: tensor \"t\": expected shape [9, 2] (weight "
            "ffn.up), got [3, 2]");
  EXPECT_EQ(messageOf(checkTensor(shaped(DType::I64, {9, 2}), weight)),
            "f.safetensors: tensor \"t\": expected dtype F32, F16 or BF16 "
            "(weight ffn.up), got I64");
  weight.inOut = true;
  EXPECT_TRUE(checkTensor(shaped(DType::BF16, {2, 9}), weight));
  EXPECT_FALSE(checkTensor(shaped(DType::BF16, {9, 2}), weight));
  weight.inOut = false;
  weight.rank = 1;
  weight.cols = 1;
  EXPECT_TRUE(checkTensor(shaped(DType::F32, {9}), weight));
  EXPECT_TRUE(checkTensor(shaped(DType::F32, {1, 9}), weight));
  EXPECT_TRUE(checkTensor(shaped(DType::F32, {9, 1}), weight));
  EXPECT_FALSE(checkTensor(shaped(DType::F32, {9, 2}), weight));
}

TEST(TensorFiles, LayersMayBeAStepApart) {
  Folder folder;
  std::vector<NamedTensor> tensors;
  for (int layer = 0; layer < 6; ++layer) {
    std::string name = "h." + std::to_string(layer) + ".w";
    tensors.push_back({name, DType::F16, {1}, {0, 0}});
  }
  writeTensors(folder / "model.safetensors", tensors);
  auto files = TensorFiles::open(folder.path.string());
  ASSERT_TRUE(files) << messageOf(files);
  WeightTable table;
  table.prefixes = {""};
  WeightSource &weight = table.weights.emplace_back();
  weight.name = "layers.1-5:2.w";
  weight.patterns = {"h.{i}.w"};
  weight.rank = weight.rows = weight.storedRows = 1;
  weight.firstLayer = 1;
  weight.layerStep = 2;
  weight.layers = 3;
  auto bound = bindWeights(*files, table);
  ASSERT_TRUE(bound) << messageOf(bound);
  ASSERT_EQ(bound->front().size(), 3U);
  EXPECT_EQ(bound->front()[0]->name, "h.1.w");
  EXPECT_EQ(bound->front()[1]->name, "h.3.w");
  EXPECT_EQ(bound->front()[2]->name, "h.5.w");
  weight.layers = 4;
  EXPECT_EQ(messageOf(bindWeights(*files, table)),
            folder.path.string() +
                ": expected tensor \"h.7.w\" (weight layers.1-5:2.w), got "
                "none; the closest name is \"h.0.w\"");
}

TEST(TensorFiles, ReportsEveryMissingAndMisshapenTensor) {
  Folder folder;
  std::vector<NamedTensor> tensors = FakeWeights().stored();
  tensors[0].name = "embedd.weight";
  tensors[1].shape = {width, positions};
  writeTensors(folder / "model.safetensors", tensors);
  auto model = loadFake("encoder", folder.path.string());
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code, Code::NotFound);
  EXPECT_EQ(messageOf(model),
            folder.path.string() +
                ": expected tensor \"embed.weight\" (weight embed), got none; "
                "the closest name is \"embedd.weight\"\n" +
                (folder / "model.safetensors") +
                ": tensor \"position.weight\": expected shape [16, 4] (weight "
                "position), got [4, 16]; the transposed layout would fit");
}

TEST(TensorFiles, ChecksTiedWeights) {
  Folder folder;
  Storage storage;
  storage.hasHead = true;
  std::vector<NamedTensor> tensors = FakeWeights().stored(storage);
  writeTensors(folder / "model.safetensors", tensors);
  EXPECT_TRUE(loadFake("encoder", folder.path.string()));
  tensors.back().bytes[41] ^= 1;
  writeTensors(folder / "model.safetensors", tensors);
  EXPECT_EQ(messageOf(loadFake("encoder", folder.path.string())),
            folder / "model.safetensors" +
                ": tensor \"head.weight\": expected the values of tensor "
                "\"embed.weight\" (the model was compiled with tied weights), "
                "got others");
}

/// All ways to store the same weights give the same numbers.
TEST(TensorFiles, PacksEveryStorage) {
  FakeWeights weights;
  Padded padded{2, 4, {4, 5, 6, 7, 8, 9, 10, 11}, {}, {}, {}};
  auto expected = forward(*loadFake("encoder", weights), padded);
  ASSERT_TRUE(expected) << messageOf(expected);
  for (DType dtype : {DType::F32, DType::F16, DType::BF16}) {
    for (int bits = 0; bits < 8; ++bits) {
      Storage storage;
      storage.dtype = dtype;
      storage.prefix = bits & 1 ? "model." : "";
      storage.isFused = bits & 2;
      storage.usesGamma = bits & 4;
      Folder folder;
      std::vector<NamedTensor> tensors = weights.stored(storage);
      std::vector<NamedTensor> first(tensors.begin(), tensors.begin() + 3);
      std::vector<NamedTensor> second(tensors.begin() + 3, tensors.end());
      writeTensors(folder / "one.safetensors", first);
      writeTensors(folder / "two.safetensors", second);
      auto model = loadFake("encoder", folder.path.string());
      ASSERT_TRUE(model) << messageOf(model);
      auto outputs = forward(**model, padded);
      ASSERT_TRUE(outputs) << messageOf(outputs);
      for (size_t i = 0; i < outputs->size(); ++i) {
        EXPECT_EQ((*outputs)[i].floats, (*expected)[i].floats) << bits;
      }
    }
  }
}

TEST(TensorFiles, FillsZeros) {
  FakeWeights weights;
  Storage storage;
  storage.hasBias = false;
  Folder folder;
  writeTensors(folder / "model.safetensors", weights.stored(storage));
  auto model = loadFake("encoder", folder.path.string());
  ASSERT_TRUE(model) << messageOf(model);
  Padded padded{1, 1, {4}, {}, {}, {}};
  auto outputs = forward(**model, padded, {"logits"});
  ASSERT_TRUE(outputs) << messageOf(outputs);
  weights.bias.assign(vocab, 0);
  expectNear(
      (*outputs)[0].floats,
      referenceLogits(weights, referenceState(weights, padded, false).data()));
}

} // namespace
} // namespace tfc::rt::test
