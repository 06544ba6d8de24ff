// An entry function: its ports, and what a step lends it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/BuildEntry.h"

using namespace mlir;
using namespace tfc;

Value Entry::input(StringRef name) const {
  for (auto [index, port] : llvm::enumerate(ports)) {
    if (port.name == name) {
      return function->getRegion(0).getArgument(index);
    }
  }
  llvm_unreachable("ports are listed before the body is built");
}

Entry tfc::buildEntry(OpBuilder &builder, Location loc, StringRef name,
                      ArrayRef<Port> ports,
                      ArrayRef<transformer::CacheType> caches,
                      transformer::CacheType cross,
                      transformer::StateType state) {
  MLIRContext *context = builder.getContext();
  auto ids =
      RankedTensorType::get({ShapedType::kDynamic}, builder.getI32Type());
  SmallVector<Type> types;
  for (const Port &port : ports) {
    types.push_back(port.width == 0 ? ids
                                    : RankedTensorType::get(
                                          {ShapedType::kDynamic, port.width},
                                          builder.getF32Type()));
  }
  types.push_back(ids);
  types.push_back(transformer::BatchType::get(context));
  llvm::append_range(types, caches);
  for (Type type : {Type(cross), Type(state)}) {
    if (type) {
      types.push_back(type);
    }
  }
  Entry entry;
  entry.ports.assign(ports.begin(), ports.end());
  entry.function = func::FuncOp::create(builder, loc, name,
                                        builder.getFunctionType(types, {}));
  for (auto [index, port] : llvm::enumerate(ports)) {
    entry.function.setArgAttr(index, transformer::kInputAttrName,
                              transformer::InputAttr::get(context, port.name,
                                                          port.fill, port.limit,
                                                          port.width));
  }
  entry.function.setArgAttr(ports.size(), transformer::kRowsAttrName,
                            builder.getUnitAttr());
  Block *body = entry.function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  auto next = body->args_begin() + ports.size();
  entry.rows = *next++;
  entry.batch = *next++;
  for (size_t part = 0; part < caches.size(); ++part) {
    entry.caches.push_back(*next++);
  }
  entry.cross = cross ? Value(*next++) : Value();
  entry.state = state ? Value(*next++) : Value();
  return entry;
}
