// The JSON header of a safetensors file, as its text says it: grammar, types
// and number ranges are checked, sizes and offsets are not yet.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_FILES_SAFETENSORSHEADER_H
#define TFC_RUNTIME_SRC_FILES_SAFETENSORSHEADER_H

#include "runtime/src/files/Safetensors.h"

namespace tfc::rt {

struct HeaderEntry {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape; // at most maxAxes, each at least 0
  uint64_t begin = 0, end = 0;
};

struct Header {
  std::vector<HeaderEntry> entries; // in the file's order
  std::map<std::string, std::string> metadata;
};

/// Errors do not name the file.
Result<Header> readHeader(const char *text, uint64_t length);

/// Whether the tensors' shapes fit their regions and the regions tile the data:
/// sorted, each begins where the one before ends, and the last one ends where
/// the file does. `path` is the file's, for the error: InvalidArgument.
Status checkRegions(const std::string &path, const Header &header,
                    uint64_t dataBytes);

/// The weight_map of a model.safetensors.index.json: tensor name to file name,
/// as the file says it. Errors do not name the file.
Result<std::map<std::string, std::string>> readIndex(const char *text,
                                                     uint64_t length);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_FILES_SAFETENSORSHEADER_H
