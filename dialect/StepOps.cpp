// Outputs and taps: verifiers and effects.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/EffectUtils.h"
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tfc::transformer;

BlockArgument tfc::transformer::findArgument(FunctionOpInterface function,
                                             StringRef attribute) {
  for (BlockArgument argument : function.getArguments()) {
    if (function.getArgAttr(argument.getArgNumber(), attribute)) {
      return argument;
    }
  }
  return {};
}

FunctionOpInterface tfc::transformer::findRole(Operation *module, RoleKind kind,
                                               StringRef entry) {
  for (Operation &op : module->getRegion(0).front()) {
    auto role = op.getAttrOfType<RoleAttr>(kRoleAttrName);
    if (role && role.getKind() == kind &&
        (!role.getEntry() || role.getEntry().getValue() == entry)) {
      return cast<FunctionOpInterface>(op);
    }
  }
  return {};
}

//===-- tap ---------------------------------------------------------------===//

void TapOp::getEffects(Effects &effects) {
  addRead(getValueMutable(), effects);
  effects.emplace_back(MemoryEffects::Write::get(), HostResource::get());
}

//===-- output ------------------------------------------------------------===//

/// Beside those of its body: without it an output would be dead code.
void OutputOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), HostResource::get());
}

LogicalResult OutputOp::verify() {
  // output_c1
  auto yield = dyn_cast<YieldOp>(getBody().front().back());
  if (!yield) {
    return emitOpError() << "expected the region to end with transformer.yield";
  }
  if (!isa<RankedTensorType>(yield.getValue().getType())) {
    return emitOpError() << "expected the region to yield rows, got "
                         << yield.getValue().getType();
  }
  // output_c2
  if (getSqueezed() &&
      failed(expectSize(*this, "a value of width", widthOf(yield.getValue()), 1,
                        "the output is squeezed"))) {
    return failure();
  }
  // output_c3
  auto entry = dyn_cast<FunctionOpInterface>((*this)->getParentOp());
  if (!entry) {
    return emitOpError() << "expected to be directly in an entry function";
  }
  for (auto other : entry.getFunctionBody().getOps<OutputOp>()) {
    if (other != *this && other.getName() == getName()) {
      return emitOpError() << "expected one output named \"" << getName()
                           << "\", got another";
    }
  }
  return success();
}
