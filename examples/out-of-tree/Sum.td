// A dialect with one op, the sum of three streams of rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sum_Dialect : Dialect {
  let name = "sum";
  let cppNamespace = "::sum";
}

def Sum_ThreeOp : Op<Sum_Dialect, "three", [Pure, SameOperandsAndResultType]> {
  let summary = "the sum of three streams of rows";
  let description = [{
    `y = (a + b) + c`, element by element: one pass over memory, where two
    `transformer.add` are two.

    Shapes: `[T, W]` each.
  }];
  let arguments = (ins AnyRankedTensor:$a, AnyRankedTensor:$b,
                       AnyRankedTensor:$c);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict `:` type($result)";
}
