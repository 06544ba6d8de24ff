// The table of a program's entries: ports, cache, functions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_EMIT_WRITEENTRIES_H
#define TFC_COMPILER_EMIT_WRITEENTRIES_H

#include "compiler/emit/Tables.h"

namespace tfc {

/// tfc_entry_v0[]: the functions of `module` with the attribute
/// `transformer.inputs`, `count` of them. Fails, with a diagnostic, when one
/// lacks its output ports or its size of the workspace.
mlir::FailureOr<Field> writeEntries(mlir::ModuleOp module, Tables &tables,
                                    unsigned &count);

} // namespace tfc

#endif // TFC_COMPILER_EMIT_WRITEENTRIES_H
