// Object files -> shared library.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_EMIT_LINKLIBRARY_H
#define TFC_COMPILER_EMIT_LINKLIBRARY_H

#include "compiler/target/Machines.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace tfc {

/// lld's names for the linkers of the formats: a program that is all of them
/// goes by what it is called.
inline constexpr char kElfLinker[] = "ld.lld";
inline constexpr char kMachOLinker[] = "ld64.lld";

/// The program that links, before any library is linked; without this, an lld
/// is looked for.
void setLinker(std::string program);

/// Links `objects` into a shared library at `output`, with lld. The library
/// appears whole or not at all, and its bytes depend on the objects only; the
/// last of them are its checksum (tfc_library_end_v0), or in Mach-O the
/// signature of its pages. The error has the linker's command and what it said.
/// `asksHost`: it imports the check of accesses.
llvm::Error linkLibrary(llvm::ArrayRef<llvm::StringRef> objects,
                        llvm::StringRef output, LibraryFormat format,
                        bool asksHost = false);

} // namespace tfc

#endif // TFC_COMPILER_EMIT_LINKLIBRARY_H
