// Reads one safetensors file. Nothing of its header is believed before it is
// checked against the file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/OpenFile.h"
#include "runtime/src/files/SafetensorsHeader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <tuple>

namespace tfc::rt {

// The format's own limit.
static constexpr uint64_t maxHeaderBytes = 100000000;
// What is mapped is a signal when the file shrinks, what is read is an error;
// of a checkpoint nearly all bytes are in larger tensors.
static constexpr uint64_t maxCopiedBytes = uint64_t(1) << 16;

static bool isSmall(const HeaderEntry &entry) {
  return entry.end - entry.begin <= maxCopiedBytes;
}

Result<std::shared_ptr<TensorFile>>
TensorFile::open(const std::string &path, const std::string &prefix) {
  std::shared_ptr<TensorFile> file(new TensorFile);
  file->filePath = path;
  Status status = file->read();
  if (!status) {
    return std::move(status.error());
  }
  for (Tensor &tensor : file->list) {
    tensor.name.insert(0, prefix);
  }
  return file;
}

TensorFile::~TensorFile() {
  if (mapped) {
    munmap(mapped, mappedBytes);
  }
}

Status TensorFile::read() {
  auto invalid = [&](const auto &...parts) {
    return makeError(Code::InvalidArgument, filePath, ": ", parts...);
  };
  Result<OpenFile> file = OpenFile::open(filePath);
  if (!file) {
    return std::move(file.error());
  }
  if (!file->isRegular()) {
    return invalid("expected a regular file");
  }
  uint8_t prefix[8];
  if (file->size() < sizeof(prefix)) {
    return invalid("expected a safetensors file (8 bytes or more), got ",
                   file->size(), " bytes");
  }
  if (Status status = file->read(prefix, sizeof(prefix), 0); !status) {
    return status;
  }
  uint64_t length = 0, limit = file->size() - sizeof(prefix);
  for (int i = 7; i >= 0; --i) {
    length = length << 8 | prefix[i];
  }
  if (length > std::min(limit, maxHeaderBytes)) {
    return invalid("expected a header of at most ",
                   std::min(limit, maxHeaderBytes), " bytes, got ", length);
  }
  std::string text(length, '\0');
  if (Status status = file->read(text.data(), length, sizeof(prefix));
      !status) {
    return status;
  }
  Result<Header> header = readHeader(text.data(), length);
  if (!header) {
    return invalid("header: ", header.error().message);
  }
  if (Status status = checkRegions(filePath, *header, limit - length);
      !status) {
    return status;
  }
  meta = std::move(header->metadata);
  return load(*file, std::move(header->entries), sizeof(prefix) + length);
}

Status TensorFile::load(const OpenFile &file, std::vector<HeaderEntry> entries,
                        uint64_t dataBegin) {
  std::sort(entries.begin(), entries.end(),
            [](const HeaderEntry &a, const HeaderEntry &b) {
              return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
            });
  uint64_t copiedBytes = 0;
  for (const HeaderEntry &entry : entries) {
    (isSmall(entry) ? copiedBytes : mappedBytes) += entry.end - entry.begin;
  }
  if (Status status = mappedBytes > 0 ? map(file) : Status(); !status) {
    return status;
  }
  // One more: a tensor without elements has an address, too.
  copied.resize(copiedBytes + 1);
  if (Status status = copySmall(file, entries, dataBegin); !status) {
    return status;
  }
  const uint8_t *next = copied.data();
  for (HeaderEntry &entry : entries) {
    bool isCopied = isSmall(entry);
    uint64_t bytes = entry.end - entry.begin;
    list.push_back({std::move(entry.name), entry.dtype, std::move(entry.shape),
                    isCopied ? next
                             : static_cast<const uint8_t *>(mapped) +
                                   dataBegin + entry.begin,
                    bytes, filePath, !isCopied, nullptr});
    next += isCopied ? bytes : 0;
  }
  std::sort(list.begin(), list.end(),
            [](const Tensor &a, const Tensor &b) { return a.name < b.name; });
  return {};
}

Status TensorFile::map(const OpenFile &file) {
  void *address =
      mmap(nullptr, file.size(), PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (address == MAP_FAILED) {
    return makeError(Code::Exhausted, filePath,
                     ": cannot be mapped: ", std::strerror(errno));
  }
  mapped = address;
  mappedBytes = file.size();
  return {};
}

/// Reads the small ones of `entries`, which are in the file's order, those that
/// lie together at once.
Status TensorFile::copySmall(const OpenFile &file,
                             const std::vector<HeaderEntry> &entries,
                             uint64_t dataBegin) {
  uint8_t *next = copied.data();
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!isSmall(entries[i])) {
      continue;
    }
    uint64_t begin = entries[i].begin;
    while (i + 1 < entries.size() && isSmall(entries[i + 1])) {
      ++i;
    }
    uint64_t bytes = entries[i].end - begin;
    if (Status status = file.read(next, bytes, dataBegin + begin); !status) {
      return status;
    }
    next += bytes;
  }
  return {};
}

const Tensor *TensorFile::find(std::string_view name) const {
  auto found = std::lower_bound(
      list.begin(), list.end(), name,
      [](const Tensor &t, std::string_view n) { return t.name < n; });
  return found != list.end() && found->name == name ? &*found : nullptr;
}

} // namespace tfc::rt
