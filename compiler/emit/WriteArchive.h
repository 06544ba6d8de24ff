// Object files -> static archive.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_EMIT_WRITEARCHIVE_H
#define TFC_COMPILER_EMIT_WRITEARCHIVE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tfc {

/// What the names of an archive's members begin with: by that tfc knows its
/// own.
constexpr llvm::StringLiteral kMemberPrefix = "tfc.";

/// An object file and the name of its program.
struct ArchiveMember {
  std::string program;
  llvm::StringRef object;
};

/// Writes a static archive of the members to `output`, with the table of
/// symbols that linkers read. It appears whole or not at all, and its bytes
/// depend on the members only.
llvm::Error writeArchive(llvm::ArrayRef<ArchiveMember> members,
                         llvm::StringRef output);

} // namespace tfc

#endif // TFC_COMPILER_EMIT_WRITEARCHIVE_H
