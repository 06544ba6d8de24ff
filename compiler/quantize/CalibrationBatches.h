// Token ids as batches of a model's entries.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_QUANTIZE_CALIBRATIONBATCHES_H
#define TFC_COMPILER_QUANTIZE_CALIBRATIONBATCHES_H

#include "compiler/verify/RunLibrary.h"

namespace tfc::quantize {

/// What the entries of a model read, in the order of execution, of one text. A
/// decoder behind an encoder reads the text, too, behind its start token.
std::vector<PaddedBatch> batchOf(llvm::ArrayRef<EntryInfo> entries,
                                 llvm::ArrayRef<int64_t> tokens);

/// Texts without a file: of a model that generates, what `library` says after
/// each of some tokens; of others random tokens. Errors: those of the session.
rt::Result<std::vector<std::vector<int64_t>>>
makeTokens(llvm::ArrayRef<EntryInfo> entries, RunningLibrary &library);

} // namespace tfc::quantize

#endif // TFC_COMPILER_QUANTIZE_CALIBRATIONBATCHES_H
