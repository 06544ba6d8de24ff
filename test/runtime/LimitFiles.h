// A disk that is full: files beyond a size cannot be written by this process.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_RUNTIME_LIMITFILES_H
#define TFC_TEST_RUNTIME_LIMITFILES_H

#include <csignal>
#include <sys/resource.h>

namespace tfc::rt::test {

/// Holds while it lives. What does not fit fails with EFBIG.
class LimitFiles {
public:
  explicit LimitFiles(rlim_t bytes) : handler(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old);
    rlimit limit{bytes, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~LimitFiles() {
    setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, handler);
  }
  LimitFiles(const LimitFiles &) = delete;
  LimitFiles &operator=(const LimitFiles &) = delete;

private:
  void (*handler)(int);
  rlimit old{};
};

} // namespace tfc::rt::test

#endif // TFC_TEST_RUNTIME_LIMITFILES_H
