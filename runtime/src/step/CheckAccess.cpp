// What code of `tfc compile --sanitize=address` calls before it touches memory:
// in a runtime that is built with AddressSanitizer, and in no other.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/step/CheckAccess.h"

#include <atomic>
#include <cstdio>
#include <sanitizer/asan_interface.h>

namespace {
/// The numbers of dialect/CheckedAccess.h.
enum Kind : uint32_t { Read, Write, Poison, Unpoison, Layer, Op };

/// Of the process: layers of a step come one after the other, and with several
/// sessions at once the number may be another's.
std::atomic<int64_t> currentLayer{-1};
/// The op for which a function of kernels was called.
thread_local const char *currentOp = nullptr;
} // namespace

/// Where the access is not within memory that was lent: the op, its layer, and
/// AddressSanitizer's report, which ends the process.
[[noreturn]] static void report(const void *address, uint64_t size,
                                uint32_t kind, const char *name) {
  const char *op = name ? name : currentOp ? currentOp : "a kernel";
  int64_t layer = currentLayer;
  std::fflush(stdout);
  std::fprintf(stderr, "tfc: error: %s", op);
  if (layer >= 0) {
    std::fprintf(stderr, ", layer %lld of its loop",
                 static_cast<long long>(layer));
  }
  std::fprintf(stderr,
               ": expected accesses within a buffer, got a %s of %llu bytes "
               "that ends beyond one\n",
               kind == Write ? "write" : "read",
               static_cast<unsigned long long>(size));
  int here = 0;
  __asan_report_error(__builtin_return_address(0), __builtin_frame_address(0),
                      &here, const_cast<void *>(address), kind == Write, size);
  __builtin_trap();
}

void tfc_check_access(const void *address, uint64_t size, uint32_t kind,
                      const char *name) {
  auto *begin = const_cast<void *>(address);
  switch (kind) {
  case Read:
  case Write:
    if (void *bad = size ? __asan_region_is_poisoned(begin, size) : nullptr) {
      report(bad, size, kind, name);
    }
    return;
  case Poison:
    return __asan_poison_memory_region(begin, size);
  case Unpoison:
    currentLayer = -1;
    return __asan_unpoison_memory_region(begin, size);
  case Layer:
    currentLayer = static_cast<int64_t>(size);
    return;
  default:
    currentOp = name;
  }
}
