// What the fuzzer of the C API passes to it, drawn from an input's bytes:
// mostly what is valid, so that calls get far.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_FUZZ_FUZZAPI_H
#define TFC_TEST_FUZZ_FUZZAPI_H

#include "tfc/runtime.h"

#include <deque>
#include <fuzzer/FuzzedDataProvider.h>
#include <vector>

namespace tfc::fuzz {

/// Numbers out of an input; zeros when it has ended.
class Draw {
public:
  Draw(const uint8_t *data, size_t size) : bytes(data, size) {}

  bool hasMore() { return bytes.remaining_bytes() > 0; }
  /// One in `n`.
  bool rarely(int n) { return below(n) == 1; }
  int64_t below(int64_t n) {
    return bytes.ConsumeIntegralInRange<int64_t>(0, n - 1);
  }
  int64_t any() { return bytes.ConsumeIntegral<int64_t>(); }
  /// A number from 0 to 1, rarely any other.
  double share() {
    return rarely(10) ? bytes.ConsumeFloatingPoint<double>()
                      : bytes.ConsumeProbability<double>();
  }
  /// Within [first, limit), rarely not.
  int64_t within(int64_t first, int64_t limit) {
    return rarely(40) ? (rarely(2) ? any() : limit)
                      : first + below(limit - first);
  }
  int64_t within(int64_t limit) { return within(0, limit); }
  int64_t token() { return within(32); }

private:
  FuzzedDataProvider bytes;
};

/// The inputs of a pass, and the arrays that they point into.
struct Inputs {
  std::deque<std::vector<int64_t>> longs;
  std::deque<std::vector<int32_t>> ints;
  std::vector<tfc_tensor> tensors;
};

/// A model that lives as long as the process.
const tfc_model *drawModel(Draw &draw);
Inputs drawInputs(Draw &draw);
tfc_decoding_options drawDecoding(Draw &draw, const tfc_model *model);

} // namespace tfc::fuzz

#endif // TFC_TEST_FUZZ_FUZZAPI_H
