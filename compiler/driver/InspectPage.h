// `tfc inspect --html`: pictures of a model and of a library.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_INSPECTPAGE_H
#define TFC_COMPILER_DRIVER_INSPECTPAGE_H

#include "compiler/spec/ModelSpec.h"
#include "tfc/abi.h"

namespace tfc {

/// A page of HTML with the stacks' layers and where the parameters are.
/// `text`: what tfc inspect prints.
std::string drawSpec(const spec::ModelSpec &model, const std::string &text);

/// A page with the memory of every program's entries, by tokens and positions.
/// `module` has been checked.
std::string drawLibrary(const tfc_module_v0 &module, const std::string &text);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_INSPECTPAGE_H
