// The file: one page of header, then the packed weights as they are in memory.
// Little-endian, as the machines are that these weights are packed for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/PackedFile.h"

#include "runtime/src/files/FileBeside.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace tfc::rt {

namespace {

constexpr char magic[8] = {'T', 'F', 'C', 'P', 'A', 'C', 'K', '\n'};
constexpr uint32_t formatVersion = 1;

struct Header {
  char magic[8];
  uint32_t version, reserved;
  uint64_t specHash, bytes, contentSum, sourceStamp, sourceSum;
  char layoutTag[maxLayoutTag + 1];
  uint64_t headerSum; // of everything before
};

// A page, so that the weights begin on one.
constexpr uint64_t headerBytes = 4096;
// Written at once, between two looks at whether to go on.
constexpr uint64_t pieceBytes = uint64_t(16) << 20;
static_assert(sizeof(Header) <= headerBytes, "the header is one page");

uint64_t sumOf(const Header &header) {
  return checksum(&header, offsetof(Header, headerSum), Workers(1));
}

std::string hex(uint64_t value) {
  std::ostringstream out;
  out << std::hex << value;
  return out.str();
}

Status checkHeader(const std::string &path, const Header &header) {
  if (std::memcmp(header.magic, magic, sizeof(magic)) != 0) {
    return makeError(Code::InvalidArgument, path,
                     ": expected packed weights, got another file");
  }
  if (header.version != formatVersion) {
    return makeError(Code::Incompatible, path, ": expected packed weights of ",
                     "version ", formatVersion, ", got ", header.version,
                     "; delete the file to pack them again");
  }
  if (sumOf(header) != header.headerSum ||
      header.layoutTag[maxLayoutTag] != '\0') {
    return makeError(Code::InvalidArgument, path,
                     ": expected the header's checksum ", hex(header.headerSum),
                     ", got ", hex(sumOf(header)), "; the file is damaged");
  }
  return {};
}

Status checkIdentity(const std::string &path, const Header &header,
                     const PackedIdentity &identity) {
  auto differs = [&](const char *what, const std::string &expected,
                     const std::string &got) {
    return makeError(Code::Incompatible, path, ": expected weights packed for ",
                     what, " ", expected, ", got ", got,
                     "; delete the file to pack them again");
  };
  if (header.specHash != identity.specHash) {
    return differs("the model whose spec has the hash", hex(identity.specHash),
                   hex(header.specHash));
  }
  if (header.layoutTag != identity.layoutTag) {
    return differs("the layout", quoteName(identity.layoutTag),
                   quoteName(header.layoutTag));
  }
  if (header.bytes != identity.bytes) {
    return differs("a size in bytes of", std::to_string(identity.bytes),
                   std::to_string(header.bytes));
  }
  return {};
}

/// The header, checked, of a file whose size fits it.
Result<Header> readHeader(const OpenFile &file,
                          const PackedIdentity &identity) {
  if (!file.isRegular()) {
    return makeError(Code::InvalidArgument, file.path(),
                     ": expected a regular file or none");
  }
  if (file.size() < headerBytes) {
    return makeError(Code::InvalidArgument, file.path(), ": expected at least ",
                     headerBytes, " bytes (the header), got ", file.size());
  }
  Header header{};
  Status status = file.read(&header, sizeof(header), 0);
  if (status) {
    status = checkHeader(file.path(), header);
  }
  if (status) {
    status = checkIdentity(file.path(), header, identity);
  }
  if (!status) {
    return std::move(status.error());
  }
  if (file.size() != headerBytes + identity.bytes) {
    return makeError(Code::InvalidArgument, file.path(), ": expected ",
                     headerBytes + identity.bytes, " bytes, got ", file.size());
  }
  return header;
}

/// The weights and their checksum.
Result<std::pair<Mapping, uint64_t>>
readWeights(const OpenFile &file, Loading &loading, PackedMemory memory) {
  uint64_t bytes = file.size() - headerBytes;
  loading.expect(bytes);
  bool isShared = memory == PackedMemory::Shared && bytes > 0;
  Result<Mapping> weights =
      isShared ? Mapping::mapFile(file.number(), file.size(), headerBytes)
               : Mapping::allocate(bytes);
  if (!weights) {
    return std::move(weights.error());
  }
  Result<uint64_t> sum =
      isShared ? checksum(weights->data(), bytes, loading)
               : readSummed(file, headerBytes, weights->data(), bytes, loading);
  if (!sum) {
    return std::move(sum.error());
  }
  if (Status status = loading.status(); !status) {
    return std::move(status.error());
  }
  return std::pair(std::move(*weights), *sum);
}

} // namespace

Result<std::optional<PackedFile>> openPacked(const std::string &path,
                                             const PackedIdentity &identity,
                                             Loading &loading,
                                             PackedMemory memory) {
  Result<OpenFile> file = OpenFile::open(path);
  if (!file && file.error().code == Code::NotFound) {
    return std::optional<PackedFile>();
  }
  if (!file) {
    return std::move(file.error());
  }
  Result<Header> header = readHeader(*file, identity);
  if (!header) {
    return std::move(header.error());
  }
  auto read = readWeights(*file, loading, memory);
  if (!read) {
    return std::move(read.error());
  }
  auto &[weights, sum] = *read;
  if (sum != header->contentSum) {
    return makeError(Code::InvalidArgument, path, ": expected the checksum ",
                     hex(header->contentSum), ", got ", hex(sum),
                     "; the file is damaged");
  }
  return std::optional<PackedFile>(
      PackedFile{std::move(weights), {header->sourceStamp, header->sourceSum}});
}

/// They are summed, then written.
uint64_t bytesOfWriting(uint64_t weightBytes) { return 2 * weightBytes; }

Status writePacked(const std::string &path, const PackedIdentity &identity,
                   const SourceIdentity &source, const Mapping &weights,
                   Loading &loading) {
  Result<std::string> target = replaceableFile(path);
  if (!target) {
    return std::move(target.error());
  }
  if (identity.layoutTag.size() > maxLayoutTag) {
    return makeError(Code::Incompatible, path, ": expected a layout tag of at ",
                     "most ", maxLayoutTag, " characters, got ",
                     identity.layoutTag.size());
  }
  uint8_t page[headerBytes] = {};
  Header header{};
  std::memcpy(header.magic, magic, sizeof(magic));
  header.version = formatVersion;
  header.specHash = identity.specHash;
  header.bytes = identity.bytes;
  header.contentSum = checksum(weights.data(), identity.bytes, loading);
  header.sourceStamp = source.stamp;
  header.sourceSum = source.sum;
  identity.layoutTag.copy(header.layoutTag, maxLayoutTag);
  header.headerSum = sumOf(header);
  std::memcpy(page, &header, sizeof(header));
  FileBeside file(*target);
  file.write(page, sizeof(page));
  for (uint64_t at = 0; at < identity.bytes && !loading.isCancelled();
       at += pieceBytes) {
    uint64_t count = std::min(pieceBytes, identity.bytes - at);
    file.write(weights.data() + at, count);
    loading.add(count);
  }
  Status status = loading.status();
  return status ? file.commit() : status;
}

} // namespace tfc::rt
