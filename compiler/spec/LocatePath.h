// Where in a spec an op's path is written: the way back from IR, whose
// locations are such paths.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_LOCATEPATH_H
#define TFC_COMPILER_SPEC_LOCATEPATH_H

#include "compiler/spec/JsonTree.h"

namespace tfc::spec {

/// The innermost value of `spec`, in which extends and $def are replaced, that
/// says something of the op or parameter called `path`:
/// "decoder.layers.4-7.attn.q" is /decoder/layers/block/attn, a step of a head
/// is the item of its name, a norm that a sublayer does not say is its block's.
/// Works on the spec of a family's table, too. Null where not even the first
/// word of `path` is there. Owned by `spec`.
const Json *locatePath(const Json &spec, std::string_view path);

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_LOCATEPATH_H
