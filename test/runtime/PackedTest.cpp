// Packed weights in a file: the same as packing again, or a clear error.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/PackedFile.h"

#include "test/runtime/FakeModel.h"
#include "test/runtime/LimitFiles.h"
#include "test/runtime/MappedLines.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <thread>

namespace tfc::rt::test {
namespace {

namespace fs = std::filesystem;

void writeBytes(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class Packed : public ::testing::Test {
protected:
  void SetUp() override {
    fs::create_directory(folder / "a");
    fs::create_directory(folder / "packed");
    writeTensors(folder / "a/model.safetensors", FakeWeights(1).stored());
  }

  Result<std::unique_ptr<Model>> load(const std::string &variant,
                                      const std::string &checkpoint,
                                      bool isShared = false) {
    LoadOptions options;
    options.sharesPacked = isShared;
    options.libraryPath = fakeLibrary(variant);
    options.weightsPath = checkpoint;
    options.packedPath = packed;
    options.threads = 2;
    return Model::load(options);
  }

  std::string message(const std::string &checkpoint = "",
                      const std::string &variant = "encoder") {
    return messageOf(load(variant, checkpoint));
  }

  /// The file as it is made from checkpoint "a".
  std::string make() {
    EXPECT_EQ(message(folder / "a"), "");
    return readBytes(packed);
  }

  Loading loading{Workers(1)};
  Folder folder;
  std::string packed = folder / "packed/model.packed";
};

TEST_F(Packed, IsWrittenAndThenRead) {
  auto first = load("encoder", folder / "a");
  ASSERT_TRUE(first) << messageOf(first);
  // Whole, and nothing else.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "packed"), {}), 1);
  EXPECT_EQ(fs::file_size(packed), 4096 + (*first)->weightBytes());
  for (const std::string &checkpoint : {folder / "a", std::string()}) {
    auto again = load("encoder", checkpoint);
    ASSERT_TRUE(again) << messageOf(again);
    ASSERT_EQ((*again)->weightBytes(), (*first)->weightBytes());
    EXPECT_EQ(std::memcmp((*again)->weights(), (*first)->weights(),
                          (*first)->weightBytes()),
              0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>((*again)->weights()) % 64, 0U);
  }
}

TEST_F(Packed, ServesACopyOfItsCheckpoint) {
  make();
  fs::create_directory(folder / "b");
  fs::copy(folder / "a/model.safetensors", folder / "b/model.safetensors");
  EXPECT_EQ(message(folder / "b"), "");
}

TEST_F(Packed, RefusesAnotherCheckpoint) {
  make();
  fs::create_directory(folder / "b");
  writeTensors(folder / "b/model.safetensors", FakeWeights(2).stored());
  EXPECT_EQ(message(folder / "b"),
            packed + ": expected weights packed from " + (folder / "b") +
                ", got those of another checkpoint; delete the file to pack "
                "them again");
}

TEST_F(Packed, RefusesAnotherModelOrLayout) {
  make();
  PackedIdentity identity;
  auto model = load("encoder", "");
  ASSERT_TRUE(model) << messageOf(model);
  identity.specHash = (*model)->table().spec_hash;
  identity.bytes = (*model)->weightBytes();
  identity.layoutTag = "other";
  EXPECT_EQ(messageOf(openPacked(packed, identity, loading)),
            packed +
                ": expected weights packed for the layout \"other\", got \"" +
                (*model)->program().layout_tag +
                "\"; delete the file to pack them again");
  identity.specHash ^= 1;
  EXPECT_EQ(messageOf(openPacked(packed, identity, loading))
                .find(packed + ": expected weights packed for the model whose "
                               "spec has the hash "),
            0U);
}

TEST_F(Packed, PrintsNoControlCharactersOfAFile) {
  auto weights = Mapping::allocate(64);
  ASSERT_TRUE(weights) << messageOf(weights);
  ASSERT_TRUE(
      writePacked(packed, {1, 64, "a\x1b[31mb"}, {}, *weights, loading));
  EXPECT_EQ(messageOf(openPacked(packed, {1, 64, "plain"}, loading)),
            packed + ": expected weights packed for the layout \"plain\", got "
                     "\"a\\x1b[31mb\"; delete the file to pack them again");
}

TEST_F(Packed, RefusesEveryDamage) {
  std::string good = make();
  for (size_t size : {size_t(0), size_t(7), size_t(100), size_t(4095),
                      size_t(4096), good.size() - 1}) {
    writeBytes(packed, good.substr(0, size));
    EXPECT_NE(message().find(packed + ": expected"), std::string::npos) << size;
  }
  writeBytes(packed, good + "x");
  EXPECT_NE(message().find(": expected "), std::string::npos);
  // What lies between header and weights is padding.
  for (size_t at = 0; at < good.size(); at += at == 319 ? 4096 - 319 : 1) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 16);
    writeBytes(packed, bad);
    EXPECT_NE(message().find(packed + ": expected"), std::string::npos) << at;
  }
  writeBytes(packed, good);
  EXPECT_EQ(message(), "");
}

TEST_F(Packed, RefusesWhatIsNoFile) {
  EXPECT_EQ(message(), packed + ": expected packed weights, or a checkpoint "
                                "to pack, got neither");
  fs::create_directory(packed);
  EXPECT_EQ(message(folder / "a"),
            packed + ": expected a regular file or none");
  packed = folder / "nowhere/model.packed";
  EXPECT_EQ(message(folder / "a"),
            packed + ": cannot be written: No such file or directory");
}

TEST_F(Packed, MayChangeAfterItWasRead) {
  make();
  std::string other = folder / "packed/other.packed";
  fs::create_directory(folder / "b");
  writeTensors(folder / "b/model.safetensors", FakeWeights(2).stored());
  std::swap(packed, other);
  EXPECT_EQ(message(folder / "b"), "");
  std::swap(packed, other);
  auto model = load("encoder", "");
  ASSERT_TRUE(model) << messageOf(model);
  Padded padded{1, 3, {4, 5, 6}, {}, {}, {}};
  auto before = forward(**model, padded);
  // In place, as cp does it.
  writeBytes(packed, readBytes(other));
  auto after = forward(**model, padded);
  ASSERT_TRUE(before && after);
  EXPECT_EQ((*before)[0].floats, (*after)[0].floats);
  fs::resize_file(packed, 0);
  EXPECT_TRUE(forward(**model, padded));
  EXPECT_EQ(countMappedLines(packed), 0);
}

TEST_F(Packed, IsMappedByWhoWritesItToShare) {
  auto first = load("encoder", folder / "a", true);
  ASSERT_TRUE(first) << messageOf(first);
  EXPECT_EQ(countMappedLines(packed), 1);
  auto own = load("encoder", folder / "a");
  ASSERT_TRUE(own) << messageOf(own);
  EXPECT_EQ(std::memcmp((*first)->weights(), (*own)->weights(),
                        (*own)->weightBytes()),
            0);
  EXPECT_EQ(countMappedLines(packed), 1);
}

TEST_F(Packed, IsMappedWhereItIsShared) {
  make();
  auto own = load("encoder", ""), shared = load("encoder", "", true);
  ASSERT_TRUE(own && shared) << messageOf(own) << messageOf(shared);
  EXPECT_EQ(countMappedLines(packed), 1);
  ASSERT_EQ((*shared)->weightBytes(), (*own)->weightBytes());
  EXPECT_EQ(std::memcmp((*shared)->weights(), (*own)->weights(),
                        (*own)->weightBytes()),
            0);
  shared->reset();
  EXPECT_EQ(countMappedLines(packed), 0);
  std::string bytes = readBytes(packed);
  bytes.back() ^= 1;
  writeBytes(packed, bytes);
  EXPECT_NE(messageOf(load("encoder", "", true)).find("the file is damaged"),
            std::string::npos);
}

TEST_F(Packed, IsNotNeededToRun) {
  LimitFiles limit(4096);
  auto model = load("encoder", folder / "a");
  ASSERT_TRUE(model) << messageOf(model);
  EXPECT_EQ((*model)->packedFault(),
            packed + ": cannot be written: File too large");
  EXPECT_TRUE(fs::is_empty(folder / "packed"));
  EXPECT_TRUE(forward(**model, {1, 3, {4, 5, 6}, {}, {}, {}}));
}

TEST_F(Packed, IsWrittenByManyAtOnce) {
  for (int round = 0; round < 20; ++round) {
    fs::remove(packed);
    std::string messages[4];
    std::vector<std::thread> threads;
    for (std::string &own : messages) {
      threads.emplace_back([&] {
        auto model = load("encoder", folder / "a");
        own = model ? (*model)->packedFault() : messageOf(model);
      });
    }
    for (std::thread &thread : threads) {
      thread.join();
    }
    for (const std::string &own : messages) {
      EXPECT_EQ(own, "");
    }
  }
  EXPECT_EQ(message(), "");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "packed"), {}), 1);
}

