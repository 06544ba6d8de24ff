// llama.cpp's architectures in Hugging Face's words: a row each.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_FILES_GGUF_GGUFARCHITECTURE_H
#define TFC_RUNTIME_SRC_FILES_GGUF_GGUFARCHITECTURE_H

#include "runtime/src/files/gguf/GgufFile.h"

namespace tfc::rt {

/// What llama.cpp calls something, and what Hugging Face does.
struct GgufName {
  const char *from, *to;
};

/// Two tensors of a layer that are one in the folder: of each expert the rows
/// of both, the first one's in front or in turns; those of a matrix are all of
/// one expert. Without a second one, rows are outputs where the folder has them
/// as columns.
struct GgufJoin {
  const char *first, *second, *to;
  bool inTurns, isMatrix = false;
};

/// Which layers see all positions, where a file has a window.
enum class GgufWindows {
  None,
  EverySecond, // the second, the fourth, ...
  EverySixth,
  ByPattern // attention.sliding_window_pattern: those without
};

/// What layers without keys and values keep, where the file says it.
enum class GgufStates {
  None,
  /// Heads of values lie otherwise, see GgufOrder::Heads; layers that have a
  /// state are those that attention.recurrent_layers names, or all but the last
  /// of each full_attention_interval.
  Delta,
  /// Mamba-2's, whose vectors have a second axis.
  Mamba
};

struct GgufArchitecture {
  const char *name; // general.architecture
  const char *modelType, *className;
  /// Keys of config.json that all models of it have: a JSON object.
  const char *constants = "{}";
  /// Metadata, without the architecture's name, under keys of config.json.
  std::vector<GgufName> keys = {};
  /// Keys of config.json that say whether a layer has such a tensor.
  std::vector<GgufName> flags = {};
  /// What the others' tensors begin with, where that is not as LLaMA's is.
  std::vector<GgufName> whole = {};
  /// What a layer's tensors begin with, where that is not as LLaMA's is. With
  /// {e} the tensor is those of all experts, one after the other.
  std::vector<GgufName> layers = {};
  std::vector<GgufJoin> joins = {};
  /// It is meant only if this number is there, and not 0.
  const char *ifThere = nullptr;
  /// Rows of queries and keys are kept in pairs of those that turn together.
  bool turnsNeighbours = false;
  GgufStates states = GgufStates::None;
  /// The key of config.json that says how wide a state's heads of values are.
  const char *valueWidth = nullptr;
  /// The key that says what each layer is, and the words for those without keys
  /// (none where it is said of no layer) and for those that are a feed-forward
  /// part alone.
  const char *kinds = "layer_types", *stateKind = "conv", *aloneKind = nullptr;
  /// Weights of norms are kept with 1 added.
  bool addsOneToNorms = false;
  /// Whether positions turn queries and keys: always, never, or where
  /// rope.scaling.finetuned says so, which is a key of config.json then.
  enum { Turned, NotTurned, TurnedIfSaid } positions = Turned;
  GgufWindows windows = GgufWindows::None;
  /// Scores are scaled by a head's width, or in the model of so many layers by
  /// the hidden one's share of it. 0: config.json has no such key.
  int64_t scaledByShare = 0;
  const char *epsilon = "rms_norm_eps";
};

/// That of a file; an error that names those that are read where it is none of
/// them.
Result<const GgufArchitecture *> findArchitecture(const GgufFile &file);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_FILES_GGUF_GGUFARCHITECTURE_H
