// Writes safetensors files.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/Safetensors.h"

#include "runtime/src/files/FileBeside.h"

#include <nlohmann/json.hpp>

namespace tfc::rt {

namespace {

uint64_t byteCount(const TensorToWrite &tensor) {
  uint64_t bytes = dtypeBits(tensor.dtype) / 8;
  for (int64_t axis : tensor.shape) {
    bytes *= static_cast<uint64_t>(axis);
  }
  return bytes;
}

std::string headerOf(const std::vector<TensorToWrite> &tensors,
                     const std::map<std::string, std::string> &metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) {
    header["__metadata__"] = metadata;
  }
  uint64_t offset = 0;
  for (const TensorToWrite &tensor : tensors) {
    uint64_t end = offset + byteCount(tensor);
    header[tensor.name] = {{"dtype", dtypeName(tensor.dtype)},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text =
      header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  // The data begins aligned.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

} // namespace

Status writeSafetensors(const std::string &path,
                        const std::vector<TensorToWrite> &tensors,
                        const std::map<std::string, std::string> &metadata) {
  Result<std::string> target = replaceableFile(path);
  if (!target) {
    return std::move(target.error());
  }
  std::string header = headerOf(tensors, metadata);
  char length[8];
  for (int i = 0; i < 8; ++i) {
    length[i] = static_cast<char>(header.size() >> (8 * i) & 255);
  }
  FileBeside file(*target);
  file.write(length, sizeof(length));
  file.write(header.data(), header.size());
  for (const TensorToWrite &tensor : tensors) {
    file.write(tensor.data, byteCount(tensor));
  }
  return file.commit();
}

} // namespace tfc::rt
