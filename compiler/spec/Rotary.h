// The numbers of rotary position embeddings, as transformers computes them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_ROTARY_H
#define TFC_COMPILER_SPEC_ROTARY_H

#include "compiler/spec/ModelSpec.h"

namespace tfc::spec {

/// Fills `frequencies` from dim, theta and scaling: in f32, in the order of
/// operations of transformers 5 (one unit in the last place apart, where its
/// powers are not the nearest numbers). Dim is even, theta above 1; all of a
/// scaling's numbers are in the range that the reader checks.
void resolveFrequencies(Rotary &rotary);

/// The factor of cosine and sine that yarn proposes for a stretch by `factor`
/// (Peng et al. 2023, arXiv:2309.00071).
double yarnFactor(double factor, double mscale);

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_ROTARY_H
