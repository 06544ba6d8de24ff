// Arguments become loads from the ABI's structs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/Passes.h"

#include "compiler/kernel/StepFields.h"
#include "dialect/LayerFunctions.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace tfc {
#define GEN_PASS_DEF_BINDSTEPPASS
#include "compiler/host/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// Memory whose end the host guards, not the library.
static Value unbounded(ImplicitLocOpBuilder &b) {
  return arith::ConstantIndexOp::create(b, std::numeric_limits<int64_t>::max());
}

/// Makes `function` one of a pointer, and of arguments of the types `others`,
/// that returns an i32: its own status, or 0 where it has none. Its former
/// arguments stay behind the pointer, and before the others, until they are
/// replaced.
static Value takePointer(func::FuncOp function, ArrayRef<Type> others = {}) {
  MLIRContext *context = function.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto i32 = IntegerType::get(context, 32);
  function.walk([&](func::ReturnOp op) {
    if (op.getNumOperands() != 0) {
      return;
    }
    OpBuilder builder(op);
    Value zero = arith::ConstantIntOp::create(builder, op.getLoc(), 0, 32);
    op.getOperandsMutable().assign(zero);
  });
  function.removeArgAttrsAttr();
  SmallVector<Type> types = {pointer};
  llvm::append_range(types, others);
  function.setType(FunctionType::get(context, types, i32));
  Block &body = function.getBody().front();
  for (Type type : others) {
    body.addArgument(type, function.getLoc());
  }
  return body.insertArgument(0u, pointer, function.getLoc());
}

static void replaceArguments(func::FuncOp function, ArrayRef<Value> values) {
  Block &body = function.getBody().front();
  auto former = body.getArguments().slice(1, values.size());
  for (auto [argument, value] : llvm::zip_equal(former, values)) {
    argument.replaceAllUsesWith(value);
  }
  body.eraseArguments(1, values.size());
}

/// The types and attributes of the arguments that takePointer takes.
static SmallVector<std::pair<Type, DictionaryAttr>>
listArguments(func::FuncOp function) {
  SmallVector<std::pair<Type, DictionaryAttr>> arguments;
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes())) {
    arguments.push_back({type, function.getArgAttrDict(number)});
  }
  return arguments;
}

namespace {

/// Reads what an entry, or its layers, are lent from the step.
class StepReader {
public:
  StepReader(func::FuncOp entry)
      : entry(entry), b(entry.getLoc(), entry.getContext()) {}

  /// Of all arguments of an entry.
  LogicalResult run() {
    auto arguments = listArguments(entry);
    step = takePointer(entry);
    b.setInsertionPointToStart(&entry.getBody().front());
    SmallVector<Value> values;
    for (auto [type, attribute] : arguments) {
      Value value = read(type, attribute);
      if (!value) {
        return entry.emitOpError()
               << "expected every argument to carry an attribute that says "
                  "where it is in the step, got none on argument "
               << values.size();
      }
      values.push_back(value);
    }
    replaceArguments(entry, values);
    entry->setAttr(transformer::kInputsAttrName, b.getArrayAttr(inputs));
    entry->setAttr(transformer::kOutputsAttrName, b.getArrayAttr(outputs));
    return success();
  }

  /// Of what a function of layers is lent. The rest stays: buffers as pointers,
  /// whose rows are the step's tokens.
  void runOnLayers(func::CallOp call);

private:
  Value field(int64_t offset) { return loadPointer(b, step, offset); }
  Value count(int64_t offset) { return loadIndex(b, step, offset, 64); }

  /// Element `index` of the array of pointers at `offset`.
  Value port(int64_t offset, size_t index) {
    return loadPointer(b, field(offset), index * sizeof(void *));
  }

  Value read(Type type, DictionaryAttr attribute) {
    if (!attribute) {
      return {};
    }
    auto memref = dyn_cast<MemRefType>(type);
    if (Attribute input = attribute.get(transformer::kInputAttrName)) {
      inputs.push_back(input);
      return buildMemRef(b, memref,
                         port(offsetof(tfc_step_v0, inputs), inputs.size() - 1),
                         count(offsetof(tfc_step_v0, n_tokens)));
    }
    if (attribute.get(transformer::kRowsAttrName)) {
      return buildMemRef(b, memref, field(offsetof(tfc_step_v0, rows)),
                         count(offsetof(tfc_step_v0, n_rows)));
    }
    if (auto output = attribute.getAs<transformer::OutputPortAttr>(
            transformer::kOutputAttrName)) {
      outputs.push_back(output);
      return buildMemRef(
          b, memref, port(offsetof(tfc_step_v0, outputs), outputs.size() - 1),
          count(output.getRows() == transformer::RowKind::Tokens
                    ? offsetof(tfc_step_v0, n_tokens)
                    : offsetof(tfc_step_v0, n_rows)));
    }
    if (attribute.get(transformer::kStepAttrName)) {
      return step;
    }
    if (attribute.get(transformer::kWeightsAttrName)) {
      return buildMemRef(b, memref, field(offsetof(tfc_step_v0, weights)),
                         unbounded(b));
    }
    if (attribute.get(transformer::kWorkspaceAttrName)) {
      return buildMemRef(b, memref, field(offsetof(tfc_step_v0, workspace)),
                         unbounded(b));
    }
    if (attribute.get(transformer::kWorkersAttrName)) {
      Value host = field(offsetof(tfc_step_v0, host));
      return loadIndex(b, host, offsetof(tfc_host_v0, n_workers), 32);
    }
    return {};
  }

