// The table of a program's entries: ports, cache, functions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_EMIT_WRITEENTRIES_H
#define TFC_COMPILER_EMIT_WRITEENTRIES_H

#include "compiler/emit/Tables.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace tfc {

/// tfc_entry_v0[]: the functions of `module` with the attribute
/// `transformer.inputs`, `count` of them. Fails, with a diagnostic, when one
/// lacks its output ports or its size of the workspace.
mlir::FailureOr<Field> writeEntries(mlir::ModuleOp module, Tables &tables,
                                    unsigned &count);

/// A value of a dictionary of the IR; 0 or "" when there is none.
int64_t integer(mlir::DictionaryAttr dictionary, llvm::StringRef name);
llvm::StringRef text(mlir::DictionaryAttr dictionary, llvm::StringRef name);

} // namespace tfc

#endif // TFC_COMPILER_EMIT_WRITEENTRIES_H
