// A function of glibc 2.36 that the static C++ library asks for, for systems
// whose glibc is older. Linked into what is shipped, and seen by nobody else.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

extern "C" __attribute__((visibility("hidden"))) uint32_t
arc4random() noexcept {
  uint32_t number = 0;
  // Four bytes come at once or, before the system has any, not at all.
  if (getrandom(&number, sizeof(number), 0) != sizeof(number)) {
    abort(); // as that one does: nothing may go on with a number that is none
  }
  return number;
}
