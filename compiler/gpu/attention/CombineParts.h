// What the parts of an item have, put together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_ATTENTION_COMBINEPARTS_H
#define TFC_COMPILER_GPU_ATTENTION_COMBINEPARTS_H

#include "compiler/gpu/attention/AttentionParts.h"

namespace tfc {

/// Emits a parallel loop that writes the rows of items of several parts; others
/// it leaves. A block has a head of keys of an item, and a thread of it four
/// columns of a row at a time, of which it adds up the parts in their order.
class CombineParts {
public:
  CombineParts(AttentionBlock &block, AttentionParts &parts)
      : block(block), parts(parts), k(block.k), b(block.b) {}

  void emit();

private:
  void emitColumns(const FragmentRow &row, mlir::Value number,
                   mlir::Value column);

  AttentionBlock &block;
  AttentionParts &parts;
  KernelBuilder &k;
  mlir::ImplicitLocOpBuilder &b;
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_ATTENTION_COMBINEPARTS_H
