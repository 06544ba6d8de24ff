// Checks a library's file and loads it through its descriptor.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/LibraryFile.h"

#include "runtime/src/load/CpuFeatures.h"
#include "tfc/abi.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <optional>
#include <unistd.h>

namespace tfc::rt {

static constexpr uint64_t pieceBytes = uint64_t(1) << 16;

/// The end of `bytes` bytes at `begin`, or the largest number.
static uint64_t endOf(uint64_t begin, uint64_t bytes) {
  return begin <= UINT64_MAX - bytes ? begin + bytes : UINT64_MAX;
}

/// Reads a table of the header, if the file has all of it.
template <typename T>
static Result<std::vector<T>> readTable(const OpenFile &file, uint64_t begin,
                                        uint64_t count) {
  std::vector<T> table;
  if (endOf(begin, count * sizeof(T)) <= file.size()) {
    table.resize(count);
    Status status = file.read(table.data(), count * sizeof(T), begin);
    if (!status) {
      return std::move(status.error());
    }
  }
  return table;
}

/// The header of a library; none of what is no 64-bit ELF file, little endian.
static Result<std::optional<Elf64_Ehdr>> readHeader(const OpenFile &file) {
  Elf64_Ehdr header;
  if (file.size() < sizeof(header)) {
    return std::optional<Elf64_Ehdr>();
  }
  if (Status status = file.read(&header, sizeof(header), 0); !status) {
    return std::move(status.error());
  }
  bool isElf = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
               header.e_ident[EI_CLASS] == ELFCLASS64 &&
               header.e_ident[EI_DATA] == ELFDATA2LSB;
  return isElf ? std::optional(header) : std::nullopt;
}

static std::string nameOfMachine(unsigned machine) {
  for (const MachineKind &kind : machineKinds) {
    if (kind.elf == machine) {
      return kind.name;
    }
  }
  return concat("ELF machine ", machine);
}

static Result<bool> startsAsMachO(const OpenFile &file) {
  constexpr uint32_t magic = 0xfeedfacf; // of 64 bits
  uint32_t first = 0;
  if (file.size() >= sizeof(first)) {
    if (Status status = file.read(&first, sizeof(first), 0); !status) {
      return std::move(status.error());
    }
  }
  return first == magic;
}

/// dlopen says of a library for another machine that there is no such file.
static Status checkMachine(const OpenFile &file) {
  auto header = readHeader(file);
  if (!header) {
    return std::move(header.error());
  }
  auto isMachO = startsAsMachO(file);
  if (!isMachO) {
    return std::move(isMachO.error());
  }
  const MachineKind *here = findMachineKind(hostIsa);
  bool isOther =
      *header ? here && (*header)->e_machine != here->elf : here && *isMachO;
  if (!isOther) {
    return {};
  }
  return makeError(Code::Incompatible, file.path(),
                   ": expected a compiled model for ", here->name,
                   " (this machine), got one for ",
                   *isMachO ? "macOS" : nameOfMachine((*header)->e_machine),
                   "; compile it with --target=", here->target);
}

/// Where the last of the parts ends that the file's header promises. dlopen
/// maps segments without looking, and what is missing becomes a signal. What is
/// no 64-bit ELF file is left to dlopen's own message and ends at 0.
static Result<uint64_t> findEnd(const OpenFile &file) {
  auto read = readHeader(file);
  if (!read) {
    return std::move(read.error());
  }
  if (!*read || (*read)->e_phentsize != sizeof(Elf64_Phdr)) {
    return 0;
  }
  const Elf64_Ehdr &header = **read;
  uint64_t numSections =
      header.e_shentsize == sizeof(Elf64_Shdr) ? header.e_shnum : 0;
  auto segments = readTable<Elf64_Phdr>(file, header.e_phoff, header.e_phnum);
  auto sections = readTable<Elf64_Shdr>(file, header.e_shoff, numSections);
  if (!segments || !sections) {
    return std::move(segments ? sections.error() : segments.error());
  }
  uint64_t end = std::max(
      endOf(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)),
      numSections ? endOf(header.e_shoff, numSections * sizeof(Elf64_Shdr))
                  : 0);
  for (const Elf64_Phdr &segment : *segments) {
    end = std::max(end, endOf(segment.p_offset, segment.p_filesz));
  }
  for (const Elf64_Shdr &section : *sections) {
    bool hasBytes = section.sh_type != SHT_NOBITS;
    end =
        std::max(end, hasBytes ? endOf(section.sh_offset, section.sh_size) : 0);
  }
  return end;
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

static Status checkSum(const OpenFile &file, const tfc_library_end_v0 &end) {
  Result<uint64_t> sum = sumOf(file, file.size() - sizeof(end));
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

static bool beginsLikeSum(const tfc_library_end_v0 &end, uint64_t bytes) {
  return std::memcmp(end.magic, TFC_LIBRARY_END_MAGIC,
                     std::min<uint64_t>(bytes, sizeof(end.magic))) == 0;
}

/// Of a file without a whole checksum: whether its end is missing. A few other
/// bytes behind the last part are no fault, tools leave them there.
static Status checkEnd(const OpenFile &file) {
  Result<uint64_t> end = findEnd(file);
  if (!end) {
    return std::move(end.error());
  }
  uint64_t size = file.size();
  bool isCut = *end > size;
  tfc_library_end_v0 rest;
  if (*end < size && size - *end < sizeof(rest)) {
    if (Status status = file.read(&rest, size - *end, *end); !status) {
      return status;
    }
    isCut = beginsLikeSum(rest, size - *end);
  }
  if (isCut) {
    return makeError(Code::Incompatible, file.path(),
                     ": expected a whole compiled model, got a file that ends "
                     "early (compile it again)");
  }
  return {};
}

/// That the file is whole, by its checksum or by what its header promises.
static Status checkBytes(const OpenFile &file) {
  tfc_library_end_v0 end;
  if (file.size() >= sizeof(end)) {
    Status status = file.read(&end, sizeof(end), file.size() - sizeof(end));
    if (!status || beginsLikeSum(end, sizeof(end))) {
      return status ? checkSum(file, end) : std::move(status);
    }
  }
  return checkEnd(file);
}

Status checkLibraryFile(const OpenFile &file) {
  Status status = checkBytes(file);
  return status ? checkMachine(file) : std::move(status);
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
    if (fault.find("undefined symbol: tfc_check_access") != std::string::npos) {
      fault = "one of --sanitize=address, which needs a runtime that is built "
              "with AddressSanitizer (cmake --preset asan)";
    }
  }
  return library;
}

} // namespace tfc::rt
