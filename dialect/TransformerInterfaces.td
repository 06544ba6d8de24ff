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

def Transformer_SharedColumnsOpInterface
    : OpInterface<"SharedColumnsOpInterface"> {
  let cppNamespace = "::tfc::transformer";
  let description = [{
    An op of rows that several ranks can share by columns: of each of equal parts
    of the result's columns it is known which parts of the operands it is
    computed from. Unless the op says otherwise these are the same columns of all
    rows, and the same elements of vectors as long as a row.
  }];
  let methods = [
    InterfaceMethod<[{
      Into how many equal parts each operand is cut where the result is cut into
      `parts`: as many, or fewer of which several ranks have the same, 1 being
      all of it. Vectors, and matrices that are no rows, are cut by their first
      axis. Fails where the op cannot be shared, and says why, behind its name.
    }],
      "::mlir::LogicalResult", "shareOperands",
      (ins "int64_t":$parts, "::llvm::SmallVectorImpl<int64_t> &":$operands,
           "std::string &":$why),
      /*methodBody=*/"", /*defaultImplementation=*/[{
        return ::tfc::transformer::detail::shareElements(
            $_op.getOperation(), parts, operands, why);
      }]>,
    InterfaceMethod<[{
      Makes the op one of a part: what it says of its columns in attributes.
    }],
      "void", "takeShare", (ins "int64_t":$parts),
      /*methodBody=*/"", /*defaultImplementation=*/"(void)parts;">,
  ];
}

#endif // TFC_DIALECT_TRANSFORMERINTERFACES
