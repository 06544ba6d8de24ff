// Functions of layers, and the calls that their entry has of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/LayerFunctions.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tfc::transformer;

StringRef tfc::transformer::entryNameOf(func::FuncOp function) {
  auto entry = function->getAttrOfType<FlatSymbolRefAttr>(kLayersOfAttrName);
  return entry ? entry.getValue() : function.getName();
}

static LogicalResult check(const LayerCall &layers, func::FuncOp entry,
                           bool isFirst) {
  func::CallOp call = layers.call;
  if (isFirst && call->getParentOp() == entry &&
      entryNameOf(layers.function) == entry.getName()) {
    return success();
  }
  return call.emitOpError()
         << "expected one call of a function of layers, at the top of the "
            "entry that its attribute '"
         << kLayersOfAttrName << "' names, got another";
}

FailureOr<SmallVector<LayerCall>>
tfc::transformer::listLayerCalls(func::FuncOp entry) {
  SmallVector<LayerCall> calls;
  llvm::DenseSet<Operation *> seen;
  SymbolTable symbols(entry->getParentOp());
  WalkResult result = entry.walk([&](func::CallOp call) -> WalkResult {
    auto function = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!function || !isOfLayers(function)) {
      return WalkResult::advance();
    }
    calls.push_back({function, call});
    return check(calls.back(), entry, seen.insert(function).second);
  });
  if (result.wasInterrupted()) {
    return failure();
  }
  return calls;
}

FailureOr<BlockArgument> tfc::transformer::addArgument(const LayerCall &layers,
                                                       Value value,
                                                       StringRef attribute) {
  func::FuncOp function = layers.function;
  func::CallOp call = layers.call;
  Builder builder(function.getContext());
  unsigned index = function.getNumArguments();
  DictionaryAttr marked = builder.getDictionaryAttr(
      builder.getNamedAttr(attribute, builder.getUnitAttr()));
  if (failed(function.insertArgument(index, value.getType(), marked,
                                     function.getLoc()))) {
    return failure();
  }
  call.getOperandsMutable().append(value);
  return function.getArgument(index);
}

LogicalResult tfc::transformer::eraseArguments(const LayerCall &layers,
                                               const llvm::BitVector &erased) {
  func::FuncOp function = layers.function;
  func::CallOp call = layers.call;
  call->eraseOperands(erased);
  return function.eraseArguments(erased);
}
