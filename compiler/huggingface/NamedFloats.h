// Numbers that JSON has no words for, and Python writes all the same.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_HUGGINGFACE_NAMEDFLOATS_H
#define TFC_COMPILER_HUGGINGFACE_NAMEDFLOATS_H

#include <string>
#include <string_view>

namespace tfc::huggingface {

/// JSON with Infinity, -Infinity and NaN in place of numbers, as Python's
/// module json writes them, as transformers 5 does: {"__float__": "Infinity"}.
/// Lines stay where they are.
std::string nameFloats(std::string_view text);

} // namespace tfc::huggingface

#endif // TFC_COMPILER_HUGGINGFACE_NAMEDFLOATS_H
