// The file of a compiled library, before it is loaded: whole, undamaged, and
// the one that is then loaded.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_LOAD_LIBRARYFILE_H
#define TFC_RUNTIME_SRC_LOAD_LIBRARYFILE_H

#include "runtime/src/files/OpenFile.h"

namespace tfc::rt {

/// Whether the file's bytes have the sum that stands at its end
/// (tfc_library_end_v0), or, without one, whether all parts are there that its
/// header promises. Errors: Incompatible, Io.
Status checkLibraryFile(const OpenFile &file);

/// dlopen of this file, whatever its path leads to by now: the loader takes a
/// library that it has for another one of the same path without looking at it.
/// Null when it cannot; `fault` says why.
void *loadLibrary(const OpenFile &file, std::string &fault);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_LOAD_LIBRARYFILE_H
