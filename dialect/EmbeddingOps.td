// Table look-ups.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_EMBEDDINGOPS
#define TFC_DIALECT_EMBEDDINGOPS

include "dialect/TransformerBase.td"

def Transformer_EmbeddingOp : Transformer_ValueOp<"embedding"> {
  let summary = "the table's row of each id";
  let description = [{
    `y[t,:] = table[ids[t] + offset, :]`; with `optional`, a negative id gives
    a row of zeros. Ids are in range: the host has checked them against the
    port's limit. Tokens, positions and segments are all this op.

    ```mlir
    %y = transformer.embedding %ids, %table
           : tensor<?xi32>, tensor<97x104xf32>
    ```

    Shapes: ids `[T]`, table `[rows, W]`, result `[T, W]`.

    Constraints:
    * C1. offset is at least 0 and less than the rows of the table.
  }];
  let arguments = (ins Transformer_Ids:$ids, Transformer_Matrix:$table,
                       DefaultValuedAttr<I64Attr, "0">:$offset,
                       UnitAttr:$optional);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $ids `,` $table (`optional` $optional^)? attr-dict `:` type(operands)
  }];
}

#endif // TFC_DIALECT_EMBEDDINGOPS
