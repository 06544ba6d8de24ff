// The numbers that PyTorch draws from a seed, in which published models' hashes
// are defined.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/LayerSpec.h"

#include <cmath>
#include <random>

namespace tfc::spec {

/// Normal numbers of two uniform ones each (Box and Muller 1958): number i of
/// the 16 of number i and of number i + 8, for i below 8, and number i + 8
/// likewise.
static void makeNormal(float *numbers) {
  constexpr double kTurn = 6.283185307179586;
  for (int i = 0; i < 8; ++i) {
    double radius = std::sqrt(-2 * std::log(1 - double(numbers[i])));
    double angle = kTurn * double(numbers[i + 8]);
    numbers[i] = float(radius * std::cos(angle));
    numbers[i + 8] = float(radius * std::sin(angle));
  }
}

int64_t Hashes::width() const {
  int64_t products = 0;
  for (int64_t factor : buckets) {
    products += factor / 2;
  }
  return count * products;
}

std::vector<float> Hashes::rotations(int64_t columns) const {
  std::vector<float> numbers(size_t(columns * width()));
  std::mt19937 generator{uint32_t(seed)};
  auto draw = [&] { return float(generator() & 0xffffff) / float(1 << 24); };
  for (float &number : numbers) {
    number = draw();
  }
  size_t size = numbers.size(), whole = size / 16 * 16;
  for (size_t first = 0; first < whole; first += 16) {
    makeNormal(numbers.data() + first);
  }
  // The last 16 are drawn again where they are not whole.
  if (whole < size) {
    for (size_t i = size - 16; i < size; ++i) {
      numbers[i] = draw();
    }
    makeNormal(numbers.data() + size - 16);
  }
  return numbers;
}

} // namespace tfc::spec
