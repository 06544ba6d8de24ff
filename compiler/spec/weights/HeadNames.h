// Parameters whose rows are in tensors of their own: those of each head.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_WEIGHTS_HEADNAMES_H
#define TFC_COMPILER_SPEC_WEIGHTS_HEADNAMES_H

#include "compiler/spec/ModelSpec.h"

namespace tfc::spec {

/// Whether {h} is in the parameter's names: each head's rows are stored alone.
bool isStoredByHead(const Parameter &parameter);

/// The rows of `head` of such a parameter, as a parameter.
Parameter rowsOfHead(const Parameter &parameter, int64_t head);

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_WEIGHTS_HEADNAMES_H
