// A deliberate fault in what passes have joined, for tests of what finds it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_UNIT_VERIFY_BREAKFUSION_H
#define TFC_TEST_UNIT_VERIFY_BREAKFUSION_H

namespace tfc {

/// Registers `test-break-fusion{what=WHAT}`, for the stage `fused`: every
/// `residual` that a linear has taken is forgotten, or every part but the first
/// of a fused `projection` becomes the first one. Does nothing to a module in
/// which nothing was joined. May be called more than once.
void registerBreakFusionPass();

} // namespace tfc

#endif // TFC_TEST_UNIT_VERIFY_BREAKFUSION_H
