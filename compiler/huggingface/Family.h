// What making the spec of a folder needs beside the family's table: tied heads,
// token ids, settings of generation.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_HUGGINGFACE_FAMILY_H
#define TFC_COMPILER_HUGGINGFACE_FAMILY_H

#include "compiler/spec/family/Config.h"
#include "runtime/src/files/Safetensors.h"

#include <optional>

namespace tfc::huggingface {

using family::Config;
struct SentenceHead;

/// What an import reads. All of it outlives the import.
struct Source {
  Config &config;
  /// The object behind `config`.
  const spec::Json &configFile;
  /// generation_config.json; null when there is none.
  const spec::Json *generation;
  const rt::TensorFiles &files;
  spec::Diagnostics &diagnostics;
  /// Unknown keys are errors.
  bool strict = false;
  /// From the rows of the last layer to a sentence's vector; null when the
  /// model is no sentence encoder.
  const SentenceHead *sentence = nullptr;
  /// Set by a family: the tokens of its decoder see those after them as well.
  bool bothSides = false;
};

/// Whether some tensor's name ends with `suffix`, as a whole word between dots.
bool storesTensor(const rt::TensorFiles &files, std::string_view suffix);

/// Whether `head` is stored and has other values than the token table. `table`
/// is a suffix of the table's name.
bool storesOther(Source &source, std::string_view head, std::string_view table);

/// An error when some of these tensors are stored and differ: the model reads
/// only the first of them. Suffixes of names.
void checkCopies(Source &source, const std::vector<std::string> &names);

/// A language model's output projection. `tensor` is where its weights are if
/// they are stored, `table` a suffix of the token table's name, `tied` that
/// table's parameter.
struct Projection {
  std::string step, tensor, table, tied;
  bool tiedByDefault = true;
  /// One that is not stored is tied, whatever the config says.
  bool tiedUnlessStored = false;
};

/// Its step "logits", tied or `vocab` wide. The tensors decide: a stored one
/// that differs from the token table is not tied to it, whatever the config
/// says. One that is not stored is tied if tie_word_embeddings says so
/// (`tiedByDefault` where that is missing), and an error otherwise.
spec::Json makeLogits(Source &source, const Projection &projection,
                      int64_t vocab);

/// Ids that a class has where its config.json names none.
struct TokenDefaults {
  std::vector<int64_t> pad, bos, eos, decoderStart;
  /// What files say of eos by mistake where they mean the greatest id, which is
  /// how CLIP's classes read it; none when empty.
  std::vector<int64_t> mistakenEos = {};
};

/// The spec's "tokens": pad, bos, eos and decoder_start. For a class that
/// generates, generation_config.json decides when it exists, as in
/// transformers. Ids that are not below `vocab` are left out: no token has
/// them.
spec::Json readTokens(Source &source, int64_t vocab, bool generates,
                      const TokenDefaults &defaults);

/// What a config.json without generation_config.json means where it says
/// nothing: ids that generation forces (-1: none), and other settings, by their
/// keys.
struct GenerationDefaults {
  int64_t bos = -1, eos = -1;
  spec::Json settings = spec::Json::object();
};

/// The spec's "generation" of a class that generates, as far as it differs from
/// the spec's own defaults: from generation_config.json, or from the settings
/// that transformers 4 kept in config.json where there is none. One warning for
/// settings that tfc-run does not have.
spec::Json readGeneration(Source &source, std::string_view head, int64_t vocab,
                          const GenerationDefaults &defaults);

/// Writes "tokens" and, of a language model with the head "lm", "generation"
/// of a spec with an encoder and a decoder. Generation begins with bos where
/// nothing else is said; without either there is none.
void addTokens(Source &source, int64_t vocab, bool generates,
               const TokenDefaults &tokens,
               const GenerationDefaults &generation, spec::Json &made);

/// Whether tokens see only those before them, as `sides`, which a table has as
/// "both_sides", tells: its key has its value, or, where it is true,
/// "is_causal" says so (by default true; null counts as false, as it does for
/// transformers). An error when they see all in a class that generates.
bool readCausal(Source &source, const spec::Json &sides, bool generates);

/// Whether `sides` has a key without a value, which is true: tokens see both
/// sides with it, and windows reach half as far. An error where that is in a
/// class that generates.
bool readBothSides(Source &source, const spec::Json &sides, bool generates);

/// Turns the whole spec of a decoder into that of an encoder with the same
/// layers, heads and tensors, which see both sides, or the other way round,
/// unless it is one already.
void setCausal(spec::Json &spec, bool isCausal);

/// An object from key-value pairs.
spec::Json makeObject(std::vector<std::pair<std::string_view, spec::Json>>);

} // namespace tfc::huggingface

#endif // TFC_COMPILER_HUGGINGFACE_FAMILY_H
