// The caller's input tensors, checked against the ports of a model's entries.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_STEP_INPUTS_H
#define TFC_RUNTIME_SRC_STEP_INPUTS_H

#include "runtime/src/load/Model.h"

namespace tfc::rt {

constexpr const char *decoderMaskName = "decoder_attention_mask";

/// A padded batch [batch, length] of an entry's inputs as the caller gave it.
struct InputBatch {
  int64_t batch = 0, length = 0;            // 0: nothing given
  std::vector<std::vector<int32_t>> values; // by port; empty: not given
  /// Of the port of embeddings: the caller's rows, [batch, length without those
  /// that have ids, width].
  const float *given = nullptr;
  int64_t numGiven = 0;
  std::vector<uint8_t> mask; // empty: every token exists

  bool exists(int64_t row, int64_t column) const {
    return mask.empty() || mask[row * length + column];
  }
  /// By row, masked columns from `first` on that run all the same: they see the
  /// row's tokens, are seen by none, and have rows of the outputs of tokens.
  struct Unseen {
    int64_t first = 0, count = 0;
  };
  std::vector<Unseen> unseen; // empty: none
  const char *maskName = "attention_mask";
  /// How many tokens before one are unmasked; -1 at a masked token. Empty
  /// unless a port is filled by it (TFC_FILL_FROM_MASK).
  std::vector<int32_t> unmaskedBefore;
  int32_t pad = -1; // the model's pad token
  /// What a forward pass gives a port that fills by position.
  int64_t positionOf(const tfc_port_v0 &port, int64_t row,
                     int64_t column) const {
    return port.fill == TFC_FILL_FROM_MASK && !unmaskedBefore.empty()
               ? unmaskedBefore[row * length + column]
               : column;
  }
  /// The value of a token, as given or as the port's fill says.
  int32_t value(const tfc_port_v0 &port, uint32_t index, int64_t row,
                int64_t column, int64_t position) const;
};

/// The inputs of both entries; that of one which the model has not is empty.
struct ModelInputs {
  InputBatch encoder, decoder;
};

/// Whether a port counts positions, also those of what is generated.
inline bool fillsByPosition(const tfc_port_v0 &port) {
  return port.fill == TFC_FILL_POSITION || port.fill == TFC_FILL_FROM_MASK;
}

/// Index of the input port that takes token ids, or -1.
int64_t tokenPort(const tfc_entry_v0 &entry);

/// Columns of each row in front of those whose rows the caller gives; 0 where
/// the entry takes ids.
int64_t countLeading(const tfc_entry_v0 &entry);

/// Whether an entry's tokens have rows that the caller gives.
bool hasGiven(const tfc_entry_v0 &entry);

/// Checks names, dtypes, shapes and values of all inputs; reports every fault.
/// An encoder-decoder's decoder may have got none: its batch is then empty;
/// otherwise it has as many rows as the encoder's. Does not look for rows
/// without a token.
Result<ModelInputs> readInputs(const Model &model, const tfc_tensor *inputs,
                               uint32_t numInputs);

/// Errors for every row in which no token exists or is seen, or, where an entry
/// counts distances, in which a masked token lies between others.
Status checkRows(const tfc_entry_v0 &entry, const InputBatch &batch);

/// The longest row that an entry takes, `batch` being what is given; 0: no
/// limit. `maxPositions` as in tfc_module_v0.
int64_t lengthLimit(const tfc_entry_v0 &entry, int64_t maxPositions,
                    const InputBatch &batch);

/// In a forward pass of an encoder-decoder: the decoder's inputs when none are
/// given. Errors: InvalidArgument when its ports need some.
Result<InputBatch> shiftInputs(const Model &model, const InputBatch &encoder);

/// When an encoder-decoder generates: the decoder's inputs, which begin with
/// decoder_start as Hugging Face's generate has it: alone when none are given,
/// before them when no row begins with it and the encoder reads tokens. Errors:
/// InvalidArgument when the model has no such token.
Status startDecoder(const Model &model, ModelInputs &inputs);

/// Tokens that can come are below `vocabulary`; `name` is what they are for.
/// Errors: InvalidArgument, a line each.
Status checkTokenIds(const char *name, const std::vector<int64_t> &tokens,
                     int64_t vocabulary);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_STEP_INPUTS_H
