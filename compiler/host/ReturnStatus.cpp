// What a call of the host tells an entry ends it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/Passes.h"

#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {
#define GEN_PASS_DEF_RETURNSTATUSPASS
#include "compiler/host/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// The block of `function` that returns its argument.
static Block *addReturn(LLVM::LLVMFuncOp function) {
  ImplicitLocOpBuilder b(function.getLoc(), function.getContext());
  auto i32 = b.getI32Type();
  Block *block = b.createBlock(&function.getBody(), function.getBody().end(),
                               {i32}, {function.getLoc()});
  LLVM::ReturnOp::create(b, ValueRange{block->getArgument(0)});
  return block;
}

/// call; ... -> call; if (status != 0) goto stop(status); ...
static void checkStatus(LLVM::CallOp call, Block *stop) {
  Block *block = call->getBlock();
  Block *next = block->splitBlock(std::next(Block::iterator(call)));
  ImplicitLocOpBuilder b(call.getLoc(), call.getContext());
  b.setInsertionPointToEnd(block);
  Value status = call.getResult();
  Value zero = LLVM::ConstantOp::create(b, b.getI32Type(), 0);
  Value stops = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, status, zero);
  LLVM::CondBrOp::create(b, stops, stop, ValueRange{status}, next, ValueRange{},
                         std::make_pair<int32_t, int32_t>(1, 2000));
  call->removeAttr(transformer::kStatusAttrName);
}

namespace {
struct ReturnStatusPass : tfc::impl::ReturnStatusPassBase<ReturnStatusPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      SmallVector<LLVM::CallOp> calls;
      function.walk([&](LLVM::CallOp call) {
        if (call->hasAttr(transformer::kStatusAttrName)) {
          calls.push_back(call);
        }
      });
      if (calls.empty()) {
        continue;
      }
      auto i32 = IntegerType::get(&getContext(), 32);
      bool returnsStatus = function.getFunctionType().getReturnType() == i32;
      for (LLVM::CallOp call : calls) {
        if (!returnsStatus || call->getResultTypes() != TypeRange{i32}) {
          call.emitOpError() << "expected a call that returns i32, in a "
                                "function that does";
          return signalPassFailure();
        }
      }
      Block *stop = addReturn(function);
      for (LLVM::CallOp call : calls) {
        checkStatus(call, stop);
        ++numCalls;
      }
    }
  }
};
} // namespace
