// Values of the floats of 8 and 4 bits that checkpoints have.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_FILES_QUANTIZED_NARROWFLOATS_H
#define TFC_RUNTIME_SRC_FILES_QUANTIZED_NARROWFLOATS_H

#include <cstdint>

namespace tfc::rt {

/// e4m3fn: bias 7, no infinity; 0x7f and 0xff are NaN.
float e4m3Value(uint8_t code);
/// e8m0: 2^(code - 127); 255 is NaN.
float e8m0Value(uint8_t code);
/// e2m1, of the low 4 bits: 0 .5 1 1.5 2 3 4 6; bit 3 is the sign.
float e2m1Value(uint8_t code);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_FILES_QUANTIZED_NARROWFLOATS_H
