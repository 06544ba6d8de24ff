// Parameters whose rows are in tensors of their own: those of each head, or
// parts that a spec lists.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_WEIGHTS_STOREDPARTS_H
#define TFC_COMPILER_SPEC_WEIGHTS_STOREDPARTS_H

#include "compiler/spec/ModelSpec.h"

namespace tfc::spec {

/// The rows of such a parameter, one part below the other, each as a parameter;
/// none where one tensor has them all. Parts of zeros have a name, too.
std::vector<Parameter> partsOf(const Parameter &parameter);

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_WEIGHTS_STOREDPARTS_H
