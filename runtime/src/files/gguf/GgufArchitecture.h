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
using GgufNames = std::vector<GgufName>;

/// The names of both.
GgufNames operator+(GgufNames all, const GgufNames &more);

/// Two tensors of a layer that are one in the folder: of each expert the rows
/// of both, the first one's in front or in turns; those of a matrix are all of
/// one expert. Without a second one, rows are outputs where the folder has them
/// as columns.
struct GgufJoin {
  const char *first, *second, *to;
  bool inTurns, isMatrix = false;
  /// Of a state's heads of keys what belongs to each: the first one has
  /// queries, keys and values, the second one the gates of these.
  bool isOfStates = false;
};

/// Which layers see all positions, where a file has a window.
enum class GgufWindows {
  None,
  EverySecond, // the second, the fourth, ...
  EveryFourth,
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
  /// As Delta, but heads of values lie as in the folder.
  Grouped,
  /// Mamba-2's, whose vectors have a second axis.
  Mamba
};

struct GgufArchitecture {
  const char *name; // general.architecture
  const char *modelType, *className;
  /// Keys of config.json that all models of it have: a JSON object.
  const char *constants = "{}";
  /// Metadata, without the architecture's name, under keys of config.json; a
  /// slash stands before a key of an object there.
  std::vector<GgufName> keys = {};
  /// Keys of config.json that say whether a layer has such a tensor.
  std::vector<GgufName> flags = {};
  /// Keys of config.json that say how many rows a tensor has.
  std::vector<GgufName> rows = {};
  /// Keys of config.json that the model type has under another name; null: it
  /// has no such key.
  std::vector<GgufName> renames = {};
  /// What the others' tensors begin with, where that is not as LLaMA's is.
  std::vector<GgufName> whole = {};
  /// What a layer's tensors begin with, where that is not as LLaMA's is. With
  /// {e} the tensor is those of all experts, with {h} the vectors of all heads,
  /// one after the other.
  std::vector<GgufName> layers = {};
  /// What names of a layer's tensors begin with, in front of its number.
  const char *layersAre = "model.layers.";
  std::vector<GgufJoin> joins = {};
  /// It is meant only if this number is there, and more than `ifMore`; only if
  /// there is this tensor (of some layer, if it is none of the model's).
  const char *ifThere = nullptr;
  int64_t ifMore = 0;
  const char *ifTensor = nullptr;
  /// Rows of queries and keys are kept in pairs of those that turn together.
  bool turnsNeighbours = false;
  /// The folder has queries, keys and values as one matrix, of each head of
  /// keys what belongs to it; the file has all queries first.
  bool joinsHeads = false;
  /// Up-projections of a latent are apart in the file: those of keys turned, as
  /// products with queries want them, and those of values.
  bool splitsLatents = false;
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
  /// Layers that see all positions have heads of their own width and number,
  /// and a rotation of theirs, of a part of the columns by the whole head's
  /// frequencies.
  bool hasTwoHeads = false;
  /// Scores are scaled by a head's width, or in the model of so many layers by
  /// the hidden one's share of it. 0: config.json has no such key.
  int64_t scaledByShare = 0;
  const char *epsilon = "rms_norm_eps";
};

/// Rows of the table: encoders, and decoders older than LLaMA or not like it.
void addEncoders(std::vector<GgufArchitecture> &rows);
void addOtherDecoders(std::vector<GgufArchitecture> &rows);

/// Whether some layer of the file has a tensor with this part of a name.
bool isInSomeLayer(const GgufFile &file, std::string_view part);

/// That of a file; an error that names those that are read where it is none of
/// them.
Result<const GgufArchitecture *> findArchitecture(const GgufFile &file);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_FILES_GGUF_GGUFARCHITECTURE_H
