// The generated op methods, compiled once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tfc::transformer;

/// `[1.0, 0.1]`. Arrays of numbers print seven digits; far from the beginning
/// an angle needs all of its frequency's.
static ParseResult parseNumbers(OpAsmParser &parser,
                                DenseF64ArrayAttr &numbers) {
  SmallVector<double> values;
  auto parseOne = [&]() -> ParseResult {
    APFloat value(APFloat::IEEEdouble());
    if (parser.parseFloat(APFloat::IEEEdouble(), value)) {
      return failure();
    }
    values.push_back(value.convertToDouble());
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne)) {
    return failure();
  }
  numbers = parser.getBuilder().getDenseF64ArrayAttr(values);
  return success();
}

static void printNumbers(OpAsmPrinter &printer, Operation *,
                         DenseF64ArrayAttr numbers) {
  printer << '[';
  llvm::interleaveComma(numbers.asArrayRef(), printer, [&](double value) {
    printer.printFloat(APFloat(value));
  });
  printer << ']';
}

/// `index [8, 16]` or `f32 [0.25, 0.5]`
static ParseResult parseLayerValues(OpAsmParser &parser, Attribute &values) {
  StringRef kind;
  SMLoc place = parser.getCurrentLocation();
  if (parser.parseKeyword(&kind)) {
    return failure();
  }
  if (kind == "f32") {
    DenseF64ArrayAttr numbers;
    ParseResult result = parseNumbers(parser, numbers);
    values = numbers;
    return result;
  }
  if (kind != "index") {
    return parser.emitError(place) << "expected index or f32, got " << kind;
  }
  SmallVector<int64_t> indices;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(indices.emplace_back());
      })) {
    return failure();
  }
  values = parser.getBuilder().getDenseI64ArrayAttr(indices);
  return success();
}

static void printLayerValues(OpAsmPrinter &printer, Operation *op,
                             Attribute values) {
  if (auto numbers = dyn_cast<DenseF64ArrayAttr>(values)) {
    printer << "f32 ";
    printNumbers(printer, op, numbers);
    return;
  }
  printer << "index [";
  llvm::interleaveComma(cast<DenseI64ArrayAttr>(values).asArrayRef(), printer);
  printer << ']';
}

//===-- types of rows -----------------------------------------------------===//

/// `-> tensor<?x104xbf16>`, or nothing where the result is `rows`, of f32.
static ParseResult parseResult(OpAsmParser &parser, Type &result, Type rows) {
  result = rows;
  return succeeded(parser.parseOptionalArrow()) ? parser.parseType(result)
                                                : success();
}

static void printResult(OpAsmPrinter &printer, Type result) {
  if (!getElementTypeOrSelf(result).isF32()) {
    printer << " -> " << result;
  }
}

static ParseResult parseRowsAs(OpAsmParser &parser, Type &result, Type like) {
  return parseResult(parser, result, rowsAs(like));
}

static void printRowsAs(OpAsmPrinter &printer, Operation *, Type result, Type) {
  printResult(printer, result);
}

static ParseResult parseRowsOfTable(OpAsmParser &parser, Type &result, Type ids,
                                    Type table) {
  return parseResult(parser, result, rowsOfTable(ids, table));
}

static void printRowsOfTable(OpAsmPrinter &printer, Operation *, Type result,
                             Type, Type) {
  printResult(printer, result);
}

static ParseResult parseRowsOfAngles(OpAsmParser &parser, Type &result,
                                     Type positions,
                                     DenseF64ArrayAttr frequencies) {
  return parseResult(parser, result,
                     rowsOfWidth(positions, 2 * frequencies.size()));
}

static void printRowsOfAngles(OpAsmPrinter &printer, Operation *, Type result,
                              Type, DenseF64ArrayAttr) {
  printResult(printer, result);
}

static ParseResult parseRowsSliced(OpAsmParser &parser, Type &result,
                                   Type input, IntegerAttr width) {
  if (width.getInt() < 0) {
    return parser.emitError(parser.getNameLoc())
           << "expected a width of at least 0, got " << width.getInt();
  }
  return parseResult(parser, result, rowsOfWidth(input, width.getInt()));
}

static void printRowsSliced(OpAsmPrinter &printer, Operation *, Type result,
                            Type, IntegerAttr) {
  printResult(printer, result);
}

/// The types of operands, of those that there are.
using Operand = std::optional<OpAsmParser::UnresolvedOperand>;
static ParseResult parseTypes(OpAsmParser &parser, ArrayRef<Type *> types,
                              ArrayRef<std::pair<Operand, Type *>> optional) {
  SmallVector<Type *> all(types);
  for (const auto &[operand, type] : optional) {
    if (operand) {
      all.push_back(type);
    }
  }
  for (Type *type : all) {
    if ((type != all.front() && parser.parseComma()) ||
        parser.parseType(*type)) {
      return failure();
    }
  }
  return success();
}

