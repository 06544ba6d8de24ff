// Element types, and whether what a header claims can be true of its file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/Safetensors.h"

#include "runtime/src/files/SafetensorsHeader.h"

#include <algorithm>

namespace tfc::rt {

namespace {

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
  uint64_t count = dtypeBits(entry.dtype);
  bool isEmpty = false;
  for (int64_t axis : entry.shape) {
    // A 0 must not hide that the others are too large to be multiplied.
    uint64_t factor = std::max<uint64_t>(static_cast<uint64_t>(axis), 1);
    isEmpty |= axis == 0;
    if (__builtin_mul_overflow(count, factor, &count)) {
      return std::nullopt;
    }
  }
  if (isEmpty) {
    return 0;
  }
  return count % 8 == 0 ? std::optional(count / 8) : std::nullopt;
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

} // namespace

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

} // namespace tfc::rt
