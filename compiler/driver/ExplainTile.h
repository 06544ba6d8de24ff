// The tile that a product was given, beside those of the other rows of the
// strategy table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_EXPLAINTILE_H
#define TFC_COMPILER_DRIVER_EXPLAINTILE_H

#include "compiler/target/TargetInfo.h"

#include <string>
#include <vector>

namespace tfc {

/// Lines: the tile of products of weights of so many bits in a CPU's program,
/// "8 rows x 48 columns in vectors of 16, ...", and then each other one of the
/// table, behind the programs and microarchitectures that have it.
std::vector<std::string> explainTile(const TargetInfo &target,
                                     int64_t weightBits);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_EXPLAINTILE_H
