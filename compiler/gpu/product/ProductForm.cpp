// Types, strides and bodies of products.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/product/ProductForm.h"

#include "dialect/FragmentWord.h"
#include "dialect/PanelShape.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tfc;

/// Whether the buffer's rows have their elements side by side, and begin, as
/// its first does, at multiples of `multiple` elements.
static bool areRowsAt(Value buffer, int64_t multiple) {
  SmallVector<int64_t> strides;
  int64_t offset;
  auto type = cast<MemRefType>(buffer.getType());
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) || offset % multiple != 0 ||
      strides.back() != 1) {
    return false;
  }
  return llvm::all_of(ArrayRef(strides).drop_back(), [&](int64_t stride) {
    return !ShapedType::isDynamic(stride) && stride % multiple == 0;
  });
}

static Type elementTypeOf(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getElementType();
}

/// Whether a matrix lies as kernels take it: in rows of `element`, or in
/// fragments of integers, which have groups or not.
static bool isOfKernels(MemRefType panels, Type element, bool hasGroups,
                        bool ofExperts) {
  transformer::PanelShape shape(panels, ofExperts);
  constexpr int64_t word = transformer::kFragmentWord;
  bool isInteger = panels.getElementType().isInteger(8);
  int64_t columns = !isInteger ? 1 : hasGroups ? word / 2 : word;
  return (isInteger || (panels.getElementType() == element && !hasGroups)) &&
         shape.width == 1 && shape.columns == columns &&
         panels.getLayout().isIdentity();
}

LogicalResult ProductForm::addGroups() {
  Value groups = op.getGroups();
  if (!groups) {
    return success();
  }
  auto type = cast<MemRefType>(groups.getType());
  group = transformer::widthOf(op.getInput()) / type.getDimSize(1);
  scale = type.getElementType();
  hasZeros = static_cast<bool>(op.getZeros());
  // A fragment's 32 columns are of one group.
  if (type.getDimSize(2) != kScaleRows || group % 32 != 0) {
    return op.emitOpError()
           << "expected groups of whole times 32 columns, for " << kScaleRows
           << " rows at a time, got " << type << " for groups of " << group;
  }
  return success();
}

FailureOr<ProductForm> ProductForm::get(transformer::ProductOp op) {
  if (!op.hasPureBufferSemantics()) {
    return op.emitOpError() << "expected buffers, got tensors";
  }
  ProductForm form;
  form.op = op;
  form.element = elementTypeOf(op.getInput());
  form.result = elementTypeOf(op.getInit());
  form.ofExperts = static_cast<bool>(op.getExperts());
  auto panels = cast<MemRefType>(op.getPanels().getType());
  bool hasGroups = static_cast<bool>(op.getGroups());
  bool isNarrow = form.element.isBF16() || form.element.isF16();
  bool isFloat = form.isFloat() && panels.getElementType() == form.element;
  int64_t multiple = isFloat ? kMultiple / 2 : kMultiple;
  if ((!isNarrow && !isFloat) ||
      !isOfKernels(panels, form.element, hasGroups, form.ofExperts) ||
      transformer::widthOf(op.getInput()) % multiple != 0 ||
      !areRowsAt(op.getInput(), multiple)) {
    return op.emitOpError()
           << "expected rows of f32 or of 16 bits, of the input and in panels "
              "of one row (or integers in fragments for the latter), that are "
              "a multiple of 16 bytes long and apart, got "
           << op.getInput().getType() << " and " << panels;
  }
  form.weightBits = static_cast<unsigned>(op.getWeightBits());
  if (failed(form.addGroups())) {
    return failure();
  }
  form.isPaired =
      transformer::widthOf(op.getInit()) % 2 == 0 && areRowsAt(op.getInit(), 2);
  for (Value column : op.getColumns()) {
    form.columns.push_back(elementTypeOf(column));
    form.isPaired &= areRowsAt(column, 2);
  }
  for (Value row : op.getRows()) {
    form.rows.push_back(elementTypeOf(row));
    form.isPaired &= areRowsAt(row, 2);
  }
  auto hasRows = [](Value buffer) { return areRowsAt(buffer, 1); };
  if (!hasRows(op.getInit()) || !llvm::all_of(op.getColumns(), hasRows) ||
      !llvm::all_of(op.getRows(), hasRows)) {
    return op.emitOpError() << "expected rows at constant distances, their "
                               "elements side by side";
  }
  return form;
}

