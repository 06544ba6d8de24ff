// cvt: from one kind of number to another.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/EntryText.h"

namespace tfc::emulator {

/// A float as an integral one, rounded as the word says.
static std::string rounded(const std::string &mode, const std::string &value) {
  const char *function = mode == "rzi"   ? "trunc"
                         : mode == "rni" ? "rint"
                         : mode == "rmi" ? "floor"
                                         : "ceil";
  return std::string(function) + "(" + value + ")";
}

/// cvt.rn.bf16x2.f32 %r1, %r2, %r3; the first one becomes the upper half.
static void convertTwo(EntryText &text, Instruction &from,
                       const std::string &type) {
  if (!from.take("rn") || from.takeType() != "f32" || !from.isUsedUp()) {
    from.failUnknown();
  }
  auto half = [&](size_t i) {
    return "(uint32_t)bits_" + type + "(" + text.value(from.operand(i), "f32") +
           ")";
  };
  text.add(
      text.assign(from.operand(0), "u32", half(1) + " << 16 | " + half(2)));
}

bool translateConversion(EntryText &text, Instruction &from) {
  if (from.base() != "cvt") {
    return false;
  }
  for (const char *type : {"bf16", "f16"}) {
    if (from.take(std::string(type) + "x2")) {
      convertTwo(text, from, type);
      return true;
    }
  }
  std::string integral = from.takeOneOf({"rni", "rzi", "rmi", "rpi"});
  bool isNearest = from.take("rn");
  std::string to = from.takeType(), type = from.takeType();
  std::string value = text.value(from.operand(1), type), expression;
  bool rounds = isFloat(to) && (!isFloat(type) || bitsOf(to) < bitsOf(type));
  if (!from.isUsedUp() || (isNearest && !rounds) ||
      (rounds && !isNearest && integral.empty())) {
    from.failUnknown();
  }
  if (isFloat(type) && !isFloat(to)) {
    if (integral.empty()) {
      from.failUnknown();
    }
    expression = to + "_from_float(" + rounded(integral, value) + ")";
  } else if (isFloat(type) && !integral.empty()) {
    if (to != type) {
      from.failUnknown();
    }
    expression = rounded(integral, value);
  } else {
    // C's conversions round to nearest; integers keep their low bits.
    expression = "(" + cType(to) + ")" + value;
  }
  text.add(text.assign(from.operand(0), to, expression));
  return true;
}

} // namespace tfc::emulator
