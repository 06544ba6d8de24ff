// Reads protobuf's wire format: fields of a number and a kind, one after the
// other. What is not known is passed over, as the format wants it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/SentencePieceFile.h"

#include "runtime/text/TokenModel.h"
#include "runtime/text/Utf8.h"

#include <cmath>
#include <cstring>

namespace tfc::text {

namespace {

// Far beyond any piece; merges are looked for at all places of one.
constexpr size_t longestPiece = 512;

struct Fault {
  rt::Error error;
};

template <typename... Ts>
[[noreturn]] void fail(rt::Code code, const Ts &...parts) {
  throw Fault{rt::makeError(code, parts...)};
}

/// A field: a number, or the bytes of a text or a message.
struct Field {
  uint64_t number = 0;
  bool isBytes = false;
  uint64_t value = 0; // of a number; bits of a float
  std::string_view bytes;
};

/// Goes through the fields of a message.
class Message {
public:
  /// `offset`: where it begins in the file, for errors.
  Message(std::string_view bytes, size_t offset)
      : bytes(bytes), offset(offset) {}

  bool isAtEnd() const { return at == bytes.size(); }

  Field next() {
    uint64_t tag = varint();
    Field field;
    field.number = tag >> 3;
    switch (tag & 7) {
    case 0:
      field.value = varint();
      return field;
    case 1:
      field.value = fixed(8);
      return field;
    case 2:
      field.isBytes = true;
      field.bytes = take(varint());
      return field;
    case 5:
      field.value = fixed(4);
      return field;
    default:
      fault("a field of a known kind");
    }
  }

  /// The message that a field is; it must be the one that next() gave last.
  Message inner(const Field &field) const {
    if (!field.isBytes) {
      fault("a message");
    }
    return {field.bytes, offset + at - field.bytes.size()};
  }

  std::string text(const Field &field) const {
    if (!field.isBytes) {
      fault("a text");
    }
    return std::string(field.bytes);
  }

  uint64_t number(const Field &field) const {
    if (field.isBytes) {
      fault("a number");
    }
    return field.value;
  }

  [[noreturn]] void fault(const char *wanted) const {
    fail(rt::Code::InvalidArgument, "expected a model of sentencepiece, got ",
         "another file (", wanted, " is missing before byte ", offset + at,
         ")");
  }

private:
  std::string_view take(uint64_t count) {
    if (count > bytes.size() - at) {
      fault("the rest of a field");
    }
    at += count;
    return bytes.substr(at - count, count);
  }

  uint64_t fixed(size_t size) {
    uint64_t value = 0;
    std::memcpy(&value, take(size).data(), size);
    return value;
  }

  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80) {
        return value;
      }
    }
    fault("the end of a number");
  }

  std::string_view bytes;
  size_t offset, at = 0;
};

SentencePieceFile::Piece readPiece(Message message, size_t id) {
  SentencePieceFile::Piece piece;
  while (!message.isAtEnd()) {
    Field field = message.next();
    if (field.number == 1) {
      piece.text = message.text(field);
    } else if (field.number == 2) {
      auto bits = static_cast<uint32_t>(message.number(field));
      std::memcpy(&piece.score, &bits, sizeof(bits));
    } else if (field.number == 3) {
      uint64_t kind = message.number(field);
      if (kind < 1 || kind > 6) {
        fail(rt::Code::Unsupported, "piece ", id,
             ": expected a kind from 1 to 6, got ", kind);
      }
      piece.kind = static_cast<SentencePieceFile::PieceKind>(kind);
    }
  }
  if (piece.text.empty() || piece.text.size() > longestPiece ||
      !decodeUtf8(piece.text) || !std::isfinite(piece.score)) {
    fail(rt::Code::InvalidArgument, "piece ", id, ": expected a text of 1 to ",
         longestPiece, " bytes in UTF-8 and a finite score, got something ",
         "else");
  }
  return piece;
}

void readTraining(Message message, SentencePieceFile &file) {
  while (!message.isAtEnd()) {
    Field field = message.next();
    if (field.number == 3) {
      uint64_t model = message.number(field);
      if (model < 1 || model > 4) {
        fail(rt::Code::Unsupported, "expected a model type from 1 to 4, got ",
             model);
      }
      file.model = static_cast<SentencePieceFile::Model>(model);
    } else if (field.number == 24 && message.number(field) != 0) {
      fail(rt::Code::Unsupported, "expected spaces before words, got ",
           "treat_whitespace_as_suffix");
    } else if (field.number == 35) {
      file.fallsBackToBytes = message.number(field) != 0;
    } else if (field.number == 40) {
      file.unknown = static_cast<int64_t>(message.number(field));
    }
  }
}

void readNormalizing(Message message, SentencePieceFile &file) {
  while (!message.isAtEnd()) {
    Field field = message.next();
    if (field.number == 2) {
      file.charsMap = message.text(field);
    } else if (field.number == 3) {
      file.addsPrefix = message.number(field) != 0;
    } else if (field.number == 4) {
      file.removesSpaces = message.number(field) != 0;
    } else if (field.number == 5 && message.number(field) == 0) {
      fail(rt::Code::Unsupported, "expected spaces as U+2581, got ",
           "escape_whitespaces false");
    }
  }
}

SentencePieceFile readAll(std::string_view bytes) {
  SentencePieceFile file;
  Message message(bytes, 0);
  while (!message.isAtEnd()) {
    Field field = message.next();
    if (field.number == 1) {
      if (file.pieces.size() >= maxTokens) {
        fail(rt::Code::InvalidArgument, "expected at most ", maxTokens,
             " pieces, got more");
      }
      file.pieces.push_back(
          readPiece(message.inner(field), file.pieces.size()));
    } else if (field.number == 2) {
      readTraining(message.inner(field), file);
    } else if (field.number == 3) {
      readNormalizing(message.inner(field), file);
    }
  }
  if (file.pieces.empty()) {
    message.fault("a piece");
  }
  if (file.unknown < 0 ||
      uint64_t(file.unknown) >= uint64_t(file.pieces.size())) {
    fail(rt::Code::InvalidArgument, "expected an unknown piece below ",
         file.pieces.size(), ", got ", file.unknown);
  }
  return file;
}

} // namespace

rt::Result<SentencePieceFile> readSentencePiece(std::string_view bytes) {
  try {
    return readAll(bytes);
  } catch (const Fault &fault) {
    return fault.error;
  }
}

} // namespace tfc::text