TEST(Checksum, SeesEveryWordAndNoThread) {
  std::vector<uint8_t> data((3 << 20) + 13);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<uint8_t>(i * 31 >> 3);
  }
  uint64_t sum = checksum(data.data(), data.size(), Workers(1));
  EXPECT_EQ(checksum(data.data(), data.size(), Workers(4)), sum);
  EXPECT_NE(checksum(data.data(), data.size() - 1, Workers(1)), sum);
  for (size_t at : {size_t(0), size_t(9), data.size() / 2, data.size() - 1}) {
    data[at] ^= 1;
    EXPECT_NE(checksum(data.data(), data.size(), Workers(1)), sum) << at;
    data[at] ^= 1;
  }
  std::swap(data[0], data[(1 << 20) + 9]);
  EXPECT_NE(checksum(data.data(), data.size(), Workers(1)), sum);
}

TEST(RandomWeights, GiveFiniteOutputs) {
  LoadOptions options;
  options.libraryPath = fakeLibrary("encoder");
  options.randomWeights = true;
  auto model = Model::load(options);
  ASSERT_TRUE(model) << messageOf(model);
  auto outputs = forward(**model, {1, 3, {4, 5, 6}, {}, {}, {}});
  ASSERT_TRUE(outputs) << messageOf(outputs);
  for (const OutputTensor &output : *outputs) {
    for (float value : output.floats) {
      EXPECT_TRUE(std::isfinite(value));
    }
  }
}

} // namespace
} // namespace tfc::rt::test
