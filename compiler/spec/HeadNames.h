// Parameters whose rows are tensors of their own: a weight of each head.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_HEADNAMES_H
#define TFC_COMPILER_SPEC_HEADNAMES_H

#include "compiler/spec/ModelSpec.h"

namespace tfc::spec {

/// Whether {h} is in the parameter's names: each of its rows is stored alone.
bool isStoredByHead(const Parameter &parameter);

/// Row `head` of such a parameter, as a parameter of one row.
Parameter rowOfHead(const Parameter &parameter, int64_t head);

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_HEADNAMES_H
