// GGUF models in parts: found by their names, read as one, and parts that do
// not belong together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/GgufWriter.h"

#include "runtime/src/files/gguf/GgufFile.h"
#include "test/runtime/FakeModel.h"

#include <filesystem>
#include <fstream>

namespace tfc::rt::test {
namespace {

namespace fs = std::filesystem;

/// A part as gguf-split writes it: metadata is in the first.
struct Part {
  uint32_t number = 0, count = 3, tensors = 3;
  std::vector<std::string> names;
  std::string architecture;

  std::string finish() const {
    GgufWriter file;
    if (!architecture.empty()) {
      file.add("general.architecture", architecture);
    }
    file.add("split.no", number);
    file.add("split.count", count);
    file.add("split.tensors.count", tensors);
    for (const std::string &name : names) {
      file.floats(name, {2, 1}, {1, 2});
    }
    return file.finish();
  }
};

class GgufPartsTest : public ::testing::Test {
protected:
  Folder folder;
  std::vector<Part> parts = {
      {0, 3, 3, {}, "qwen2"},
      {1, 3, 3, {"blk.0.ffn_up.weight"}, ""},
      {2, 3, 3, {"blk.0.ffn_down.weight", "output_norm.weight"}, ""}};

  std::string pathOf(int number) {
    return folder / ("m-0000" + std::to_string(number) + "-of-00003.gguf");
  }
  void writeAll() {
    for (size_t i = 0; i < parts.size(); ++i) {
      std::ofstream(pathOf(static_cast<int>(i) + 1), std::ios::binary)
          << parts[i].finish();
    }
  }
  /// Without the folder's name.
  std::string errorOf(const std::string &path) {
    std::string message = messageOf(TensorFiles::open(path));
    std::string own = folder.path.string() + "/";
    for (size_t at; (at = message.find(own)) != message.npos;) {
      message.erase(at, own.size());
    }
    return message;
  }
};

TEST_F(GgufPartsTest, AnyPartIsTheModel) {
  writeAll();
  for (int number : {1, 2, 3}) {
    auto files = TensorFiles::open(pathOf(number));
    ASSERT_TRUE(files) << messageOf(files);
    ASSERT_EQ(files->tensors().size(), 3U);
    const Tensor *down = files->find("model.layers.0.mlp.down_proj.weight");
    ASSERT_TRUE(down);
    EXPECT_EQ(down->file, pathOf(3));
    float values[2];
    convertToF32(*down, 0, 2, values);
    EXPECT_EQ(values[1], 2);
    auto file = GgufFile::open(pathOf(number));
    ASSERT_TRUE(file);
    EXPECT_EQ((*file)->path(), pathOf(1));
    EXPECT_EQ((*file)->paths(),
              (std::vector<std::string>{pathOf(1), pathOf(2), pathOf(3)}));
  }
}

TEST_F(GgufPartsTest, FolderOfOneModel) {
  std::string whole = folder.path.string();
  EXPECT_FALSE(isGguf(whole));
  writeAll();
  EXPECT_TRUE(isGguf(whole));
  auto files = TensorFiles::open(whole);
  ASSERT_TRUE(files) << messageOf(files);
  EXPECT_EQ(files->tensors().size(), 3U);
  std::ofstream(folder / "other.gguf") << "GGUF";
  EXPECT_NE(messageOf(TensorFiles::open(whole))
                .find("expected one GGUF file, or the parts of one, got "
                      "\"m-00001-of-00003.gguf\" and \"other.gguf\""),
            std::string::npos);
  // Whoever names one means it.
  EXPECT_EQ(errorOf(pathOf(2)), "");
  std::ofstream(folder / "config.json") << "{}";
  EXPECT_FALSE(isGguf(whole));
}

TEST_F(GgufPartsTest, MissingPart) {
  writeAll();
  fs::remove(pathOf(2));
  EXPECT_EQ(errorOf(pathOf(3)), "m-00002-of-00003.gguf: expected part 2 of 3 "
                                "of the model, got none");
  fs::remove(pathOf(1));
  EXPECT_EQ(errorOf(pathOf(3)), "m-00001-of-00003.gguf: expected part 1 of 3 "
                                "of the model, got none");
}

TEST_F(GgufPartsTest, NamesThatSayNoPart) {
  writeAll();
  for (const char *name :
       {"model.gguf", "m-00002-of-00004.gguf", "m-00001-of-00003.gguf",
        "m-0000x-of-00003.gguf", "-00001-of-00003.GGUF"}) {
    fs::copy_file(pathOf(2), folder / name,
                  fs::copy_options::overwrite_existing);
    EXPECT_EQ(errorOf(folder / name),
              std::string(name) +
                  ": expected the name of part 2 of 3 to end as llama.cpp has "
                  "it, with \"-00002-of-00003.gguf\", by which the others are "
                  "found");
  }
}

TEST_F(GgufPartsTest, PartsOfOtherModels) {
  auto errorWith = [&](size_t part, auto change) {
    auto good = parts;
    change(parts[part]);
    writeAll();
    parts = good;
    return errorOf(pathOf(1));
  };
  EXPECT_EQ(errorWith(1, [](Part &part) { part.number = 2; }),
            "m-00002-of-00003.gguf: expected split.no 1 of part 2 of 3, got 2");
  EXPECT_EQ(errorWith(2, [](Part &part) { part.count = 2; }),
            "m-00003-of-00003.gguf: expected split.count 3 of part 3 of 3, got "
            "2");
  EXPECT_EQ(errorWith(2, [](Part &part) { part.tensors = 4; }),
            "m-00003-of-00003.gguf: expected a part of the same model as "
            "m-00001-of-00003.gguf (of 3 tensors and architecture \"qwen2\"), "
            "got 4 and \"\"");
  EXPECT_EQ(errorWith(1, [](Part &part) { part.architecture = "llama"; }),
            "m-00002-of-00003.gguf: expected a part of the same model as "
            "m-00001-of-00003.gguf (of 3 tensors and architecture \"qwen2\"), "
            "got 3 and \"llama\"");
  EXPECT_EQ(errorWith(2, [](Part &part) { part.names.pop_back(); }),
            "m-00001-of-00003.gguf: expected 3 tensors in 3 parts "
            "(split.tensors.count), got 2");
  EXPECT_EQ(
      errorWith(2, [](Part &part) { part.names[1] = "blk.0.ffn_up.weight"; }),
      "m-00003-of-00003.gguf: expected distinct tensors, got "
      "\"blk.0.ffn_up.weight\" as in m-00002-of-00003.gguf");
  writeAll();
  std::ofstream(pathOf(2)) << "GGUF";
  EXPECT_EQ(errorOf(pathOf(1)),
            "m-00002-of-00003.gguf: expected a GGUF file (its first bytes are "
            "GGUF)");
}

/// Wherever a part ends, it is one error.
TEST_F(GgufPartsTest, PartsThatEndEarly) {
  writeAll();
  std::string bytes = parts[1].finish();
  constexpr size_t padding = 24;
  for (size_t size = 0; size < bytes.size() - padding; ++size) {
    std::ofstream(pathOf(2), std::ios::binary) << bytes.substr(0, size);
    std::string error = errorOf(pathOf(1));
    EXPECT_EQ(error.find("m-00002-of-00003.gguf: "), 0U) << error;
    EXPECT_NE(error.find("expected "), error.npos) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST_F(GgufPartsTest, CountsThatNoFilesHave) {
  for (uint32_t count : {0U, 1U}) {
    parts = {{0, count, 1, {"output_norm.weight"}, "qwen2"}};
    writeAll();
    EXPECT_EQ(errorOf(pathOf(1)), "") << count;
  }
  parts[0].count = 0xffffffff;
  writeAll();
  EXPECT_NE(errorOf(pathOf(1)).find("expected the name of part 1 of "
                                    "4294967295 to end as llama.cpp has it"),
            std::string::npos);
}

} // namespace
} // namespace tfc::rt::test
