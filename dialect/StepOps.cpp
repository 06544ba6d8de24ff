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

/// Whether two outputs are parts of one port.
static bool arePartsOfOne(OutputOp a, OutputOp b) {
  auto typeOf = [](OutputOp op) {
    auto yield = dyn_cast<YieldOp>(op.getBody().front().back());
    return yield ? yield.getValue().getType() : Type();
  };
  return a.getParts() && a.getParts() == b.getParts() &&
         a.getRows() == b.getRows() && a.getTake() == b.getTake() &&
         typeOf(a) == typeOf(b);
}

static LogicalResult verifyPlace(OutputOp op) {
  // output_c3
  auto entry = op.getParts() ? op->getParentOfType<FunctionOpInterface>()
                             : dyn_cast<FunctionOpInterface>(op->getParentOp());
  if (!entry) {
    return op.emitOpError() << "expected to be directly in an entry function";
  }
  WalkResult result = entry->walk([&](OutputOp other) {
    bool isOther = other != op && other.getName() == op.getName();
    return isOther && !arePartsOfOne(op, other) ? WalkResult::interrupt()
                                                : WalkResult::advance();
  });
  if (result.wasInterrupted()) {
    return op.emitOpError() << "expected one output named \"" << op.getName()
                            << "\", got another";
  }
  return success();
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
  // output_c4
  if (bool(getPart()) != getParts().has_value()) {
    return emitOpError() << "expected a part and the number of parts, or "
                            "neither";
  }
  return verifyPlace(*this);
}
