// Records, compares, replaces.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/TapTest.h"

#include "runtime/tools/ErrorPattern.h"
#include "tfc/abi.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tfc::run {

/// To the nearest number of a type, of two equally near ones the even one.
static float roundTo(uint32_t dtype, float value) {
  if (dtype == TFC_DTYPE_F32 || value == 0 || !std::isfinite(value)) {
    return value;
  }
  bool isHalf = dtype == TFC_DTYPE_F16;
  int least = isHalf ? -14 : -126, places = isHalf ? 10 : 7;
  int unit = std::max(std::ilogb(value), least) - places;
  return std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
}

rt::TapListener TapTest::recorder() {
  return [this](const rt::TappedValue &value) {
    float *end = value.data + value.rows * value.width;
    std::transform(value.data, end, value.data,
                   [this](float each) { return roundTo(dtype, each); });
    recorded.push_back({value.id, value.layer, value.rows, value.width,
                        std::vector<float>(value.data, end)});
    return dtype != TFC_DTYPE_F32;
  };
}

rt::TapListener TapTest::checker() {
  return [this](const rt::TappedValue &value) { return check(value); };
}

void TapTest::begin() {
  recorded.clear();
  lines.clear();
  next = 0;
  isLost = false;
}

static std::string nameOf(const std::string &id, int64_t layer) {
  return layer < 0 ? id : id + ", layer " + std::to_string(layer);
}

void TapTest::addFault(const rt::TappedValue &value, const std::string &what) {
  std::string behind = value.kernel ? value.kernel : "none";
  lines.push_back(nameOf(value.id, value.layer) + ", behind kernel " + behind +
                  ": " + what);
  wrong.insert(std::string(value.id) + " (" + behind + ")");
}

/// What a type tells apart, of the largest value; and a quarter, since experts
/// round three times inside.
static double stepOf(uint32_t dtype) {
  return dtype == TFC_DTYPE_BF16  ? 0x1.4p-7
         : dtype == TFC_DTYPE_F16 ? 0x1.4p-10
                                  : 0;
}

bool TapTest::check(const rt::TappedValue &value) {
  if (isLost) {
    return false;
  }
  const Value *expected = next < recorded.size() ? &recorded[next++] : nullptr;
  if (!expected || expected->id != value.id || expected->layer != value.layer ||
      expected->rows != value.rows || expected->width != value.width) {
    isLost = true;
    addFault(value,
             "expected " +
                 (expected ? nameOf(expected->id, expected->layer) + " of " +
                                 std::to_string(expected->rows) + " rows here"
                           : std::string("no more values")) +
                 ", got " + std::to_string(value.rows) + " rows");
    return false;
  }
  double largest = 1;
  for (float each : expected->data) {
    largest = std::isfinite(each) ? std::max<double>(largest, std::fabs(each))
                                  : largest;
  }
  double allowed = std::max(tolerance, stepOf(value.dtype)) * largest;
  std::string errors = describeErrors(expected->data.data(), value.data,
                                      value.rows, value.width, allowed);
  if (!errors.empty()) {
    addFault(value, errors);
  }
  size_t bytes = expected->data.size() * sizeof(float);
  if (std::memcmp(value.data, expected->data.data(), bytes) == 0) {
    return false;
  }
  std::memcpy(value.data, expected->data.data(), bytes);
  return true;
}

} // namespace tfc::run
