// From a spec as it is written to one tree: extends and $def resolved, every
// value still knowing where the user wrote it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_READ_EXPANDSPEC_H
#define TFC_COMPILER_SPEC_READ_EXPANDSPEC_H

#include "compiler/spec/JsonTree.h"

namespace tfc::spec {

/// The largest file that is read as a spec.
constexpr size_t maxSpecBytes = size_t(16) << 20;

/// Applies a merge patch (RFC 7386) to `target`: null deletes, objects merge,
/// all else replaces. What the patch says has the patch's places.
void mergePatch(Json &target, const Json &patch);

/// Resolves extends and $def of a parsed spec; both keys, and "defs", are gone
/// from the result. Relative paths start at `baseDir` and lead to places in it
/// or below. Values from a preset get the place of the nearest object that the
/// user wrote, or of `extends`. The files that it reads are appended to
/// `files`. Errors 5 and 6; null then.
std::optional<Json> expandSpec(Json spec, const std::string &baseDir,
                               Diagnostics &diagnostics,
                               std::vector<std::string> &files);

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_READ_EXPANDSPEC_H
