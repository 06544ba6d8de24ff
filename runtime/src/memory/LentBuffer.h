// Memory that compiled code writes to, and a guard behind it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_MEMORY_LENTBUFFER_H
#define TFC_RUNTIME_SRC_MEMORY_LENTBUFFER_H

#include "runtime/src/memory/Memory.h"

namespace tfc::rt {

/// A buffer that grows. Behind the bytes that were asked for lie some of known
/// values: compiled code checks nothing, and what it writes too far would
/// change other memory in silence.
class LentBuffer {
public:
  /// Makes `bytes` bytes usable, of undefined content, and puts the guard
  /// behind them. Errors: Exhausted, and the buffer is empty.
  Status lend(uint64_t bytes);
  /// Whether nobody has written to the guard since.
  bool isIntact() const;

  /// Never null once something has been lent, were it 0 bytes.
  uint8_t *data() const { return memory.data(); }
  uint64_t lentBytes() const { return lent; }

private:
  Mapping memory;
  uint64_t lent = 0;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_MEMORY_LENTBUFFER_H
