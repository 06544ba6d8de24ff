// Shows phases, a line that a thread renews every second.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/Progress.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <unistd.h>

namespace tfc::tools {

using namespace std::chrono_literals;

static bool isSet(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value != '\0';
}

/// Whether a line can be erased.
static bool isCapable() {
  const char *kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) && kind && std::strcmp(kind, "dumb") != 0;
}

bool parseProgress(const std::string &word, ShowProgress &to) {
  static const std::pair<const char *, ShowProgress> words[] = {
      {"auto", ShowProgress::Auto},
      {"always", ShowProgress::Always},
      {"never", ShowProgress::Never}};
  for (const auto &[name, value] : words) {
    if (word == name) {
      to = value;
      return true;
    }
  }
  return false;
}

Progress::Progress(ShowProgress when, const char *phase)
    : phase(phase), isTerminal(isCapable()),
      isImmediate(when == ShowProgress::Always) {
  if (when == ShowProgress::Never || (!isTerminal && !isImmediate)) {
    return;
  }
  isShown = isImmediate;
  if (!isTerminal) {
    std::fprintf(stderr, "%s\n", phase);
    return;
  }
  if (isImmediate) {
    show(0s);
  }
  try {
    thread = std::thread([this] { update(); });
  } catch (const std::system_error &) {
    // No thread, no line.
  }
}

void Progress::show(Clock::duration sofar) const {
  const char *faint = isSet("NO_COLOR") ? "" : "\x1b[2m";
  const char *plain = isSet("NO_COLOR") ? "" : "\x1b[0m";
  std::fprintf(stderr, "\r\x1b[K%s%s %lld s%s", faint, phase,
               static_cast<long long>(sofar / 1s), plain);
  std::fflush(stderr);
}

void Progress::update() {
  std::unique_lock<std::mutex> lock(mutex);
  Clock::time_point next = start + 1s;
  while (!isOver) {
    Clock::time_point now = Clock::now();
    if (now >= next) {
      show(now - start);
      isShown = true;
      next += 1s;
    }
    over.wait_until(lock, next, [this] { return isOver; });
  }
}

Progress::~Progress() {
  if (thread.joinable()) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      isOver = true;
    }
    over.notify_all();
    thread.join();
  }
  if (isShown && isTerminal) {
    std::fputs("\r\x1b[K", stderr);
  } else if (isShown) {
    std::chrono::duration<double> seconds = Clock::now() - start;
    std::fprintf(stderr, "%s: %.1f s\n", phase, seconds.count());
  }
}

} // namespace tfc::tools
