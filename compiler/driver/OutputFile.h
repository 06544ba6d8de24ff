// Where a command may write: not over its inputs, nor over a stranger's file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_OUTPUTFILE_H
#define TFC_COMPILER_DRIVER_OUTPUTFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace tfc {

/// How IR that tfc writes begins: a comment by which it is known again.
inline constexpr llvm::StringLiteral kIrMark = "// tfc: ";

/// Whether the file has nothing in it that only its owner could write again:
/// it is empty, a library of tfc, IR of tfc, or a spec as `tfc import` or
/// `tfc spec` wrote it.
bool isMadeByTfc(const std::string &path);

/// Whether `path` can be written, asked before the work. It is an error, also
/// with `force`, when it is one of `inputs` (by any name or link), a folder,
/// device or pipe, or in a folder that cannot be written; without `force` also
/// when it exists and isMadeByTfc says no. Outputs are written beside their
/// place and renamed there, so a link is replaced and not followed. Returns an
/// ExitCode; messages go to `errors`.
int checkOutput(const std::string &path, llvm::ArrayRef<std::string> inputs,
                bool force, llvm::raw_ostream &errors);

/// The same for text, which may also go to "-" (standard output) and
/// /dev/null.
int checkTextOutput(const std::string &path, llvm::ArrayRef<std::string> inputs,
                    bool force, llvm::raw_ostream &errors);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_OUTPUTFILE_H
