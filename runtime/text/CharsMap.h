// The map of characters that sentencepiece puts into its models: a double array
// of pieces of text, and what each becomes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_CHARSMAP_H
#define TFC_RUNTIME_TEXT_CHARSMAP_H

#include "runtime/src/Error.h"
#include "runtime/text/TracedText.h"

namespace tfc::text {

class CharsMap {
public:
  /// The map as it is in a file: the size of the array, the array, the texts.
  /// Errors: InvalidArgument.
  static rt::Result<CharsMap> read(std::string_view bytes);

  /// Changes a text as `tokenizers` does: by clusters of less than six bytes,
  /// and otherwise by characters. A cluster becomes what its shortest beginning
  /// in the map becomes. Errors: Exhausted, when the text grows beyond what is
  /// sensible.
  rt::Status apply(TracedText &text) const;
  /// Changes a text as sentencepiece does: the longest that is in the map, from
  /// every place on. The same errors.
  rt::Status applyLongest(TracedText &text) const;

private:
  /// How many characters the longest beginning of `text` in the map has, 0
  /// without one, and what it becomes.
  size_t findLongest(std::u32string_view text, std::u32string &to) const;
  std::u32string textAt(size_t unit) const;
  /// What the shortest beginning of `text` that is in the map becomes.
  bool find(std::u32string_view text, std::u32string &to) const;

  std::vector<uint32_t> units;
  std::string texts; // each ends with a null byte
};

/// Bytes in base64, as a tokenizer.json has a map.
std::string encodeBase64(std::string_view bytes);

/// The bytes that base64 stands for. Errors: InvalidArgument.
rt::Result<std::string> decodeBase64(std::string_view text);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_CHARSMAP_H
