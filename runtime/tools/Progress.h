// What a tool does, while it takes its time: one line on standard error.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_PROGRESS_H
#define TFC_RUNTIME_TOOLS_PROGRESS_H

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace tfc::tools {

/// Auto: what takes more than a second, where standard error is a terminal that
/// can erase a line. Always: everything, also into a file.
enum class ShowProgress { Auto, Always, Never };

/// "auto", "always", "never". False, and no change, for another word.
bool parseProgress(const std::string &word, ShowProgress &to);

/// A phase, from construction to destruction. On a terminal its name and the
/// seconds so far are a line that is gone with it, faint unless NO_COLOR is
/// set; in a file its name and, with the end, its seconds are lines that stay.
/// Nobody else may write to standard error meanwhile.
class Progress {
public:
  /// `phase` must live as long.
  Progress(ShowProgress when, const char *phase);
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

private:
  using Clock = std::chrono::steady_clock;

  void update();
  void show(Clock::duration sofar) const;

  const char *phase;
  const Clock::time_point start = Clock::now();
  bool isTerminal = false, isShown = false, isImmediate = false;
  bool isOver = false; // under the mutex
  std::mutex mutex;
  std::condition_variable over;
  std::thread thread; // of a terminal's line
};

} // namespace tfc::tools

#endif // TFC_RUNTIME_TOOLS_PROGRESS_H
