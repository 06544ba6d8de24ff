// A thread that wakes when it was silent for too long.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/SilenceLimit.h"

#include <cstdio>
#include <unistd.h>

namespace tfc::run {

SilenceLimit::SilenceLimit(double seconds) : limit(seconds) {
  if (seconds > 0) {
    watcher = std::thread([this] { watch(); });
  }
}

SilenceLimit::~SilenceLimit() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isOver = true;
  }
  changed.notify_all();
  if (watcher.joinable()) {
    watcher.join();
  }
}

void SilenceLimit::hear(const std::string &what) {
  std::lock_guard<std::mutex> lock(mutex);
  last = what;
  ++numHeard;
  isWaiting = true;
  changed.notify_all();
}

void SilenceLimit::pause() {
  std::lock_guard<std::mutex> lock(mutex);
  isWaiting = false;
  changed.notify_all();
}

void SilenceLimit::watch() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!isOver) {
    uint64_t heard = numHeard;
    if (!isWaiting) {
      changed.wait(lock);
    } else if (!changed.wait_for(lock, limit, [&] {
                 return isOver || !isWaiting || numHeard != heard;
               })) {
      std::printf("WRONG: nothing for %g s behind %s; the process ends\n",
                  limit.count(), last.c_str());
      std::fflush(stdout);
      // Nobody could wait for the device's threads.
      _exit(1);
    }
  }
}

} // namespace tfc::run
