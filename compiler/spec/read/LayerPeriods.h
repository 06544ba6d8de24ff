// Which of the layers of a stack come again in turn.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_READ_LAYERPERIODS_H
#define TFC_COMPILER_SPEC_READ_LAYERPERIODS_H

#include <cstddef>
#include <vector>

namespace tfc::spec {

/// `period` layers one after the other, `trips` times: a loop with as many
/// layers in its body. A period of more than one layer has at least two trips.
struct LayerPeriod {
  size_t period = 1, trips = 1;
  friend bool operator==(const LayerPeriod &a, const LayerPeriod &b) {
    return a.period == b.period && a.trips == b.trips;
  }
};

/// Layers of these kinds as loops, with the fewest layers in all bodies
/// together; among those the fewest loops of more than one layer, and then the
/// longest ones first. A body has at most maxPeriod layers.
std::vector<LayerPeriod> findPeriods(const std::vector<size_t> &kinds);

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_READ_LAYERPERIODS_H