transformer::ProductOp ProductForm::findGate(transformer::ProductOp op) {
  Operation *before = op->getPrevNode();
  while (before && isMemoryEffectFree(before)) {
    before = before->getPrevNode();
  }
  auto gate = dyn_cast_or_null<transformer::ProductOp>(before);
  auto typeOf = [](Value value) { return value ? value.getType() : Type(); };
  bool isGate = gate && gate.getRows().empty() && op.getRows().size() == 1 &&
                op.getRows().front() == gate.getInit() &&
                op.getInput() == gate.getInput() &&
                op.getInit() != gate.getInit() &&
                op.getExperts() == gate.getExperts() &&
                op.getPanels().getType() == gate.getPanels().getType() &&
                typeOf(op.getGroups()) == typeOf(gate.getGroups()) &&
                typeOf(op.getZeros()) == typeOf(gate.getZeros());
  // Whoever else has this place in memory may read it.
  auto isOwn = [&](Operation *user) { return user == op || user == gate; };
  return isGate && llvm::all_of(gate.getInit().getUsers(),
                                [&](Operation *user) {
                                  return isOwn(user) ||
                                         isa<memref::DimOp>(user);
                                })
             ? gate
             : transformer::ProductOp();
}

LogicalResult ProductForm::addGate(transformer::ProductOp found) {
  FailureOr<ProductForm> own = get(found);
  if (failed(own)) {
    return failure();
  }
  gate = found;
  gateResult = own->result;
  gateColumns = own->columns;
  isPaired &= own->isPaired;
  rows.clear();
  return success();
}

/// The values that ops compute are numbered as they come, constants are their
/// values.
static void writeBody(llvm::raw_ostream &stream, transformer::ProductOp op) {
  Block &body = op.getBody().front();
  llvm::DenseMap<Value, size_t> numbers;
  for (Value argument : body.getArguments()) {
    numbers[argument] = numbers.size();
  }
  for (Operation &each : body) {
    stream << each.getName() << ' ' << each.getAttrDictionary();
    for (Value operand : each.getOperands()) {
      auto known = numbers.find(operand);
      if (known != numbers.end()) {
        stream << " %" << known->second;
      } else {
        stream << " (" << *operand.getDefiningOp() << ')';
      }
    }
    for (Value result : each.getResults()) {
      stream << " : " << result.getType();
      numbers[result] = numbers.size();
    }
    stream << '\n';
  }
}

std::string ProductForm::key() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << element << ' ' << weightBits << ' ' << group << ' ';
  if (group) {
    stream << scale << ' ';
  }
  stream << hasZeros << ' ' << ofExperts << ' ' << result << ' ' << isPaired;
  for (Type type : llvm::concat<const Type>(columns, rows)) {
    stream << ' ' << type;
  }
  stream << ' ' << columns.size() << '\n';
  writeBody(stream, op);
  if (gate) {
    stream << "gate " << gateResult;
    for (Type type : gateColumns) {
      stream << ' ' << type;
    }
    stream << '\n';
    writeBody(stream, gate);
  }
  return text;
}

/// Those that there are.
static void listGroups(const ProductOperands::Groups &groups,
                       SmallVectorImpl<Value> &values) {
  for (Value value : {groups.scales, groups.zeros}) {
    if (value) {
      values.push_back(value);
    }
  }
}

SmallVector<Value> ProductOperands::list() const {
  SmallVector<Value> values = {input, weights, result};
  llvm::append_range(values, columns);
  llvm::append_range(values, rows);
  listGroups(groups, values);
  if (gateWeights) {
    values.push_back(gateWeights);
    llvm::append_range(values, gateColumns);
    listGroups(gateGroups, values);
  }
  if (experts) {
    values.append({experts, numExperts});
  }
  llvm::append_range(values,
                     ArrayRef{tokens, width, depth, inputStride, resultStride});
  llvm::append_range(values, rowStrides);
  return values;
}

ProductOperands ProductOperands::take(const ProductForm &form,
                                      ValueRange values) {
  ProductOperands operands;
  auto next = values.begin();
  auto take = [&](size_t count) {
    SmallVector<Value> taken(next, next + count);
    next += count;
    return taken;
  };
  for (Value *one : {&operands.input, &operands.weights, &operands.result}) {
    *one = *next++;
  }
  operands.columns = take(form.columns.size());
  operands.rows = take(form.rows.size());
  auto takeGroups = [&](Groups &groups) {
    groups.scales = form.group ? *next++ : Value();
    groups.zeros = form.hasZeros ? *next++ : Value();
  };
  takeGroups(operands.groups);
  if (form.gate) {
    operands.gateWeights = *next++;
    operands.gateColumns = take(form.gateColumns.size());
    takeGroups(operands.gateGroups);
  }
  if (form.ofExperts) {
    operands.experts = *next++;
    operands.numExperts = *next++;
  }
  for (Value *one : {&operands.tokens, &operands.width, &operands.depth,
                     &operands.inputStride, &operands.resultStride}) {
    *one = *next++;
  }
  operands.rowStrides = take(form.rows.size());
  return operands;
}
