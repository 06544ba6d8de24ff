// Names of functions from an ELF file's symbol table. dladdr does not do: it
// sees exported symbols only, and a library exports one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/LoopRecorder.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fstream>

namespace tfc::bench {

namespace {

// So that a damaged table cannot ask for more memory than a few files' worth.
constexpr size_t longestName = 4096;

/// The file's bytes, read where they are.
class ElfFile {
public:
  explicit ElfFile(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }

  /// A struct at an offset; none where the file ends before.
  template <typename T> std::optional<T> at(uint64_t offset) const {
    T value;
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
      return std::nullopt;
    }
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
  }

  /// A string that ends within the file and a name's length, else "".
  std::string text(uint64_t offset) const {
    std::string_view rest(bytes);
    rest = rest.substr(std::min<uint64_t>(offset, rest.size()), longestName);
    size_t end = rest.find('\0');
    return std::string(rest.substr(0, end == rest.npos ? 0 : end));
  }

private:
  std::string bytes;
};

} // namespace

std::vector<std::pair<uint64_t, std::string>>
readSymbols(const std::string &path) {
  std::vector<std::pair<uint64_t, std::string>> symbols;
  ElfFile file(path);
  auto header = file.at<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_shentsize != sizeof(Elf64_Shdr)) {
    return symbols;
  }
  auto section = [&](uint64_t index) {
    return file.at<Elf64_Shdr>(header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  for (uint64_t s = 0; s < header->e_shnum; ++s) {
    auto table = section(s);
    if (!table || table->sh_type != SHT_SYMTAB) {
      continue;
    }
    auto strings = section(table->sh_link);
    if (!strings || table->sh_entsize != sizeof(Elf64_Sym)) {
      break;
    }
    for (uint64_t i = 0; i < table->sh_size / sizeof(Elf64_Sym); ++i) {
      auto symbol =
          file.at<Elf64_Sym>(table->sh_offset + i * sizeof(Elf64_Sym));
      if (!symbol) {
        break;
      }
      if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC) {
        symbols.emplace_back(symbol->st_value,
                             file.text(strings->sh_offset + symbol->st_name));
      }
    }
    break; // a file has one
  }
  std::sort(symbols.begin(), symbols.end());
  return symbols;
}

BodyNames::BodyNames(const std::string &libraryPath)
    : symbols(readSymbols(libraryPath)) {}

std::string BodyNames::name(tfc_body_fn body) const {
  Dl_info info{};
  auto *address = reinterpret_cast<void *>(body);
  uint64_t base = dladdr(address, &info) != 0
                      ? reinterpret_cast<uintptr_t>(info.dli_fbase)
                      : 0;
  uint64_t offset = reinterpret_cast<uintptr_t>(address) - base;
  auto found = std::lower_bound(symbols.begin(), symbols.end(),
                                std::make_pair(offset, std::string()));
  if (found != symbols.end() && found->first == offset) {
    return found->second;
  }
  std::ostringstream text;
  text << "+0x" << std::hex << offset;
  return text.str();
}

} // namespace tfc::bench
