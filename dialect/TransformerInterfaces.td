// What passes may know of an op without its name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_TRANSFORMERINTERFACES
#define TFC_DIALECT_TRANSFORMERINTERFACES

include "mlir/IR/OpBase.td"

def Transformer_KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::tfc::transformer";
  let description = [{
    An op that a code generator expands as a whole, by the tile that it was
    given: what tiling has to say of it is an attribute, not a loop.
  }];
  let methods = [
    InterfaceMethod<"The bits of an element of its weights, as they are kept.",
                    "int64_t", "getWeightBits", (ins)>,
    InterfaceMethod<"Whether all that it multiplies is kept in bf16.", "bool",
                    "hasNarrowFactors", (ins)>,
    InterfaceMethod<"Whether all that it multiplies is integers.", "bool",
                    "hasIntegerFactors", (ins)>,
    InterfaceMethod<"Whether it has been given a tile.", "bool",
                    "hasKernelTile", (ins)>,
    InterfaceMethod<"Gives the op its tile.", "void", "setKernelTile",
                    (ins "::tfc::transformer::ProductTileAttr":$tile)>,
  ];
}

#endif // TFC_DIALECT_TRANSFORMERINTERFACES
