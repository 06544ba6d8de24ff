// A deliberate fault in the lowering, for tests of what finds such faults.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_UNIT_VERIFY_BREAKLOWERING_H
#define TFC_TEST_UNIT_VERIFY_BREAKLOWERING_H

namespace tfc {

/// Registers `test-break-lowering{at=PATH}`, for the stage `linalg`: the first
/// op at the location PATH that is a sum becomes a difference, or that is paged
/// attention gets the other mask. Fails when there is no such op. May be called
/// more than once.
void registerBreakLoweringPass();

} // namespace tfc

#endif // TFC_TEST_UNIT_VERIFY_BREAKLOWERING_H
