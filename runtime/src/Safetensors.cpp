// Maps one safetensors file and checks that what its header claims is true of
// the file. Nothing is believed before that.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Safetensors.h"

#include "runtime/src/SafetensorsHeader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tfc::rt {

namespace {

// The format's own limit.
constexpr uint64_t maxHeaderBytes = 100000000;

struct DTypeInfo {
  const char *name;
  uint32_t bits;
};

// In the order of DType.
constexpr DTypeInfo dtypeTable[] = {
    {"BOOL", 8},    {"F4", 4},          {"F6_E2M3", 6},     {"F6_E3M2", 6},
    {"U8", 8},      {"I8", 8},          {"F8_E5M2", 8},     {"F8_E4M3", 8},
    {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
    {"U16", 16},    {"F16", 16},        {"BF16", 16},       {"I32", 32},
    {"U32", 32},    {"F32", 32},        {"C64", 64},        {"F64", 64},
    {"I64", 64},    {"U64", 64}};
static_assert(sizeof(dtypeTable) / sizeof(dtypeTable[0]) ==
              static_cast<size_t>(DType::U64) + 1);

/// Bytes of the entry's elements; nothing when they cannot be counted.
std::optional<uint64_t> byteCount(const HeaderEntry &entry) {
  uint64_t count = 1;
  for (int64_t axis : entry.shape) {
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(axis), &count)) {
      return std::nullopt;
    }
  }
  if (__builtin_mul_overflow(count, dtypeBits(entry.dtype), &count) ||
      count % 8 != 0) {
    return std::nullopt;
  }
  return count / 8;
}

Error invalid(const std::string &path, const std::string &what) {
  return makeError(Code::InvalidArgument, path, ": ", what);
}

/// The entry's offsets lie in the data and fit its shape.
Status checkEntry(const std::string &path, const HeaderEntry &entry,
                  uint64_t dataBytes) {
  std::string where = concat("tensor ", quoteName(entry.name), ": expected ");
  if (entry.begin > entry.end || entry.end > dataBytes) {
    return invalid(path, concat(where, "data_offsets within [0, ", dataBytes,
                                "], got [", entry.begin, ", ", entry.end, "]"));
  }
  std::string type =
      concat("shape ", shapeText(entry.shape), " of ", dtypeName(entry.dtype));
  std::optional<uint64_t> bytes = byteCount(entry);
  if (!bytes) {
    return invalid(path, concat(where, "a whole number of bytes below 2^61, ",
                                "got ", type));
  }
  if (*bytes != entry.end - entry.begin) {
    return invalid(path, concat(where, *bytes, " bytes (", type, "), got ",
                                entry.end - entry.begin));
  }
  return {};
}

/// The regions must tile the data: sorted, each begins where the one before
/// ends, and the last ends where the file does.
Status checkRegions(const std::string &path, const Header &header,
                    uint64_t dataBytes) {
  std::vector<const HeaderEntry *> order;
  for (const HeaderEntry &entry : header.entries) {
    Status status = checkEntry(path, entry, dataBytes);
    if (!status) {
      return status;
    }
    order.push_back(&entry);
  }
  std::sort(order.begin(), order.end(),
            [](const HeaderEntry *a, const HeaderEntry *b) {
              return std::tie(a->begin, a->end, a->name) <
                     std::tie(b->begin, b->end, b->name);
            });
  uint64_t end = 0;
  for (const HeaderEntry *entry : order) {
    if (entry->begin != end) {
      const char *why = entry->begin < end ? "regions must not overlap"
                                           : "regions must leave no hole";
      return invalid(path, concat("tensor ", quoteName(entry->name),
                                  ": expected data to begin at ", end, " (",
                                  why, "), got ", entry->begin));
    }
    end = entry->end;
  }
  if (end != dataBytes) {
    return invalid(path, concat("expected ", end, " bytes of data (the end of ",
                                "the last tensor), got ", dataBytes));
  }
  return {};
}

} // namespace

const char *dtypeName(DType dtype) {
  return dtypeTable[static_cast<size_t>(dtype)].name;
}

uint32_t dtypeBits(DType dtype) {
  return dtypeTable[static_cast<size_t>(dtype)].bits;
}

std::optional<DType> parseDType(std::string_view name) {
  for (size_t i = 0; i < sizeof(dtypeTable) / sizeof(dtypeTable[0]); ++i) {
    if (name == dtypeTable[i].name) {
      return static_cast<DType>(i);
    }
  }
  return std::nullopt;
}

bool isWeightDType(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::BF16;
}

int64_t Tensor::elements() const {
  int64_t count = 1;
  for (int64_t axis : shape) {
    count *= axis;
  }
  return count;
}

Result<std::shared_ptr<TensorFile>> TensorFile::open(const std::string &path) {
  std::shared_ptr<TensorFile> file(new TensorFile);
  file->filePath = path;
  Status status = file->map();
  if (status) {
    status = file->parse();
  }
  if (!status) {
    return std::move(status.error());
  }
  return file;
}

TensorFile::~TensorFile() {
  if (base) {
    munmap(const_cast<uint8_t *>(base), size);
  }
}

Status TensorFile::map() {
  // A pipe would block for ever before fstat could refuse it.
  int fd = ::open(filePath.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return makeError(Code::NotFound, filePath,
                     ": cannot be opened: ", std::strerror(errno));
  }
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return invalid(filePath, "expected a regular file");
  }
  size = static_cast<uint64_t>(info.st_size);
  if (size < 8) {
    close(fd);
    return invalid(filePath, concat("expected a safetensors file (8 bytes or ",
                                    "more), got ", size, " bytes"));
  }
  void *address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  int reason = errno;
  close(fd);
  if (address == MAP_FAILED) {
    return makeError(Code::Exhausted, filePath,
                     ": cannot be mapped: ", std::strerror(reason));
  }
  base = static_cast<const uint8_t *>(address);
  return {};
}

Status TensorFile::parse() {
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) {
    length = length << 8 | base[i];
  }
  if (length > maxHeaderBytes || length > size - 8) {
    return invalid(filePath, concat("expected a header of at most ",
                                    std::min(maxHeaderBytes, size - 8),
                                    " bytes, got ", length));
  }
  Result<Header> header =
      readHeader(reinterpret_cast<const char *>(base + 8), length);
  if (!header) {
    return invalid(filePath, "header: " + header.error().message);
  }
  Status status = checkRegions(filePath, *header, size - 8 - length);
  if (!status) {
    return status;
  }
  for (HeaderEntry &entry : header->entries) {
    list.push_back({std::move(entry.name), entry.dtype, std::move(entry.shape),
                    base + 8 + length + entry.begin, entry.end - entry.begin,
                    filePath});
  }
  std::sort(list.begin(), list.end(),
            [](const Tensor &a, const Tensor &b) { return a.name < b.name; });
  meta = std::move(header->metadata);
  return {};
}

const Tensor *TensorFile::find(std::string_view name) const {
  auto found = std::lower_bound(
      list.begin(), list.end(), name,
      [](const Tensor &t, std::string_view n) { return t.name < n; });
  return found != list.end() && found->name == name ? &*found : nullptr;
}

} // namespace tfc::rt
