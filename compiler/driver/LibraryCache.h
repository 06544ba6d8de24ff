// Where `tfc run` keeps the libraries that it compiles.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_LIBRARYCACHE_H
#define TFC_COMPILER_DRIVER_LIBRARYCACHE_H

#include "compiler/driver/Options.h"
#include "compiler/spec/ModelSpec.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tfc {

/// A model's place in the cache: the library, and beside it the spec that it is
/// made of.
struct CachedLibrary {
  std::string spec, library; // paths
  /// Whether the library is there, whole, and runs under this runtime.
  bool isReady = false;
};

/// Finds the place of `model`, compiled as `options` say, in
/// $XDG_CACHE_HOME/tfc or ~/.cache/tfc, which is made where it is missing. The
/// name is a function of the canonical spec, the targets, the options and this
/// very tfc: another build of it compiles anew. The error says what is expected
/// of the folder or the target.
llvm::Expected<CachedLibrary> findCached(const spec::ModelSpec &model,
                                         const CompileOptions &options);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_LIBRARYCACHE_H
