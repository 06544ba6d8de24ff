// Reads the header of a GGUF file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/gguf/GgufReader.h"

#include <cstring>
#include <set>

namespace tfc::rt {

namespace {

/// Bytes of an element; 0 of texts, arrays and what is no kind.
uint64_t bytesOf(GgufKind kind) {
  static constexpr uint8_t bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  auto code = static_cast<uint32_t>(kind);
  return code < sizeof(bytes) ? bytes[code] : 0;
}

/// Longer names would cost memory, and nobody has them.
constexpr uint64_t maxNameBytes = 1 << 16;

} // namespace

template <typename T> bool GgufReader::take(T &value) {
  if (left < sizeof(T)) {
    return false;
  }
  std::memcpy(&value, begin + at, sizeof(T));
  return skip(sizeof(T));
}

bool GgufReader::skip(uint64_t bytes) {
  if (bytes > left) {
    return false;
  }
  at += bytes;
  left -= bytes;
  return true;
}

bool GgufReader::takeText(std::string_view &text) {
  uint64_t length = 0;
  if (!take(length) || length > left) {
    return false;
  }
  text = {reinterpret_cast<const char *>(begin) + at,
          static_cast<size_t>(length)};
  return skip(length);
}

bool GgufReader::takeValue(GgufValue &value) {
  uint32_t kind = 0;
  if (!take(kind)) {
    return false;
  }
  value.kind = static_cast<GgufKind>(kind);
  value.isArray = value.kind == GgufKind::Array;
  if (value.isArray) {
    if (!take(kind) || !take(value.count)) {
      return false;
    }
    value.kind = static_cast<GgufKind>(kind);
  }
  value.data = begin + at;
  if (value.kind == GgufKind::String) {
    std::string_view text;
    for (uint64_t i = 0; i < value.count; ++i) {
      if (!takeText(text)) {
        return false;
      }
    }
    return true;
  }
  uint64_t each = bytesOf(value.kind), all = 0;
  // No array of arrays: no key has one.
  return each != 0 && !__builtin_mul_overflow(each, value.count, &all) &&
         skip(all);
}

Status GgufReader::readMetadata(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    std::string_view key;
    GgufValue value;
    if (!takeText(key) || key.size() > maxNameBytes) {
      return invalid("expected the key of value ", i, " of ", count,
                     " within the file");
    }
    if (!takeValue(value)) {
      return invalid("expected a value of ", quoteName(key),
                     " of a known kind within the file");
    }
    if (!file.metadata.emplace(std::string(key), value).second) {
      return invalid("expected distinct keys, got ", quoteName(key), " twice");
    }
  }
  return {};
}

Status GgufReader::readTensor(std::vector<uint64_t> &offsets) {
  std::string_view name;
  uint32_t axes = 0, code = 0;
  if (!takeText(name) || name.size() > maxNameBytes || !take(axes)) {
    return invalid("expected the name of a tensor within the file");
  }
  GgufTensor tensor;
  tensor.name = name;
  tensor.file = file.filePath;
  if (axes < 1 || axes > 4) {
    return invalid("tensor ", quoteName(name), ": expected 1 to 4 axes, got ",
                   axes);
  }
  uint64_t elements = 1, offset = 0;
  for (uint32_t i = 0; i < axes; ++i) {
    uint64_t axis = 0;
    if (!take(axis) || axis < 1 || axis > (uint64_t(1) << 30) ||
        __builtin_mul_overflow(elements, axis, &elements) ||
        elements > (uint64_t(1) << 56)) {
      return invalid("tensor ", quoteName(name),
                     ": expected axes from 1 to 2^30, with at most 2^56 "
                     "elements, got others");
    }
    tensor.shape.insert(tensor.shape.begin(), static_cast<int64_t>(axis));
  }
  if (!take(code) || !take(offset)) {
    return invalid("tensor ", quoteName(name),
                   ": expected a type and an offset within the file");
  }
  tensor.type = findGgufType(code);
  if (!tensor.type) {
    return makeError(Code::Unsupported, file.filePath, ": tensor ",
                     quoteName(name),
                     ": expected blocks that tfc reads (F32, F16, BF16, Q8_0, "
                     "Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K, MXFP4), got "
                     "those of type ",
                     code, "; take another file of the model");
  }
  if (tensor.shape.back() % tensor.type->elements != 0) {
    return invalid("tensor ", quoteName(name), ": expected rows of whole ",
                   tensor.type->name, " blocks of ", tensor.type->elements,
                   ", got ", tensor.shape.back(), " columns");
  }
  tensor.bytes = elements / static_cast<uint64_t>(tensor.type->elements) *
                 tensor.type->bytes;
  offsets.push_back(offset);
  file.list.push_back(std::move(tensor));
  return {};
}

Status GgufReader::placeTensors(const std::vector<uint64_t> &offsets) {
  int64_t alignment = file.integer("general.alignment").value_or(32);
  if (alignment < 1 || alignment > (1 << 20)) {
    return invalid("expected a general.alignment from 1 to 1048576, got ",
                   alignment);
  }
  auto unit = static_cast<uint64_t>(alignment);
  uint64_t start = (at + unit - 1) / unit * unit;
  for (size_t i = 0; i < offsets.size(); ++i) {
    GgufTensor &tensor = file.list[i];
    uint64_t first = 0, end = 0;
    if (offsets[i] % unit != 0 ||
        __builtin_add_overflow(start, offsets[i], &first) ||
        __builtin_add_overflow(first, tensor.bytes, &end) ||
        end > file.mappedBytes) {
      return invalid("tensor ", quoteName(tensor.name), ": expected ",
                     tensor.bytes, " bytes at a multiple of ", unit,
                     " within the data, which begins at ", start, " of ",
                     file.mappedBytes, ", got offset ", offsets[i]);
    }
    tensor.data = begin + first;
  }
  return {};
}

Status GgufReader::run() {
  uint32_t magic = 0, version = 0;
  uint64_t numTensors = 0, numValues = 0;
  if (!take(magic) || std::memcmp(begin, "GGUF", 4) != 0 || !take(version)) {
    return invalid("expected a GGUF file (its first bytes are GGUF)");
  }
  if (version != 2 && version != 3) {
    bool isSwapped = version != 0 && (version & 0xffff) == 0;
    return makeError(Code::Unsupported, file.filePath,
                     ": expected version 2 or 3 of GGUF, got ",
                     isSwapped ? std::string("a file of a machine with the "
                                             "other order of bytes")
                               : std::to_string(version));
  }
  if (!take(numTensors) || !take(numValues)) {
    return invalid("expected counts of tensors and values within the file");
  }
  // The least that one of each takes.
  if (numTensors > left / 32 || numValues > left / 13) {
    return invalid("expected as many tensors and values as fit into ", left,
                   " bytes, got ", numTensors, " and ", numValues);
  }
  if (Status status = readMetadata(numValues); !status) {
    return status;
  }
  std::vector<uint64_t> offsets;
  std::set<std::string_view> names;
  file.list.reserve(numTensors);
  for (uint64_t i = 0; i < numTensors; ++i) {
    if (Status status = readTensor(offsets); !status) {
      return status;
    }
    if (!names.insert(file.list.back().name).second) {
      return invalid("expected distinct tensors, got ",
                     quoteName(file.list.back().name), " twice");
    }
  }
  return placeTensors(offsets);
}

} // namespace tfc::rt
