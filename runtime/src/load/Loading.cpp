// Counts what a load has done and tells the caller.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/Loading.h"

#include "runtime/src/CallOut.h"

namespace tfc::rt {

void Loading::expect(uint64_t bytes) {
  total += bytes;
  tell();
}

void Loading::add(uint64_t bytes) {
  done.fetch_add(bytes, std::memory_order_relaxed);
  if (std::this_thread::get_id() == owner) {
    tell();
  }
}

void Loading::tell() {
  if (!report || isCancelled()) {
    return;
  }
  told = done.load(std::memory_order_relaxed);
  hasTold = true;
  if (callOut("progress", [&] { return report(user, told, total) != 0; })) {
    hasCancelled.store(true, std::memory_order_relaxed);
  }
}

Status Loading::status() const {
  return isCancelled()
             ? makeError(Code::Cancelled, "stopped by the caller (progress)")
             : Status();
}

Status Loading::finish() {
  if (!hasTold || told != total) {
    done.store(total, std::memory_order_relaxed);
    tell();
  }
  return status();
}

} // namespace tfc::rt
