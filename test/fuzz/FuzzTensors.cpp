// Fuzzes tensor files: header, tensors, index, and the search for a model's
// parameters. The first byte of an input says what the rest is: 'i', an index;
// 'h', a header, before which its length stands, and behind it as many zeros as
// the next two bytes say; anything else, a file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/Safetensors.h"
#include "runtime/src/files/SafetensorsHeader.h"
#include "test/fuzz/Fuzz.h"

#include <cstring>

namespace tfc::fuzz {
namespace {

using namespace tfc::rt;

/// A parameter of two layers, one with a tie, a vector that may be missing.
WeightTable smallTable() {
  WeightTable table;
  WeightSource embed;
  embed.name = "embed";
  embed.patterns = {"{p}embed.weight"};
  embed.rows = embed.storedRows = 4;
  embed.cols = 2;
  WeightSource mix;
  mix.name = "mix";
  mix.patterns = {"{p}layers.{i}.mix.weight", "{p}layers.{i}.fused.weight"};
  mix.layers = 2;
  mix.rows = mix.firstRow = 2;
  mix.storedRows = 6;
  mix.cols = 2;
  mix.inOut = true;
  WeightSource bias;
  bias.name = "bias";
  bias.patterns = {"head.bias"};
  bias.rank = 1;
  bias.rows = bias.storedRows = 4;
  bias.fillZeros = true;
  WeightSource head = embed;
  head.name = "head";
  head.patterns = {"head.weight"};
  head.tiedTo = 0;
  table.weights = {embed, mix, bias, head};
  table.prefixes = {"", "model."};
  table.aliases = {{".weight", ".gamma"}};
  return table;
}

template <typename T> bool isFine(const Result<T> &result) {
  if (!result) {
    expectMessage(result.error().message);
  }
  return static_cast<bool>(result);
}

/// Touches every byte of a tensor, and its values where they are numbers.
void read(const Tensor &tensor) {
  volatile uint8_t sum = 0;
  for (uint64_t i = 0; i < tensor.bytes; ++i) {
    sum = sum ^ tensor.data[i];
  }
  if (isWeightDType(tensor.dtype)) {
    std::vector<float> values(static_cast<size_t>(tensor.elements()));
    convertToF32(tensor, 0, tensor.elements(), values.data());
  }
}

void openFile(const std::string &content) {
  static const WeightTable table = smallTable();
  MemoryFile file(content);
  auto one = TensorFile::open(file.path());
  if (isFine(one)) {
    for (const Tensor &tensor : (*one)->tensors()) {
      read(tensor);
      expect((*one)->find(tensor.name) == &tensor, "a tensor by its name",
             tensor.name);
    }
  }
  auto all = TensorFiles::open(file.path());
  if (isFine(all)) {
    isFine(bindWeights(*all, table));
    all->closestName("layers.0.norm.weight");
  }
}

std::string withLength(std::string_view input) {
  uint16_t numZeros = 0;
  std::memcpy(&numZeros, input.data(), sizeof(numZeros));
  input.remove_prefix(sizeof(numZeros));
  uint64_t length = input.size();
  std::string content(sizeof(length), '\0');
  std::memcpy(content.data(), &length, sizeof(length));
  return content.append(input).append(numZeros, '\0');
}

} // namespace
} // namespace tfc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace tfc::fuzz;
  if (size == 0) {
    return 0;
  }
  std::string_view input(reinterpret_cast<const char *>(data) + 1, size - 1);
  if (data[0] == 'i') {
    isFine(tfc::rt::readIndex(input.data(), input.size()));
  } else if (data[0] == 'h' && input.size() >= 2) {
    openFile(withLength(input));
  } else {
    openFile(std::string(input));
  }
  return 0;
}
