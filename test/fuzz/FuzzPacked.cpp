// Fuzzes files of packed weights. An input changes a good file: the first byte
// says which checksums are right again afterwards, the next two how many bytes
// are cut off; then come changes of three bytes: place and value.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/PackedFile.h"
#include "test/fuzz/Fuzz.h"

#include <cstring>
#include <filesystem>
#include <fstream>

namespace tfc::fuzz {
namespace {

using namespace tfc::rt;

// Where the format has its sums: behind magic, version, hash and size of the
// content; behind the layout's tag.
constexpr size_t headerBytes = 4096, contentSumAt = 32, headerSumAt = 312;
constexpr uint64_t weightBytes = 256;

PackedIdentity identity() { return {1234, weightBytes, "plain-f32"}; }

std::string goodFile() {
  auto weights = Mapping::allocate(weightBytes);
  expect(static_cast<bool>(weights), "memory");
  for (uint64_t i = 0; i < weightBytes; ++i) {
    weights->data()[i] = static_cast<uint8_t>(i);
  }
  namespace fs = std::filesystem;
  fs::path path = fs::temp_directory_path() /
                  ("tfc-fuzz-packed-" + std::to_string(getpid()));
  Loading loading{Workers(1)};
  auto written =
      writePacked(path.string(), identity(), {5, 6}, *weights, loading);
  expect(static_cast<bool>(written), "a packed file");
  std::ifstream stream(path, std::ios::binary);
  std::string content(std::istreambuf_iterator<char>(stream), {});
  fs::remove(path);
  expect(content.size() == headerBytes + weightBytes, "header and weights");
  return content;
}

void putSum(std::string &content, size_t at, const char *from, size_t bytes) {
  uint64_t sum = checksum(from, bytes, Workers(1));
  std::memcpy(content.data() + at, &sum, sizeof(sum));
}

/// Makes the sums right that `which` names: 1 the content's, 2 the header's.
void repair(std::string &content, uint8_t which) {
  if (which & 1 && content.size() == headerBytes + weightBytes) {
    putSum(content, contentSumAt, content.data() + headerBytes, weightBytes);
  }
  if (which & 2 && content.size() >= headerBytes) {
    putSum(content, headerSumAt, content.data(), headerSumAt);
  }
}

void open(const std::string &content) {
  MemoryFile file(content);
  Loading loading{Workers(1)};
  auto packed = openPacked(file.path(), identity(), loading);
  if (!packed) {
    expectMessage(packed.error().message);
    return;
  }
  expect(packed->has_value(), "the file to be there");
  const Mapping &weights = (*packed)->weights;
  expect(weights.size() == weightBytes, "as many bytes as the model has");
  expect(std::memcmp(weights.data(), content.data() + headerBytes,
                     weightBytes) == 0,
         "the bytes of the file");
}

} // namespace
} // namespace tfc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace tfc::fuzz;
  static const std::string good = goodFile();
  if (size < 3) {
    return 0;
  }
  std::string content = good;
  for (size_t i = 3; i + 2 < size; i += 3) {
    size_t at = (data[i] | size_t(data[i + 1]) << 8) % content.size();
    content[at] = static_cast<char>(data[i + 2]);
  }
  size_t cut = data[1] | size_t(data[2]) << 8;
  content.resize(content.size() - std::min(content.size(), cut));
  repair(content, data[0]);
  open(content);
  return 0;
}
