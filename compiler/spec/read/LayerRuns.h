// Which layers are one loop.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_READ_LAYERRUNS_H
#define TFC_COMPILER_SPEC_READ_LAYERRUNS_H

#include "compiler/spec/ModelSpec.h"

namespace tfc::spec {

/// Appends `count` equal layers to the stack, as a run without a prefix.
void appendLayers(Stack &stack, int64_t count,
                  const std::vector<Sublayer> &layer);

/// Appends `count` groups of `inner` layers that share `numShared` sets of
/// weights, 1 to `count`: consecutive groups the same one. Each layer of a
/// group is a run, in turn with the others.
void appendShared(Stack &stack, int64_t count, int64_t numShared, int64_t inner,
                  const std::vector<Sublayer> &layer);

/// Makes runs of what was appended: layers that differ in numbers alone are one
/// where they are neighbours, or in the same place of a period that comes again
/// and again. How they were appended makes no difference, but that those that
/// share their weights are runs of their own. Gives all runs their prefixes.
void joinRuns(Stack &stack);

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_READ_LAYERRUNS_H
