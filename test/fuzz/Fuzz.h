// What the fuzzers have in common: expectations, and files without a place.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_FUZZ_FUZZ_H
#define TFC_TEST_FUZZ_FUZZ_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace tfc::fuzz {

/// Ends the process when `holds` does not; libFuzzer keeps the input then.
inline void expect(bool holds, const char *what, std::string_view got = {}) {
  if (!holds) {
    std::fprintf(stderr, "expected %s, got:\n%.*s\n", what,
                 static_cast<int>(got.size()), got.data());
    std::abort();
  }
}

/// Bytes of the UTF-8 character at the front of a text that is not empty; 0
/// when there is none.
inline size_t lengthOfCharacter(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  size_t length = byte(0) < 0x80                      ? 1
                  : byte(0) >= 0xc2 && byte(0) < 0xe0 ? 2
                  : byte(0) >= 0xe0 && byte(0) < 0xf0 ? 3
                  : byte(0) >= 0xf0 && byte(0) < 0xf5 ? 4
                                                      : 0;
  for (size_t i = 1; i < length; ++i) {
    if (i >= text.size() || (byte(i) & 0xc0) != 0x80) {
      return 0;
    }
  }
  return length;
}

/// A message has words, is UTF-8 without control characters, and has an end.
inline void expectMessage(std::string_view message) {
  constexpr size_t most = 1 << 20;
  expect(!message.empty(), "a message");
  expect(message.size() < most, "a message of less than a megabyte",
         message.substr(0, 1000));
  for (size_t at = 0, length; at < message.size(); at += length) {
    length = lengthOfCharacter(message.substr(at));
    expect(length != 0, "UTF-8 in a message", message);
    unsigned char byte = static_cast<unsigned char>(message[at]);
    expect(byte == '\n' || (byte >= 0x20 && byte != 0x7f),
           "no control character in a message", message);
  }
}

/// A file in memory, gone with the object.
class MemoryFile {
public:
  explicit MemoryFile(std::string_view content)
      : descriptor(memfd_create("fuzz", MFD_CLOEXEC)),
        place("/proc/self/fd/" + std::to_string(descriptor)) {
    while (!content.empty()) {
      ssize_t done = write(descriptor, content.data(), content.size());
      expect(done > 0, "to write a file in memory");
      content.remove_prefix(static_cast<size_t>(done));
    }
  }
  ~MemoryFile() { close(descriptor); }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  const std::string &path() const { return place; }

private:
  int descriptor;
  std::string place;
};

/// A folder of its own, gone with the process.
class Scratch {
public:
  Scratch() {
    std::string name =
        (std::filesystem::temp_directory_path() / "tfc-fuzz-XXXXXX").string();
    expect(mkdtemp(name.data()) != nullptr, "a folder for scratch", name);
    path = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

inline void put(const std::filesystem::path &path, std::string_view text) {
  if (text.empty()) {
    std::filesystem::remove(path);
    return;
  }
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  expect(stream.good(), "to write", path.string());
}

} // namespace tfc::fuzz

#endif // TFC_TEST_FUZZ_FUZZ_H
