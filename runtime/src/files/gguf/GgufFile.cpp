// Opens a GGUF file, and answers what its metadata says.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/gguf/GgufFile.h"

#include "runtime/src/files/OpenFile.h"
#include "runtime/src/files/gguf/GgufReader.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <sys/mman.h>

namespace tfc::rt {

Result<std::shared_ptr<GgufFile>> GgufFile::openOne(const std::string &path) {
  Result<OpenFile> opened = OpenFile::open(path);
  if (!opened) {
    return std::move(opened.error());
  }
  std::shared_ptr<GgufFile> file(new GgufFile);
  file->filePath = path;
  if (!opened->isRegular() || opened->size() == 0) {
    return makeError(Code::InvalidArgument, path, ": expected a GGUF file");
  }
  void *address = mmap(nullptr, opened->size(), PROT_READ, MAP_PRIVATE,
                       opened->number(), 0);
  if (address == MAP_FAILED) {
    return makeError(Code::Exhausted, path,
                     ": cannot be mapped: ", std::strerror(errno));
  }
  file->mapped = address;
  file->mappedBytes = opened->size();
  Status status = GgufReader(*file).run();
  if (!status) {
    return std::move(status.error());
  }
  return file;
}

GgufFile::~GgufFile() {
  if (mapped) {
    munmap(mapped, mappedBytes);
  }
}

const GgufTensor *GgufFile::find(std::string_view name) const {
  auto found = std::find_if(list.begin(), list.end(), [&](const GgufTensor &t) {
    return t.name == name;
  });
  return found == list.end() ? nullptr : &*found;
}

namespace {

template <typename T> T valueAt(const uint8_t *data, uint64_t index) {
  T value;
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}

/// A number of any kind. 64 bits beyond 2^53 lose digits, which no key has.
std::optional<double> numberAt(const GgufValue &value, uint64_t index) {
  const uint8_t *data = value.data;
  switch (value.kind) {
  case GgufKind::U8:
    return valueAt<uint8_t>(data, index);
  case GgufKind::I8:
    return valueAt<int8_t>(data, index);
  case GgufKind::U16:
    return valueAt<uint16_t>(data, index);
  case GgufKind::I16:
    return valueAt<int16_t>(data, index);
  case GgufKind::U32:
    return valueAt<uint32_t>(data, index);
  case GgufKind::I32:
    return valueAt<int32_t>(data, index);
  case GgufKind::F32:
    return valueAt<float>(data, index);
  case GgufKind::U64:
    return static_cast<double>(valueAt<uint64_t>(data, index));
  case GgufKind::I64:
    return static_cast<double>(valueAt<int64_t>(data, index));
  case GgufKind::F64:
    return valueAt<double>(data, index);
  default:
    return std::nullopt;
  }
}

} // namespace

std::optional<double> GgufFile::number(const std::string &key) const {
  auto found = metadata.find(key);
  std::optional<double> value = found == metadata.end() || found->second.isArray
                                    ? std::nullopt
                                    : numberAt(found->second, 0);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<int64_t> GgufFile::integer(const std::string &key) const {
  std::optional<double> value = number(key);
  return value && std::abs(*value) < 0x1p53 && std::floor(*value) == *value
             ? std::optional(static_cast<int64_t>(*value))
             : std::nullopt;
}

std::optional<bool> GgufFile::boolean(const std::string &key) const {
  auto found = metadata.find(key);
  return found == metadata.end() || found->second.isArray ||
                 found->second.kind != GgufKind::Bool
             ? std::nullopt
             : std::optional(*found->second.data != 0);
}

std::optional<std::string> GgufFile::text(const std::string &key) const {
  std::vector<std::string> all = texts(key);
  auto found = metadata.find(key);
  return found == metadata.end() || found->second.isArray || all.empty()
             ? std::nullopt
             : std::optional(all.front());
}

std::vector<double> GgufFile::numbers(const std::string &key) const {
  std::vector<double> all;
  auto found = metadata.find(key);
  for (uint64_t i = 0; found != metadata.end() && i < found->second.count;
       ++i) {
    std::optional<double> one = found->second.kind == GgufKind::Bool
                                    ? found->second.data[i] != 0
                                    : numberAt(found->second, i);
    if (!one) {
      return {};
    }
    all.push_back(*one);
  }
  return all;
}

std::vector<std::string> GgufFile::texts(const std::string &key) const {
  std::vector<std::string> all;
  auto found = metadata.find(key);
  if (found == metadata.end() || found->second.kind != GgufKind::String) {
    return all;
  }
  const uint8_t *next = found->second.data;
  for (uint64_t i = 0; i < found->second.count; ++i) {
    uint64_t length = valueAt<uint64_t>(next, 0);
    all.emplace_back(reinterpret_cast<const char *>(next) + 8, length);
    next += 8 + length;
  }
  return all;
}

} // namespace tfc::rt
