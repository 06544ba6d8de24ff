// Object files -> shared library.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_EMIT_LINKLIBRARY_H
#define TFC_COMPILER_EMIT_LINKLIBRARY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace tfc {

/// The program that links, and the name it is called by, before any library is
/// linked; without this, an ld.lld is looked for.
void setLinker(std::string program, std::string name);

/// Links `objects` into a shared library at `output`, with lld. The library
/// appears whole or not at all, and its bytes depend on the objects only; the
/// last of them are its checksum (tfc_library_end_v0). The error has the
/// linker's command and what it said. `asksHost`: it imports the check of
/// accesses.
llvm::Error linkLibrary(llvm::ArrayRef<llvm::StringRef> objects,
                        llvm::StringRef output, bool asksHost = false);

} // namespace tfc

#endif // TFC_COMPILER_EMIT_LINKLIBRARY_H
