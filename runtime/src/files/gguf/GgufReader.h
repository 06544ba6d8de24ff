// The header of a GGUF file: counts, lengths and offsets are checked against
// the file before anything of them is used.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_FILES_GGUF_GGUFREADER_H
#define TFC_RUNTIME_SRC_FILES_GGUF_GGUFREADER_H

#include "runtime/src/files/gguf/GgufFile.h"

namespace tfc::rt {

class GgufReader {
public:
  explicit GgufReader(GgufFile &file)
      : file(file), begin(static_cast<const uint8_t *>(file.mapped)),
        left(file.mappedBytes) {}
  Status run();

private:
  GgufFile &file;
  const uint8_t *begin;
  uint64_t at = 0, left;

  template <typename... Ts> Error invalid(const Ts &...parts) const {
    return makeError(Code::InvalidArgument, file.filePath, ": ", parts...);
  }
  template <typename T> bool take(T &value);
  bool takeText(std::string_view &text);
  bool skip(uint64_t bytes);
  bool takeValue(GgufValue &value);
  Status readMetadata(uint64_t count);
  Status readTensor(std::vector<uint64_t> &offsets);
  Status placeTensors(const std::vector<uint64_t> &offsets);
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_FILES_GGUF_GGUFREADER_H
