// The outputs of a forward pass, the runtime's beside the interpreter's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_VERIFY_VERIFYOUTPUTS_H
#define TFC_COMPILER_VERIFY_VERIFYOUTPUTS_H

#include "compiler/verify/VerifyBatch.h"
#include "compiler/verify/VerifyTaps.h"
#include "runtime/src/step/Forward.h"

namespace tfc {

/// Values of an entry's outputs under the outputs' names, in its order, and a
/// row for each token that exists (or each sequence, where an output takes one
/// of its rows): those that the runtime gave for `batch`, padded there.
std::vector<CompiledTap> packOutputs(const EntryInfo &info,
                                     const PaddedBatch &batch,
                                     std::vector<rt::OutputTensor> &outputs);

/// The same of those that the interpreter gave for `step`, in which there are
/// rows besides: of masked tokens that an output takes.
std::vector<ReferenceTap> packOutputs(const EntryInfo &info,
                                      const reference::Step &step,
                                      const reference::Outputs &outputs);

/// Decibels that what is expected is above its distance to what was got; minus
/// infinity where they are not of one shape, or one alone is finite.
double signalToNoise(const std::vector<CompiledTap> &got,
                     const std::vector<ReferenceTap> &expected);

} // namespace tfc

#endif // TFC_COMPILER_VERIFY_VERIFYOUTPUTS_H
