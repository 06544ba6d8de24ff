// Decoders of tokens that are bytes: a character is shown when all of its bytes
// have come.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/ByteLevel.h"
#include "runtime/text/MadeDecoder.h"
#include "runtime/text/Utf8.h"

namespace tfc::text {

namespace {

/// All tokens become one text; one with a character that is no byte is text
/// already.
class ByteLevelStage : public TokenStage {
public:
  void finish(const TextSink &out) override { give(/*isWhole=*/true, out); }

private:
  void take(std::string token, const TextSink &out) override {
    size_t before = bytes.size();
    for (char32_t c : decodeChecked(token)) {
      int byte = byteOfCharacter(c);
      if (byte < 0) {
        bytes.resize(before);
        bytes += token;
        break;
      }
      bytes += static_cast<char>(byte);
    }
    give(/*isWhole=*/false, out);
  }

  void give(bool isWhole, const TextSink &out) {
    std::string text;
    bytes.erase(0, appendLossy(bytes, isWhole, text));
    out({std::move(text), isFirst, isWhole});
    isFirst = false;
  }

  std::string bytes; // of a character that is not whole
  bool isFirst = true;
};

/// The byte of "<0x41>", or -1. A plus before one digit is what `tokenizers`
/// takes too.
int byteOfToken(const std::string &token) {
  if (token.size() != 6 || token.compare(0, 3, "<0x") != 0 || token[5] != '>') {
    return -1;
  }
  auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  int high = token[3] == '+' ? 0 : digit(token[3]), low = digit(token[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/// Bytes that follow each other are a text together, or if they are none each
/// is U+FFFD.
class ByteFallbackStage : public TokenStage {
public:
  explicit ByteFallbackStage(bool isWhole) : isWhole(isWhole) {}

  void finish(const TextSink &out) override { give(out); }

private:
  void take(std::string token, const TextSink &out) override {
    int byte = byteOfToken(token);
    if (byte < 0) {
      give(out);
      out({std::move(token)});
      return;
    }
    bytes += static_cast<char>(byte);
    if (!isWhole) {
      giveWhole(out);
    }
  }

  /// What is text by itself need not wait for the next token, nor what no byte
  /// can make text any more.
  void giveWhole(const TextSink &out) {
    std::string text;
    bool isPart = appendLossy(bytes, /*isWhole=*/false, text) == 0;
    isBroken |= !isPart && text != bytes;
    if (isBroken) {
      replaceEach(out);
    } else if (!isPart) {
      out({std::move(bytes)});
      bytes.clear();
    }
  }

  void give(const TextSink &out) {
    if (isBroken || !decodeUtf8(bytes)) {
      replaceEach(out);
    } else if (!bytes.empty()) {
      out({std::move(bytes)});
    }
    bytes.clear();
    isBroken = false;
  }

  void replaceEach(const TextSink &out) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      out({"\xef\xbf\xbd"});
    }
    bytes.clear();
  }

  bool isWhole;
  bool isBroken = false; // a byte of those side by side is wrong
  std::string bytes;     // not given yet
};

} // namespace

DecoderPtr makeByteLevelDecoder() {
  return makeDecoder([](bool) { return std::make_unique<ByteLevelStage>(); });
}

DecoderPtr makeByteFallbackDecoder() {
  return makeDecoder([](bool isWhole) {
    return std::make_unique<ByteFallbackStage>(isWhole);
  });
}

} // namespace tfc::text
