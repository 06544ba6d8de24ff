// Every load and store of a module that says so asks the host first.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/Passes.h"

#include "dialect/CheckedAccess.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tfc {
#define GEN_PASS_DEF_CHECKACCESSESPASS
#include "compiler/emit/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;
using transformer::AccessKind;

namespace {
struct CheckAccessesPass : tfc::impl::CheckAccessesPassBase<CheckAccessesPass> {
  using Base::Base;
  void runOnOperation() override;

private:
  void declare();
  void checkFunction(LLVM::LLVMFuncOp function);
  void check(Operation *op);
  /// A masked access is one of the lanes from the first to the last that is on.
  void checkMasked(ImplicitLocOpBuilder &b, Value pointer, Value mask,
                   VectorType type, AccessKind kind);
  /// The host's check, with the path of the builder's location.
  void call(ImplicitLocOpBuilder &b, Value pointer, Value size,
            AccessKind kind);
  Value constant(ImplicitLocOpBuilder &b, Type type, int64_t value) {
    return LLVM::ConstantOp::create(b, type, b.getIntegerAttr(type, value));
  }
  /// Bytes that an access has. A vector's are those of its lanes: in memory it
  /// may have more, up to a power of two, which nobody touches.
  Value sizeOf(ImplicitLocOpBuilder &b, Type type) {
    auto vector = dyn_cast<VectorType>(type);
    uint64_t bytes = vector ? layout->getTypeSize(vector.getElementType()) *
                                  static_cast<uint64_t>(vector.getNumElements())
                            : layout->getTypeSize(type).getFixedValue();
    return constant(b, b.getI64Type(), static_cast<int64_t>(bytes));
  }
  /// The op's path as text that the host may print.
  Value nameOf(ImplicitLocOpBuilder &b, Location loc);

  LLVM::LLVMFuncOp callee;
  llvm::StringMap<LLVM::GlobalOp> names;
  const DataLayout *layout = nullptr;
};
} // namespace

/// The path that passes keep; "" of what no op of the model became.
static StringRef pathOf(Location loc) {
  auto name = loc->findInstanceOf<NameLoc>();
  return name ? name.getName().getValue() : "";
}

/// Whether an address is of the function's stack or of the library's constants.
static bool isOwn(Value pointer) {
  while (auto step = pointer.getDefiningOp<LLVM::GEPOp>()) {
    pointer = step.getBase();
  }
  Operation *root = pointer.getDefiningOp();
  return isa_and_nonnull<LLVM::AllocaOp, LLVM::AddressOfOp>(root);
}

void CheckAccessesPass::declare() {
  MLIRContext *context = &getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  OpBuilder b(context);
  if ((callee = getOperation().lookupSymbol<LLVM::LLVMFuncOp>(
           transformer::kCheckAccessName))) {
    return;
  }
  b.setInsertionPointToStart(getOperation().getBody());
  callee = LLVM::LLVMFuncOp::create(
      b, getOperation().getLoc(), transformer::kCheckAccessName,
      LLVM::LLVMFunctionType::get(
          LLVM::LLVMVoidType::get(context),
          {pointer, b.getI64Type(), b.getI32Type(), pointer}));
}

Value CheckAccessesPass::nameOf(ImplicitLocOpBuilder &b, Location loc) {
  auto pointer = LLVM::LLVMPointerType::get(&getContext());
  StringRef path = pathOf(loc);
  if (path.empty()) {
    return LLVM::ZeroOp::create(b, pointer);
  }
  LLVM::GlobalOp &global = names[path];
  if (!global) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(getOperation().getBody());
    std::string text = path.str() + '\0';
    global = LLVM::GlobalOp::create(
        b, LLVM::LLVMArrayType::get(b.getI8Type(), text.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal,
        ("name_" + Twine(names.size())).str(), b.getStringAttr(text));
  }
  return LLVM::AddressOfOp::create(b, pointer, global.getSymName());
}

