// Ends the process when a device says nothing for too long: a kernel that does
// not end cannot be stopped in another way.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_SILENCELIMIT_H
#define TFC_RUNTIME_TOOLS_SILENCELIMIT_H

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace tfc::run {

/// Its functions are safe from any thread.
class SilenceLimit {
public:
  /// 0 seconds: no limit.
  explicit SilenceLimit(double seconds);
  ~SilenceLimit();
  SilenceLimit(const SilenceLimit &) = delete;
  SilenceLimit &operator=(const SilenceLimit &) = delete;

  /// Something was heard, and waited for is what comes behind `what`. After so
  /// many seconds without another call, or pause, a line on standard output
  /// says so, and the process ends with exit status 1.
  void hear(const std::string &what);
  /// Nothing is waited for until the next hear.
  void pause();

private:
  void watch();

  std::chrono::duration<double> limit;
  std::mutex mutex;
  std::condition_variable changed;
  std::string last;
  uint64_t numHeard = 0;
  bool isWaiting = false, isOver = false;
  std::thread watcher;
};

} // namespace tfc::run

#endif // TFC_RUNTIME_TOOLS_SILENCELIMIT_H
