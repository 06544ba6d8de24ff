// Mappings and files give back what they took: no sanitizer sees that.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/memory/Memory.h"

#include "runtime/src/files/OpenFile.h"
#include "runtime/src/load/Weights.h"
#include "test/runtime/FakeModel.h"
#include "test/runtime/MappedLines.h"

#include <atomic>
#include <cstring>
#include <sstream>
#include <sys/mman.h>

namespace tfc::rt::test {
namespace {

bool isMapped(const uint8_t *address) {
  unsigned char resident = 0;
  auto page = roundDownToPage(reinterpret_cast<uintptr_t>(address));
  return mincore(reinterpret_cast<void *>(page), 1, &resident) == 0;
}

TEST(Pages, AreWhole) {
  EXPECT_EQ(roundUpToPage(1), roundDownToPage(2 * pageBytes() - 1));
  EXPECT_EQ(hugePageBytes % pageBytes(), 0U);
  for (uint64_t page :
       {uint64_t(4) << 10, uint64_t(16) << 10, uint64_t(64) << 10}) {
    for (uint64_t past : {uint64_t(1), page / 2, page}) {
      EXPECT_EQ(roundUpToPage(3 * page + past, page), 4 * page);
      EXPECT_EQ(roundDownToPage(4 * page - past, page), 3 * page);
    }
    EXPECT_EQ(roundUpToPage(0, page), 0U);
    EXPECT_EQ(roundDownToPage(3 * page, page), 3 * page);
  }
}

TEST(Mapping, IsGivenBack) {
  for (uint64_t bytes : {uint64_t(5000), 3 * hugePageBytes + 5000}) {
    const uint8_t *data = nullptr;
    {
      auto mapping = Mapping::allocate(bytes);
      ASSERT_TRUE(mapping) << messageOf(mapping);
      data = mapping->data();
      Mapping moved = std::move(*mapping);
      EXPECT_TRUE(isMapped(data));
      EXPECT_TRUE(isMapped(data + bytes - 1));
    }
    EXPECT_FALSE(isMapped(data));
    EXPECT_FALSE(isMapped(data + bytes - 1));
  }
}

TEST(Mapping, OfAFileIsGivenBack) {
  Folder folder;
  std::string path = folder / "file";
  std::ofstream(path) << std::string(10000, 'x');
  {
    auto file = OpenFile::open(path);
    ASSERT_TRUE(file) << messageOf(file);
    auto mapping = Mapping::mapFile(file->number(), file->size(), 4096);
    ASSERT_TRUE(mapping) << messageOf(mapping);
    EXPECT_EQ(mapping->size(), 10000U - 4096);
    EXPECT_EQ(countMappedLines(path), 1);
  }
  EXPECT_EQ(countMappedLines(path), 0);
}

/// A checkpoint of one weight, 2 layers of 32 MiB each.
class LargeCheckpoint : public ::testing::Test {
protected:
  static constexpr uint32_t layers = 2;
  static constexpr int64_t rows = 8192;
  static constexpr uint64_t rowBytes = 4096;
  static constexpr uint64_t layerBytes = rows * rowBytes;

  void SetUp() override {
    std::vector<NamedTensor> tensors;
    for (uint32_t layer = 0; layer < layers; ++layer) {
      tensors.push_back({"w." + std::to_string(layer),
                         DType::F32,
                         {rows, rowBytes / 4},
                         std::vector<uint8_t>(layerBytes, 7)});
    }
    writeTensors(path, tensors);
  }

  Folder folder;
  std::string path = folder / "model.safetensors";
};

TEST_F(LargeCheckpoint, IsUnmapped) {
  {
    auto file = TensorFile::open(path);
    ASSERT_TRUE(file) << messageOf(file);
    EXPECT_EQ(countMappedLines(path), 1);
  }
  EXPECT_EQ(countMappedLines(path), 0);
}

/// Bytes of this process's memory that are pages of files.
uint64_t residentFileBytes() {
  std::ifstream status("/proc/self/status");
  uint64_t kilobytes = 0;
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string name;
    uint64_t value = 0;
    words >> name >> value;
    kilobytes += name == "RssFile:" || name == "RssShmem:" ? value : 0;
  }
  return kilobytes * 1024;
}

// What the pack function below saw. Calls come one after the other.
uint64_t mostResident = 0;

int32_t packLayer(const tfc_pack_v0 *pack) {
  int64_t first = pack->row_begin * 4096;
  std::memcpy(static_cast<char *>(pack->packed) +
                  pack->layer * (int64_t(32) << 20) + first,
              static_cast<const char *>(pack->sources->data) + first,
              (pack->row_end - pack->row_begin) * 4096);
  mostResident = std::max(mostResident, residentFileBytes());
  return 0;
}

TEST_F(LargeCheckpoint, IsNotInMemoryTwiceWhilePacking) {
  tfc_source_v0 source{};
  source.stored_rows = rows;
  tfc_weight_v0 weight{};
  weight.name = "w";
  weight.layers = layers;
  weight.sources = &source;
  weight.rows = rows;
  tfc_module_v0 module{};
  module.weights = &weight;
  module.n_weights = 1;
  tfc_program_v0 program{};
  program.packed_bytes = layers * layerBytes;
  program.pack = packLayer;
  auto files = TensorFiles::open(path);
  ASSERT_TRUE(files) << messageOf(files);
  BoundWeights bound(1);
  for (uint32_t layer = 0; layer < layers; ++layer) {
    bound[0].push_back(files->find("w." + std::to_string(layer)));
    ASSERT_TRUE(bound[0].back());
  }
  uint64_t before = residentFileBytes();
  mostResident = 0;
  Loading loading{Workers(1)};
  auto packed = packWeights(module, program, bound, loading);
  ASSERT_TRUE(packed) << messageOf(packed);
  for (uint64_t row = 0; row < layers * rows; ++row) {
    ASSERT_EQ(packed->data()[row * rowBytes], 7) << row;
  }
  EXPECT_EQ(packed->data()[layers * layerBytes - 1], 7);
  // A range of 4 MiB, and what the system maps around it.
  EXPECT_LT(mostResident - before, layerBytes / 2);
}

} // namespace
} // namespace tfc::rt::test
