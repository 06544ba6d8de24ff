// The generated op methods, compiled once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/TransformerDialect.h"

using namespace mlir;

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

#define GET_OP_CLASSES
#include "dialect/TransformerOps.cpp.inc"
