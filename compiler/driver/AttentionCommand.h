// `tfc attention`: where a model looks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_ATTENTIONCOMMAND_H
#define TFC_COMPILER_DRIVER_ATTENTIONCOMMAND_H

#include "compiler/verify/Attentions.h"

namespace tfc {

/// `tfc attention SPEC --weights DIR --inputs FILE -o FILE`: writes the
/// probabilities of all attentions (writeAttentions). Returns an ExitCode. What
/// may be written over, also with `force`: checkOutput.
int runAttention(const std::string &path, const AttentionFiles &files,
                 bool force);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_ATTENTIONCOMMAND_H
