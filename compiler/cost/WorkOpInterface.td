// What an op does in a step, where linalg cannot say it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_COST_WORKOPINTERFACE
#define TFC_COMPILER_COST_WORKOPINTERFACE

include "mlir/IR/OpBase.td"

def WorkOpInterface : OpInterface<"WorkOpInterface"> {
  let cppNamespace = "::tfc::cost";
  let description = [{
    An op whose floating-point operations, and whose traffic beside its tensor
    operands and results, follow from the sizes of a step.
  }];
  let methods = [
    InterfaceMethod<[{
      Its operations, and the bytes that it reads and writes where no operand
      and no result shows them: those of a cache. Nothing where the sizes of
      its operands do not follow from the step.
    }], "std::optional<::tfc::cost::Work>", "getWork",
    (ins "const ::tfc::cost::StepSizes &":$sizes)>,
    InterfaceMethod<[{
      The bytes of an operand that are needed: fewer than it has where a layout
      pads it.
    }], "std::optional<double>", "getOperandBytes",
    (ins "::mlir::OpOperand &":$operand,
         "const ::tfc::cost::StepSizes &":$sizes), "", [{
      return sizes.bytes(operand.get());
    }]>,
  ];
}

#endif // TFC_COMPILER_COST_WORKOPINTERFACE
