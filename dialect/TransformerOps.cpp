// The generated op methods, compiled once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/TransformerDialect.h"

using namespace mlir;

/// `[1.0, 0.1]`. Arrays of numbers print seven digits; far from the beginning
/// an angle needs all of its frequency's.
static ParseResult parseFrequencies(OpAsmParser &parser,
                                    DenseF64ArrayAttr &frequencies) {
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
  frequencies = parser.getBuilder().getDenseF64ArrayAttr(values);
  return success();
}

static void printFrequencies(OpAsmPrinter &printer, Operation *,
                             DenseF64ArrayAttr frequencies) {
  printer << '[';
  llvm::interleaveComma(frequencies.asArrayRef(), printer, [&](double value) {
    printer.printFloat(APFloat(value));
  });
  printer << ']';
}

#define GET_OP_CLASSES
#include "dialect/TransformerOps.cpp.inc"
