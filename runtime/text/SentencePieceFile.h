// A model of sentencepiece as its file has it: as much of the protobuf (its
// sentencepiece_model.proto) as a tokenizer needs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_SENTENCEPIECEFILE_H
#define TFC_RUNTIME_TEXT_SENTENCEPIECEFILE_H

#include "runtime/src/Error.h"

namespace tfc::text {

struct SentencePieceFile {
  /// The numbers are the file's.
  enum class PieceKind {
    Normal = 1,
    Unknown = 2,
    Control = 3,
    UserDefined = 4,
    Unused = 5,
    Byte = 6
  };
  struct Piece {
    std::string text; // UTF-8, not empty
    float score = 0;  // finite
    PieceKind kind = PieceKind::Normal;
  };
  enum class Model { Unigram = 1, Bpe = 2, Word = 3, Char = 4 };

  std::vector<Piece> pieces; // by id; at least one
  Model model = Model::Unigram;
  int64_t unknown = 0; // an id of pieces
  bool fallsBackToBytes = false;
  std::string charsMap; // as CharsMap reads it; empty: none
  bool addsPrefix = true, removesSpaces = true;
};

/// Reads the bytes of a file. Errors: InvalidArgument (no such file, with the
/// byte where it ends to be one), Unsupported (spaces that are kept, or stand
/// behind words).
rt::Result<SentencePieceFile> readSentencePiece(std::string_view bytes);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_SENTENCEPIECEFILE_H
