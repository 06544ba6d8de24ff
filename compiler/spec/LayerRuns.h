// Which layers are one loop.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_LAYERRUNS_H
#define TFC_COMPILER_SPEC_LAYERRUNS_H

#include "compiler/spec/ModelSpec.h"

namespace tfc::spec {

/// Appends `count` layers to the stack: to its last run where they differ from
/// it in numbers alone, else as a new run, without a prefix.
void appendLayers(Stack &stack, int64_t count, std::vector<Sublayer> layer);

/// Appends a run of `count` layers that share `numShared` sets of weights, 1 to
/// `count`: consecutive layers the same one.
void appendShared(Stack &stack, int64_t count, int64_t numShared,
                  std::vector<Sublayer> layer);

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_LAYERRUNS_H
