// A handler of SIGBUS. It may use nothing that allocates or locks: the thread
// that it interrupts may be in the middle of that.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/LostFiles.h"

#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace tfc::tools {

namespace {

const char *toolName = "";
struct sigaction previous;

void say(const char *text) {
  ssize_t ignored = write(STDERR_FILENO, text, std::strlen(text));
  (void)ignored;
}

/// Lines of /proc/self/maps, one at a time, without allocating.
class MapLines {
public:
  MapLines() : descriptor(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}

  /// The next line, cut where it is too long; null at the end.
  const char *next() {
    size_t length = 0;
    char c;
    while (descriptor >= 0 && take(c)) {
      if (c == '\n') {
        line[length] = '\0';
        return line;
      }
      line[length] = c;
      length += length + 1 < sizeof(line) ? 1 : 0;
    }
    return nullptr;
  }

private:
  bool take(char &c) {
    if (begin == end) {
      ssize_t got = read(descriptor, buffer, sizeof(buffer));
      begin = 0;
      end = got > 0 ? static_cast<size_t>(got) : 0;
    }
    c = begin < end ? buffer[begin] : '\0';
    return begin++ < end;
  }

  int descriptor;
  size_t begin = 0, end = 0;
  char buffer[1024], line[4096 + 128];
};

/// Reads a hexadecimal number and steps behind it.
uintptr_t readHex(const char *&text) {
  uintptr_t value = 0;
  for (;; ++text) {
    char c = *text;
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                       : -1;
    if (digit < 0) {
      return value;
    }
    value = value << 4 | static_cast<uintptr_t>(digit);
  }
}

/// The path in a line of maps whose addresses hold this one, else null.
const char *pathIn(const char *line, uintptr_t address) {
  uintptr_t begin = readHex(line);
  if (*line++ != '-') {
    return nullptr;
  }
  uintptr_t end = readHex(line);
  return begin <= address && address < end ? std::strchr(line, '/') : nullptr;
}

void handle(int number, siginfo_t *info, void *) {
  uintptr_t address = reinterpret_cast<uintptr_t>(info->si_addr);
  MapLines lines;
  while (const char *line =
             info->si_code == BUS_ADRERR ? lines.next() : nullptr) {
    if (const char *path = pathIn(line, address)) {
      say(toolName);
      say(": error: ");
      say(path);
      say(": expected a file that stays as it is while it is in use, got one "
          "that became shorter\n");
      _exit(1);
    }
  }
  // Not a file: the signal comes again, to whoever had it before.
  sigaction(number, &previous, nullptr);
}

} // namespace

void reportLostFiles(const char *tool) {
  toolName = tool;
  struct sigaction action{};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &previous);
}

} // namespace tfc::tools