  func::FuncOp entry;
  ImplicitLocOpBuilder b;
  Value step;
  SmallVector<Attribute> inputs, outputs;
};

} // namespace

static bool isLent(DictionaryAttr attribute) {
  return attribute && (attribute.contains(transformer::kStepAttrName) ||
                       attribute.contains(transformer::kWeightsAttrName) ||
                       attribute.contains(transformer::kWorkspaceAttrName) ||
                       attribute.contains(transformer::kWorkersAttrName));
}

/// call @layers(%rows, %step, %weights, ...) -> call @layers(%step, %pointer)
void StepReader::runOnLayers(func::CallOp call) {
  auto arguments = listArguments(entry);
  SmallVector<Type> kept;
  SmallVector<Value> given = {
      call->getParentOfType<func::FuncOp>().getArgument(0)};
  ImplicitLocOpBuilder outside(call.getLoc(), call);
  for (auto [argument, value] : llvm::zip(arguments, call.getOperands())) {
    auto [type, attribute] = argument;
    if (!isLent(attribute)) {
      given.push_back(isPlain(type) ? buildPointer(outside, value) : value);
      kept.push_back(given.back().getType());
    }
  }
  step = takePointer(entry, kept);
  b.setInsertionPointToStart(&entry.getBody().front());
  Value tokens = count(offsetof(tfc_step_v0, n_tokens));
  auto next = entry.getBody().front().getArguments().take_back(kept.size());
  SmallVector<Value> values;
  for (auto [type, attribute] : arguments) {
    if (isLent(attribute)) {
      values.push_back(read(type, attribute));
      continue;
    }
    values.push_back(isPlain(type) ? buildMemRef(b, cast<MemRefType>(type),
                                                 next.front(), tokens)
                                   : Value(next.front()));
    next = next.drop_front();
  }
  replaceArguments(entry, values);
  auto bound = func::CallOp::create(outside, entry, given);
  bound->setAttr(transformer::kStatusAttrName, b.getUnitAttr());
  call.erase();
}

/// @pack(weight, layer, begin, end, dtype, source, packed) -> status becomes
/// @pack(tfc_pack_v0 *). A parameter has one source. One that takes integers as
/// they are has scales and zeros behind it.
static LogicalResult bindPack(func::FuncOp pack) {
  ImplicitLocOpBuilder b(pack.getLoc(), pack.getContext());
  Type index = b.getIndexType();
  auto bytes = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  auto wanted = b.getFunctionType(
      {index, index, index, index, index, bytes, bytes}, b.getI32Type());
  auto integers = b.getFunctionType(
      {index, index, index, index, index, bytes, bytes,
       MemRefType::get({ShapedType::kDynamic}, b.getF32Type()), bytes},
      b.getI32Type());
  bool takesIntegers = pack.getFunctionType() == integers;
  if (pack.isExternal() ||
      (pack.getFunctionType() != wanted && !takesIntegers)) {
    return pack.emitOpError()
           << "expected a body and the type " << wanted
           << " of a function that packs (by tfc-pack-weights), got "
           << pack.getFunctionType();
  }
  Value pointer = takePointer(pack);
  b.setInsertionPointToStart(&pack.getBody().front());
  Value sources = loadPointer(b, pointer, offsetof(tfc_pack_v0, sources));
  auto memory = [&](Value base, int64_t offset) {
    return buildMemRef(b, bytes, loadPointer(b, base, offset), unbounded(b));
  };
  SmallVector<Value> values = {
      loadIndex(b, pointer, offsetof(tfc_pack_v0, weight), 32),
      loadIndex(b, pointer, offsetof(tfc_pack_v0, layer), 32),
      loadIndex(b, pointer, offsetof(tfc_pack_v0, row_begin), 64),
      loadIndex(b, pointer, offsetof(tfc_pack_v0, row_end), 64),
      loadIndex(b, sources, offsetof(tfc_stored_v0, dtype), 32),
      memory(sources, offsetof(tfc_stored_v0, data)),
      memory(pointer, offsetof(tfc_pack_v0, packed))};
  if (takesIntegers) {
    values.push_back(buildMemRef(
        b, cast<MemRefType>(integers.getInput(7)),
        loadPointer(b, pointer, offsetof(tfc_pack_v0, scales)), unbounded(b)));
    values.push_back(memory(pointer, offsetof(tfc_pack_v0, zeros)));
  }
  replaceArguments(pack, values);
  return success();
}

namespace {
struct BindStepPass : tfc::impl::BindStepPassBase<BindStepPass> {
  LogicalResult bindEntry(func::FuncOp entry) {
    FailureOr<SmallVector<transformer::LayerCall>> calls =
        transformer::listLayerCalls(entry);
    if (failed(calls) || failed(StepReader(entry).run())) {
      return failure();
    }
    for (const transformer::LayerCall &layers : *calls) {
      StepReader(layers.function).runOnLayers(layers.call);
    }
    numBound += 1 + calls->size();
    return success();
  }

  void runOnOperation() override {
    auto pack = dyn_cast_or_null<func::FuncOp>(
        transformer::findRole(getOperation(), transformer::RoleKind::Pack)
            .getOperation());
    if (pack && failed(bindPack(pack))) {
      return signalPassFailure();
    }
    numBound += bool(pack);
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!transformer::isOfLayers(function) &&
          transformer::findArgument(function, transformer::kStepAttrName) &&
          failed(bindEntry(function))) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