static void printTypes(OpAsmPrinter &printer, Operation *op) {
  llvm::interleaveComma(op->getOperandTypes(), printer);
  printResult(printer, op->getResult(0).getType());
}

/// `, %key, %value`, or `shared` where there are none.
static ParseResult parseKeyAndValue(OpAsmParser &parser, Operand &key,
                                    Operand &value) {
  if (succeeded(parser.parseOptionalKeyword("shared"))) {
    return success();
  }
  return failure(parser.parseComma() || parser.parseOperand(key.emplace()) ||
                 parser.parseComma() || parser.parseOperand(value.emplace()));
}

static void printKeyAndValue(OpAsmPrinter &printer, Operation *, Value key,
                             Value value) {
  if (key && value) {
    printer << ", " << key << ", " << value;
  } else {
    printer << " shared";
  }
}

static ParseResult parseKeyAndValueTypes(OpAsmParser &parser, Operand key,
                                         Type &keyType, Type &valueType) {
  return failure(key && (parser.parseComma() || parser.parseType(keyType) ||
                         parser.parseComma() || parser.parseType(valueType)));
}

static void printKeyAndValueTypes(OpAsmPrinter &printer, Operation *, Value,
                                  Type keyType, Type valueType) {
  if (keyType && valueType) {
    printer << ", " << keyType << ", " << valueType;
  }
}

/// `scales %rows, %weights`, or those of the weight alone; nothing where there
/// are none.
static ParseResult parseScales(OpAsmParser &parser, Operand &inputScales,
                               Operand &weightScales) {
  if (failed(parser.parseOptionalKeyword("scales"))) {
    return success();
  }
  if (parser.parseOperand(weightScales.emplace())) {
    return failure();
  }
  if (failed(parser.parseOptionalComma())) {
    return success();
  }
  inputScales = weightScales;
  return parser.parseOperand(weightScales.emplace());
}

static void printScales(OpAsmPrinter &printer, Operation *, Value inputScales,
                        Value weightScales) {
  if (!weightScales) {
    return;
  }
  printer << " scales ";
  if (inputScales) {
    printer << inputScales << ", ";
  }
  printer << weightScales;
}

static ParseResult parseLinearTypes(OpAsmParser &parser, Type &input,
                                    Type &weight, Operand inputScales,
                                    Type &inputScalesType, Operand weightScales,
                                    Type &weightScalesType, Operand weightZeros,
                                    Type &weightZerosType, Operand bias,
                                    Type &biasType, Operand factor,
                                    Type &factorType, Operand residual,
                                    Type &residualType, Type &result) {
  return failure(parseTypes(parser, {&input, &weight},
                            {{inputScales, &inputScalesType},
                             {weightScales, &weightScalesType},
                             {weightZeros, &weightZerosType},
                             {bias, &biasType},
                             {factor, &factorType},
                             {residual, &residualType}}) ||
                 parseResult(parser, result, rowsOfProduct(input, weight)));
}

static void printLinearTypes(OpAsmPrinter &printer, Operation *op, Type, Type,
                             Value, Type, Value, Type, Value, Type, Value, Type,
                             Value, Type, Value, Type, Type) {
  printTypes(printer, op);
}

static ParseResult parseFfnTypes(OpAsmParser &parser, Type &input, Type &up,
                                 Type &down, Operand gate, Type &gateType,
                                 Operand upBias, Type &upBiasType,
                                 Operand gateBias, Type &gateBiasType,
                                 Operand downBias, Type &downBiasType,
                                 Type &result) {
  return failure(parseTypes(parser, {&input, &up, &down},
                            {{gate, &gateType},
                             {upBias, &upBiasType},
                             {gateBias, &gateBiasType},
                             {downBias, &downBiasType}}) ||
                 parseResult(parser, result, rowsAs(input)));
}

static void printFfnTypes(OpAsmPrinter &printer, Operation *op, Type, Type,
                          Type, Value, Type, Value, Type, Value, Type, Value,
                          Type, Type) {
  printTypes(printer, op);
}

static ParseResult parseLayerNormTypes(OpAsmParser &parser, Type &input,
                                       Operand weight, Type &weightType,
                                       Operand bias, Type &biasType,
                                       Type &result) {
  return failure(parseTypes(parser, {&input},
                            {{weight, &weightType}, {bias, &biasType}}) ||
                 parseResult(parser, result, rowsAs(input)));
}

static void printLayerNormTypes(OpAsmPrinter &printer, Operation *op, Type,
                                Value, Type, Value, Type, Type) {
  printTypes(printer, op);
}

#define GET_OP_CLASSES
#include "dialect/TransformerOps.cpp.inc"
