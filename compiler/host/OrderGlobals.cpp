// Constants of the module in an order that the model alone decides.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"

namespace tfc {
#define GEN_PASS_DEF_ORDERGLOBALSPASS
#include "compiler/host/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

namespace {
struct OrderGlobalsPass : tfc::impl::OrderGlobalsPassBase<OrderGlobalsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    // By first use; the uses of each are renamed once all are known. What is in
    // a module of kernels means that module's own constants.
    llvm::MapVector<StringAttr, SmallVector<memref::GetGlobalOp>> uses;
    module.walk([&](memref::GetGlobalOp op) {
      if (SymbolTable::getNearestSymbolTable(op) == module) {
        uses[op.getNameAttr().getAttr()].push_back(op);
      }
    });
    Block &body = *module.getBody();
    Block::iterator place = body.begin();
    for (auto [number, entry] : llvm::enumerate(uses)) {
      auto global = symbols.lookup<memref::GlobalOp>(entry.first);
      std::string name = ("constant_" + Twine(number)).str();
      if (place == Block::iterator(global)) {
        ++place;
      } else {
        global->moveBefore(&body, place);
      }
      global.setSymName(name);
      ++numGlobals;
      for (memref::GetGlobalOp op : entry.second) {
        op.setName(name);
      }
    }
  }
};
} // namespace
