// Arithmetic of integers and of floats, rounded to nearest.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/EntryText.h"

namespace tfc::emulator {

namespace {

/// What is written with a C operator.
const char *operatorOf(const std::string &base) {
  return base == "add"   ? " + "
         : base == "sub" ? " - "
         : base == "mul" ? " * "
                         : "";
}

/// Of numbers of 16 bits, which `operand` gives: a sum or product, to be
/// rounded once.
template <typename Operand>
std::string sixteenBits(Instruction &from, Operand operand) {
  const std::string &base = from.base();
  std::string x = operand(1);
  if (base == "neg") {
    return "-" + x;
  }
  std::string y = operand(2);
  if (base == "fma") {
    return "fma_16(" + x + ", " + y + ", " + operand(3) + ")";
  }
  if (base == "mul") {
    return "fma_16(" + x + ", " + y + ", -0.0f)";
  }
  if (base != "add" && base != "sub") {
    from.failUnknown();
  }
  return "fma_16(" + x + ", 1, " + (base == "sub" ? "-" : "") + y + ")";
}

void arithmeticOfHalves(EntryText &text, Instruction &from,
                        const std::string &type) {
  auto operand = [&](size_t i) { return text.value(from.operand(i), type); };
  text.add(text.assign(from.operand(0), type, sixteenBits(from, operand)));
}

/// fma.rn.bf16x2 %r1, %r2, %r3, %r4: the same of each half of words.
void arithmeticOfPairs(EntryText &text, Instruction &from,
                       const std::string &type) {
  if (!from.isUsedUp()) {
    from.failUnknown();
  }
  auto half = [&](const char *shift) {
    auto operand = [&](size_t i) {
      return "as_" + type + "((uint16_t)(" +
             text.value(from.operand(i), "u32") + " >> " + shift + "))";
    };
    return "(uint32_t)bits_" + type + "(" + sixteenBits(from, operand) + ")";
  };
  text.add(text.assign(from.operand(0), "u32",
                       half("16") + " << 16 | " + half("0")));
}

void arithmeticOfFloats(EntryText &text, Instruction &from,
                        const std::string &type, bool isNan) {
  const std::string &base = from.base();
  if (type != "f32" && type != "f64") {
    from.failUnknown();
  }
  auto operand = [&](size_t i) { return text.value(from.operand(i), type); };
  std::string suffix = type == "f32" ? "f" : "";
  std::string x = operand(1), expression;
  if (base == "fma" || base == "mad") {
    expression =
        "fma" + suffix + "(" + x + ", " + operand(2) + ", " + operand(3) + ")";
  } else if (base == "min" || base == "max") {
    expression =
        base + (isNan ? "_nan(" : "_float(") + x + ", " + operand(2) + ")";
  } else if (base == "sqrt") {
    expression = "sqrt" + suffix + "(" + x + ")";
  } else if (base == "abs") {
    expression = "fabs" + suffix + "(" + x + ")";
  } else if (base == "neg") {
    expression = "-" + x;
  } else if (base == "rcp") {
    expression = "1 / " + x;
  } else if (base == "div") {
    expression = x + " / " + operand(2);
  } else if (*operatorOf(base)) {
    expression = x + operatorOf(base) + operand(2);
  } else {
    from.failUnknown();
  }
  text.add(text.assign(from.operand(0), type, expression));
}

/// The product of mul and mad, of twice the width, its half, or the other.
std::string product(EntryText &text, Instruction &from, std::string &type,
                    const std::string &half) {
  std::string x = text.value(from.operand(1), type);
  std::string y = text.value(from.operand(2), type);
  std::string bits = std::to_string(bitsOf(type));
  std::string wide = isSigned(type) ? "(__int128)" : "(unsigned __int128)";
  std::string whole = wide + x + " * " + y;
  if (half == "wide") {
    type = type.substr(0, 1) + std::to_string(2 * bitsOf(type));
    return "(" + cType(type) + ")(" + whole + ")";
  }
  return "(" + cType(type) + ")(" +
         (half == "hi" ? "(" + whole + ") >> " + bits : whole) + ")";
}

void arithmeticOfIntegers(EntryText &text, Instruction &from, std::string type,
                          const std::string &half) {
  const std::string &base = from.base();
  auto operand = [&](size_t i) { return text.value(from.operand(i), type); };
  // Modulo a power of two, whatever the sign.
  std::string wrap = "(uint64_t)";
  std::string x = operand(1), expression;
  if (base == "mul" || base == "mad") {
    if (half.empty()) {
      from.failUnknown();
    }
    expression = product(text, from, type, half);
    if (base == "mad") {
      expression = wrap + expression + " + " + operand(3);
    }
  } else if (base == "add" || base == "sub") {
    expression = wrap + x + operatorOf(base) + operand(2);
  } else if (base == "div" || base == "rem") {
    expression = base + "_" + type + "(b, t, " + x + ", " + operand(2) + ", " +
                 from.line() + ")";
  } else if (base == "min" || base == "max") {
    expression = x + (base == "min" ? " < " : " > ") + operand(2) + " ? " + x +
                 " : " + operand(2);
  } else if (base == "neg") {
    expression = "0 - " + wrap + x;
  } else if (base == "abs") {
    expression = x + " < 0 ? 0 - " + wrap + x + " : " + wrap + x;
  } else {
    from.failUnknown();
  }
  text.add(text.assign(from.operand(0), type, expression));
}

} // namespace

bool translateArithmetic(EntryText &text, Instruction &from) {
  static const char *const bases[] = {"add", "sub", "mul", "mad", "fma",
                                      "div", "rem", "min", "max", "neg",
                                      "abs", "rcp", "sqrt"};
  bool isKnown = false;
  for (const char *base : bases) {
    isKnown |= from.base() == base;
  }
  if (!isKnown) {
    return false;
  }
  bool isRounded = from.take("rn");
  std::string half = from.takeOneOf({"lo", "hi", "wide"});
  bool isNan = from.take("NaN");
  for (const char *type : {"bf16", "f16"}) {
    if (from.take(std::string(type) + "x2")) {
      arithmeticOfPairs(text, from, type);
      return true;
    }
  }
  std::string type = from.takeType();
  if (!from.isUsedUp() || (isRounded && !isFloat(type)) ||
      (!half.empty() && isFloat(type))) {
    from.failUnknown();
  }
  if (isFloat(type) && bitsOf(type) == 16) {
    arithmeticOfHalves(text, from, type);
  } else if (isFloat(type)) {
    arithmeticOfFloats(text, from, type, isNan);
  } else {
    arithmeticOfIntegers(text, from, type, half);
  }
  return true;
}

} // namespace tfc::emulator
