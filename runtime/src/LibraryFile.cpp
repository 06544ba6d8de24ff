// Checks a library's file and loads it through its descriptor.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/LibraryFile.h"

#include "tfc/abi.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <unistd.h>

namespace tfc::rt {

static constexpr uint64_t pieceBytes = uint64_t(1) << 16;

/// Whether the file has all the segments of its header. dlopen maps them
/// without looking, and what is missing becomes a signal. What is no 64-bit ELF
/// file is left to dlopen's own message.
static Result<bool> isWhole(const OpenFile &file) {
  Elf64_Ehdr header;
  if (file.size() < sizeof(header)) {
    return true;
  }
  if (Status status = file.read(&header, sizeof(header), 0); !status) {
    return std::move(status.error());
  }
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr)) {
    return true;
  }
  uint64_t tableBytes = header.e_phnum * sizeof(Elf64_Phdr);
  if (header.e_phoff > file.size() ||
      tableBytes > file.size() - header.e_phoff) {
    return false;
  }
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (Status status = file.read(segments.data(), tableBytes, header.e_phoff);
      !status) {
    return std::move(status.error());
  }
  return std::all_of(segments.begin(), segments.end(), [&](auto &segment) {
    return segment.p_offset <= file.size() &&
           segment.p_filesz <= file.size() - segment.p_offset;
  });
}

/// FNV-1a of the first `bytes` bytes.
static Result<uint64_t> sumOf(const OpenFile &file, uint64_t bytes) {
  std::vector<unsigned char> piece(std::min(bytes, pieceBytes));
  uint64_t sum = TFC_FNV_BASIS;
  for (uint64_t at = 0; at < bytes; at += piece.size()) {
    uint64_t count = std::min<uint64_t>(piece.size(), bytes - at);
    if (Status status = file.read(piece.data(), count, at); !status) {
      return std::move(status.error());
    }
    for (uint64_t i = 0; i < count; ++i) {
      sum = (sum ^ piece[i]) * TFC_FNV_PRIME;
    }
  }
  return sum;
}

static Status checkSum(const OpenFile &file) {
  tfc_library_end_v0 end;
  if (file.size() < sizeof(end)) {
    return {};
  }
  uint64_t bytes = file.size() - sizeof(end);
  if (Status status = file.read(&end, sizeof(end), bytes); !status) {
    return status;
  }
  if (std::memcmp(end.magic, TFC_LIBRARY_END_MAGIC, sizeof(end.magic)) != 0) {
    return {};
  }
  Result<uint64_t> sum = sumOf(file, bytes);
  if (!sum) {
    return std::move(sum.error());
  }
  if (*sum != end.sum) {
    return makeError(Code::Incompatible, file.path(),
                     ": expected the checksum ", std::hex, end.sum, ", got ",
                     *sum, "; the file is damaged (compile it again)");
  }
  return {};
}

Status checkLibraryFile(const OpenFile &file) {
  Result<bool> whole = isWhole(file);
  if (!whole) {
    return std::move(whole.error());
  }
  if (!*whole) {
    return makeError(Code::Incompatible, file.path(),
                     ": expected a whole compiled model, got a file that ends "
                     "early (compile it again)");
  }
  return checkSum(file);
}

/// A path of the open file that no other one had before: numbers of descriptors
/// come again, so the path also spells how many were asked for, in "/." and
/// "/", which lead nowhere.
static std::string freshPathOf(const OpenFile &file) {
  static std::atomic<uint64_t> count;
  std::string path = "/proc/self/fd";
  for (uint64_t number = ++count; number != 0; number >>= 1) {
    path += number & 1 ? "/." : "/";
  }
  return concat(path, '/', file.number());
}

void *loadLibrary(const OpenFile &file, std::string &fault) {
  std::string path = freshPathOf(file);
  if (access(path.c_str(), F_OK) != 0) {
    // A system without /proc. Without a slash, dlopen would search its folders.
    path = file.path();
    path = path.find('/') == std::string::npos ? "./" + path : path;
  }
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fault = dlerror();
    if (fault.rfind(path + ": ", 0) == 0) {
      fault.erase(0, path.size() + 2);
    }
  }
  return library;
}

} // namespace tfc::rt
