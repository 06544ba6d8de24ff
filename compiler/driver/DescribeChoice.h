// What a library was compiled for, in a line for people.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_DESCRIBECHOICE_H
#define TFC_COMPILER_DRIVER_DESCRIBECHOICE_H

#include "compiler/spec/ModelSpec.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace tfc {

/// Which programs, what matrices, keys and values are kept in, which of the
/// programs multiply bf16 ("" for none: the others compute in f32), values
/// between ops where a program `rounds` them, and which option would do with
/// less on a CPU; without a line's end.
std::string describeChoice(const spec::ModelSpec &model,
                           llvm::ArrayRef<std::string> programs,
                           llvm::StringRef dots, bool hasCpu,
                           bool roundsValues);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_DESCRIBECHOICE_H
