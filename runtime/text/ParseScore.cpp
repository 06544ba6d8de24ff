// The digits as an integer of 64 bits, those that have no room left out, and
// one product or quotient by a power of ten, both rounded: what serde_json does
// without its feature float_roundtrip.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/ParseScore.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>

namespace tfc::text {

namespace {

constexpr int maxPower = 308;

/// 10^n, each the nearest double.
double powerOfTen(int n) {
  static const auto powers = [] {
    std::array<double, maxPower + 1> made{};
    for (int i = 0; i <= maxPower; ++i) {
      made[i] = std::stod("1e" + std::to_string(i));
    }
    return made;
  }();
  return powers[n];
}

double scale(uint64_t digits, int64_t exponent) {
  double value = static_cast<double>(digits);
  for (; exponent < -maxPower && value != 0; exponent += maxPower) {
    value /= powerOfTen(maxPower);
  }
  if (value == 0 || exponent > maxPower) {
    return value == 0 ? 0 : std::numeric_limits<double>::infinity();
  }
  auto power = static_cast<int>(exponent < 0 ? -exponent : exponent);
  return exponent < 0 ? value / powerOfTen(power) : value * powerOfTen(power);
}

/// A number as it is read, from left to right.
struct Reader {
  std::string_view rest;

  bool take(char c) {
    bool isThere = !rest.empty() && rest[0] == c;
    rest.remove_prefix(isThere);
    return isThere;
  }

  /// Takes digits; `add` gets each.
  template <typename F> void takeDigits(F add) {
    for (; !rest.empty() && rest[0] >= '0' && rest[0] <= '9';
         rest.remove_prefix(1)) {
      add(static_cast<unsigned>(rest[0] - '0'));
    }
  }

  int64_t takeExponent() {
    constexpr int64_t most = 1 << 30;
    bool isNegative = take('-');
    take('+');
    int64_t exponent = 0;
    takeDigits([&](unsigned digit) {
      exponent = std::min(most, exponent * 10 + digit);
    });
    return isNegative ? -exponent : exponent;
  }
};

/// Whether one more digit fits.
bool fits(uint64_t digits, unsigned digit) {
  return digits <= (std::numeric_limits<uint64_t>::max() - digit) / 10;
}

} // namespace

double parseScore(std::string_view text) {
  Reader reader{text};
  bool isNegative = reader.take('-'), isFull = false;
  uint64_t digits = 0;
  int64_t exponent = 0;
  reader.takeDigits([&](unsigned digit) {
    isFull |= !fits(digits, digit);
    digits = isFull ? digits : digits * 10 + digit;
    exponent += isFull;
  });
  if (reader.take('.')) {
    isFull = false;
    reader.takeDigits([&](unsigned digit) {
      isFull |= !fits(digits, digit);
      digits = isFull ? digits : digits * 10 + digit;
      exponent -= !isFull;
    });
  }
  if (reader.take('e') || reader.take('E')) {
    exponent += reader.takeExponent();
  }
  double value = scale(digits, exponent);
  return isNegative ? -value : value;
}

} // namespace tfc::text
