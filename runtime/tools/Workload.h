// What tfc-bench runs, as it is written: a kind and the lengths of sequences.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_WORKLOAD_H
#define TFC_RUNTIME_TOOLS_WORKLOAD_H

#include "runtime/src/load/Model.h"

namespace tfc::bench {

/// Encode: a forward pass with all outputs; of an encoder-decoder the
/// encoder's. Prefill: whole prompts, and the logits of their last tokens.
/// Decode: one token a sequence after `lengths` earlier ones; of an
/// encoder-decoder, with a source as long. Generate: whole prompts, which an
/// encoder-decoder encodes, and, step by step, `newTokens` tokens after each.
enum class Kind { Encode, Prefill, Decode, Generate };

struct Workload {
  Kind kind = Kind::Encode;
  std::vector<int64_t> lengths; // by sequence
  int64_t newTokens = 0;        // of Generate, a sequence
  std::string text;             // as it was written
};

/// "encode:1x128", "prefill:512", "decode:4x1024", "encode:12,128,33",
/// "generate:4x128+64".
std::optional<Workload> parseWorkload(const std::string &text);

/// The workloads for a model when the user names none: those that its kind and
/// its positions allow.
std::vector<Workload> defaultWorkloads(const rt::Model &model);

/// Errors: InvalidArgument when an entry of the model cannot run the workload:
/// its kind, its positions.
rt::Status checkWorkload(const rt::Model &model, const tfc_entry_v0 &entry,
                         const Workload &workload);

/// The id of token t in a sequence's prompt, below `limit`: spread over the
/// table, so that look-ups are not all in one place.
inline int64_t promptToken(int64_t t, int64_t sequence, int64_t limit) {
  return (t * 7919 + sequence * 104729 + 13) % limit;
}

} // namespace tfc::bench

#endif // TFC_RUNTIME_TOOLS_WORKLOAD_H
