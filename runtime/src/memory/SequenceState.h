// The state of a sequence, in models whose layers keep one: a block of its own
// that a step reads, and another that it writes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_MEMORY_SEQUENCESTATE_H
#define TFC_RUNTIME_SRC_MEMORY_SEQUENCESTATE_H

#include "runtime/src/memory/Cache.h"

namespace tfc::rt {

/// Of all tokens that the sequence had before the step, and of those behind it;
/// none or one block each. In models without states both stay empty.
struct SequenceState {
  BlockTable now, next;

  /// Gives the step a block to write, once. Errors: those of BlockCache::grow.
  Status prepare(BlockCache &states) { return states.grow(next, 1); }
  /// The step has been: what it wrote is what there is. Cannot fail.
  void advance(BlockCache &states) {
    if (!next.empty()) {
      states.release(now);
      now.swap(next);
    }
  }
  /// Goes on from where `other` is. Takes no block; fails for want of memory
  /// alone, not where `now` has room.
  void follow(BlockCache &states, const SequenceState &other) {
    states.share(other.now, now);
  }
  void release(BlockCache &states) {
    states.release(now);
    states.release(next);
  }
  void swap(SequenceState &other) {
    now.swap(other.now);
    next.swap(other.next);
  }
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_MEMORY_SEQUENCESTATE_H
