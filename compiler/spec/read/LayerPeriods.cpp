// Which of the layers of a stack come again in turn: prologues, periods and
// epilogues, of which the best are found from the last layer backwards.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/LayerPeriods.h"

#include "compiler/spec/SpecFields.h"

#include <array>

namespace tfc::spec {
namespace {

/// The layers from some layer on: the first loop, and what it and all behind it
/// cost.
struct Plan {
  LayerPeriod first;
  size_t bodies = 0, periods = 0;
};

bool isCheaper(const Plan &plan, const Plan &than) {
  return plan.bodies != than.bodies ? plan.bodies < than.bodies
                                    : plan.periods < than.periods;
}

} // namespace

std::vector<LayerPeriod> findPeriods(const std::vector<size_t> &kinds) {
  constexpr size_t most = size_t(maxPeriod);
  size_t count = kinds.size();
  std::vector<Plan> plans(count + 1);
  // How many layers from this one on are as the one so many layers later.
  std::array<size_t, most + 1> same = {};
  for (size_t layer = count; layer-- > 0;) {
    for (size_t period = 1; period <= most; ++period) {
      bool isSame =
          layer + period < count && kinds[layer] == kinds[layer + period];
      same[period] = isSame ? same[period] + 1 : 0;
    }
    Plan &best = plans[layer];
    best.bodies = count + 1;
    auto consider = [&](size_t period, size_t trips) {
      const Plan &rest = plans[layer + period * trips];
      Plan plan = {{period, trips},
                   rest.bodies + period,
                   rest.periods + (period > 1 ? 1 : 0)};
      best = isCheaper(plan, best) ? plan : best;
    };
    for (size_t period = most; period > 1; --period) {
      // A period of equal layers is a loop over one.
      bool areEqual = same[1] + 1 >= period;
      for (size_t trips = 1 + same[period] / period; trips > 1 && !areEqual;
           --trips) {
        consider(period, trips);
      }
    }
    for (size_t trips = 1 + same[1]; trips > 0; --trips) {
      consider(1, trips);
    }
  }
  std::vector<LayerPeriod> result;
  for (size_t layer = 0; layer < count;) {
    result.push_back(plans[layer].first);
    layer += result.back().period * result.back().trips;
  }
  return result;
}

} // namespace tfc::spec
