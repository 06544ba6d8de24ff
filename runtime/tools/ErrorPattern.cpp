// Counts, residues, ratios.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/ErrorPattern.h"

#include "runtime/src/step/Tap.h"
#include "runtime/tools/FormatText.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

namespace tfc::run {

using tools::formatText;

namespace {

/// Sizes of the pieces that kernels work in.
constexpr int64_t pieceSizes[] = {8, 16, 64, 128};
/// Numbers that are listed one by one.
constexpr size_t mostListed = 8;

std::string list(const std::vector<int64_t> &numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size() && i < mostListed; ++i) {
    text += (i ? ", " : "") + std::to_string(numbers[i]);
  }
  return text + (numbers.size() > mostListed ? ", ..." : "");
}

/// The remainders that make up exactly the wrong ones of `isWrong`, some of
/// them several times; empty: there are none.
std::vector<int64_t> residuesOf(const std::vector<uint8_t> &isWrong,
                                int64_t size) {
  std::set<int64_t> found;
  auto count = static_cast<int64_t>(isWrong.size());
  for (int64_t i = 0; i < count; ++i) {
    if (isWrong[size_t(i)]) {
      found.insert(i % size);
    }
  }
  for (int64_t i = 0; i < count; ++i) {
    if (found.count(i % size) && !isWrong[size_t(i)]) {
      return {};
    }
  }
  bool isRepeated = *found.begin() + size < count;
  return isRepeated ? std::vector<int64_t>(found.begin(), found.end())
                    : std::vector<int64_t>();
}

/// "all rows", "rows 4..7", "rows 1, 3 mod 8", "rows 2, 5, 11".
std::string describeAxis(const char *name,
                         const std::vector<uint8_t> &isWrong) {
  std::vector<int64_t> wrong;
  for (size_t i = 0; i < isWrong.size(); ++i) {
    if (isWrong[i]) {
      wrong.push_back(static_cast<int64_t>(i));
    }
  }
  if (wrong.size() == isWrong.size()) {
    return formatText("all %s", name);
  }
  auto stretch = static_cast<size_t>(wrong.back() - wrong.front() + 1);
  if (stretch == wrong.size() && wrong.size() > 1) {
    return formatText("%s %lld..%lld", name, (long long)wrong.front(),
                      (long long)wrong.back());
  }
  for (int64_t size : pieceSizes) {
    std::vector<int64_t> residues = residuesOf(isWrong, size);
    if (!residues.empty()) {
      return formatText("%s %s mod %lld", name, list(residues).c_str(),
                        (long long)size);
    }
  }
  return std::string(name) + " " + list(wrong);
}

bool isUntouched(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits == rt::untouchedBits;
}

/// What the wrong values of a matrix have in common.
class Pattern {
public:
  Pattern(int64_t rows, int64_t width)
      : width(width), wrongRows(size_t(rows)), wrongColumns(size_t(width)) {}

  void add(int64_t place, float expected, float got) {
    if (count++ == 0) {
      first = place;
      firstExpected = expected;
      firstGot = got;
    }
    wrongRows[size_t(place / width)] = wrongColumns[size_t(place % width)] = 1;
    nans += std::isnan(got);
    untouched += isUntouched(got);
    most = std::max(most, std::fabs(double(got) - double(expected)));
    // Of values that are not small beside their error.
    if (std::isfinite(got) && std::fabs(expected) > 1e-3) {
      double factor = double(got) / double(expected);
      least = ratios == 0 ? factor : std::min(least, factor);
      greatest = ratios == 0 ? factor : std::max(greatest, factor);
      ++ratios;
    }
  }

  std::string describe() const {
    if (count == 0) {
      return "";
    }
    std::string text = formatText(
        "%lld of %zu values, by %.3g at most; first [%lld, %lld]: expected "
        "%.6g, got %.6g; %s, %s",
        (long long)count, wrongRows.size() * wrongColumns.size(), most,
        (long long)(first / width), (long long)(first % width), firstExpected,
        firstGot, describeAxis("rows", wrongRows).c_str(),
        describeAxis("columns", wrongColumns).c_str());
    text += nans ? formatText("; %lld NaNs", (long long)nans) : "";
    text += untouched ? formatText("; %lld never written", (long long)untouched)
                      : "";
    bool isFactor =
        ratios > 1 && greatest - least <= 1e-3 * std::fabs(greatest) + 1e-6;
    return text + (isFactor ? formatText("; %.4g times what is right",
                                         (least + greatest) / 2)
                            : "");
  }

private:
  int64_t width;
  std::vector<uint8_t> wrongRows, wrongColumns;
  int64_t count = 0, first = 0, nans = 0, untouched = 0, ratios = 0;
  float firstExpected = 0, firstGot = 0;
  double most = 0, least = 0, greatest = 0;
};

} // namespace

std::string describeErrors(const float *expected, const float *got,
                           int64_t rows, int64_t width, double allowed) {
  Pattern pattern(rows, width);
  for (int64_t i = 0; i < rows * width; ++i) {
    bool areEqual = expected[i] == got[i] ||
                    (std::isnan(expected[i]) && std::isnan(got[i]));
    // Written so that a NaN is wrong.
    if (!areEqual &&
        !(std::fabs(double(expected[i]) - double(got[i])) <= allowed)) {
      pattern.add(i, expected[i], got[i]);
    }
  }
  return pattern.describe();
}

} // namespace tfc::run
