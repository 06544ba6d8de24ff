// From a family's table, config.json and tensors to a spec: the class's heads
// and outputs, tokens and generation around what the table's holes become.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_HUGGINGFACE_MAKESPEC_H
#define TFC_COMPILER_HUGGINGFACE_MAKESPEC_H

#include "compiler/huggingface/Family.h"
#include "compiler/spec/family/FamilyTable.h"

namespace tfc::huggingface {

/// The class that a table assumes by the tensors where config.json names none;
/// "" when it knows none of them.
std::string guessClass(const family::Table &table,
                       const rt::TensorFiles &files);

/// The whole spec of a class of the table. Values from config.json have their
/// places in it. Faults go into source.diagnostics.
spec::Json makeSpec(Source &source, const family::Table &table,
                    std::string_view modelType, std::string_view className);

} // namespace tfc::huggingface

#endif // TFC_COMPILER_HUGGINGFACE_MAKESPEC_H
