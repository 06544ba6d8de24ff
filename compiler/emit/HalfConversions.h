// Conversions of f16 as arithmetic: for machines that have no instructions for
// them, where LLVM would call functions that the library has not.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_EMIT_HALFCONVERSIONS_H
#define TFC_COMPILER_EMIT_HALFCONVERSIONS_H

namespace llvm {
class Module;
}

namespace tfc {

/// Every conversion between f16 and f32, of numbers and vectors, becomes
/// arithmetic of integers and floats with the same result, to the bit: the
/// nearest, of two equally near ones the even one; what is no number stays
/// none, quiet, with the upper bits of its payload.
void expandHalves(llvm::Module &module);

} // namespace tfc

#endif // TFC_COMPILER_EMIT_HALFCONVERSIONS_H