void CheckAccessesPass::call(ImplicitLocOpBuilder &b, Value pointer, Value size,
                             AccessKind kind) {
  Value name = nameOf(b, b.getLoc());
  Value number = constant(b, b.getI32Type(), static_cast<int64_t>(kind));
  LLVM::CallOp::create(b, callee, ValueRange{pointer, size, number, name});
  ++numChecks;
}

void CheckAccessesPass::checkMasked(ImplicitLocOpBuilder &b, Value pointer,
                                    Value mask, VectorType type,
                                    AccessKind kind) {
  int64_t lanes = type.getNumElements();
  Type bits = b.getIntegerType(static_cast<unsigned>(lanes));
  Type i64 = b.getI64Type();
  Value narrow = LLVM::BitcastOp::create(b, bits, mask);
  Value set =
      lanes < 64 ? LLVM::ZExtOp::create(b, i64, narrow).getResult() : narrow;
  // Of no lane the first is the 64th, and the size 0.
  Value first =
      LLVM::CountTrailingZerosOp::create(b, i64, set, /*is_zero_poison=*/false);
  Value above =
      LLVM::CountLeadingZerosOp::create(b, i64, set, /*is_zero_poison=*/false);
  Value end = LLVM::SubOp::create(b, constant(b, i64, 64), above);
  Value most = LLVM::SMaxOp::create(b, end, first);
  Value count = LLVM::SubOp::create(b, most, first);
  Value bytes = LLVM::MulOp::create(b, count, sizeOf(b, type.getElementType()));
  Value at = LLVM::GEPOp::create(b, pointer.getType(), type.getElementType(),
                                 pointer, ArrayRef<LLVM::GEPArg>{first});
  call(b, at, bytes, kind);
}

void CheckAccessesPass::check(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](LLVM::LoadOp load) {
        if (!isOwn(load.getAddr())) {
          call(b, load.getAddr(), sizeOf(b, load.getType()), AccessKind::Read);
        }
      })
      .Case([&](LLVM::StoreOp store) {
        if (!isOwn(store.getAddr())) {
          call(b, store.getAddr(), sizeOf(b, store.getValue().getType()),
               AccessKind::Write);
        }
      })
      .Case([&](LLVM::MaskedLoadOp load) {
        checkMasked(b, load.getData(), load.getMask(),
                    cast<VectorType>(load.getType()), AccessKind::Read);
      })
      .Case([&](LLVM::MaskedStoreOp store) {
        checkMasked(b, store.getData(), store.getMask(),
                    cast<VectorType>(store.getValue().getType()),
                    AccessKind::Write);
      })
      .Case<LLVM::MemcpyOp, LLVM::MemmoveOp>([&](auto copy) {
        call(b, copy.getSrc(), copy.getLen(), AccessKind::Read);
        call(b, copy.getDst(), copy.getLen(), AccessKind::Write);
      })
      .Case([&](LLVM::MemsetOp set) {
        call(b, set.getDst(), set.getLen(), AccessKind::Write);
      })
      .Case([&](LLVM::CallOp kernel) {
        // Kernels that several ops share do not know for whom they are.
        if (kernel.getCallee() && !pathOf(op->getLoc()).empty() &&
            *kernel.getCallee() != transformer::kCheckAccessName) {
          Value none =
              LLVM::ZeroOp::create(b, callee.getArgumentTypes().front());
          call(b, none, constant(b, b.getI64Type(), 0), AccessKind::Op);
        }
      });
}

void CheckAccessesPass::checkFunction(LLVM::LLVMFuncOp function) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) { ops.push_back(op); });
  llvm::for_each(ops, [&](Operation *op) { check(op); });
}

void CheckAccessesPass::runOnOperation() {
  ModuleOp module = getOperation();
  if (!module->hasAttr(transformer::kCheckedAttrName)) {
    return;
  }
  module->removeAttr(transformer::kCheckedAttrName);
  DataLayout dataLayout(module);
  layout = &dataLayout;
  declare();
  for (auto function : llvm::to_vector(module.getOps<LLVM::LLVMFuncOp>())) {
    if (!function.isExternal()) {
      checkFunction(function);
    }
  }
  names.clear();
}
