// Bit by bit: logic, shifts, fields, counts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/EntryText.h"

namespace tfc::emulator {

namespace {

/// A shift by the width or more leaves nothing, or the sign.
std::string shift(EntryText &text, Instruction &from, const std::string &type) {
  std::string x = text.value(from.operand(1), type);
  std::string count = text.value(from.operand(2), "u32");
  int bits = bitsOf(type);
  std::string rest = isSigned(type) && from.base() == "shr"
                         ? x + " >> " + std::to_string(bits - 1)
                         : "0";
  return count + " >= " + std::to_string(bits) + " ? " + rest + " : " + x +
         (from.base() == "shl" ? " << " : " >> ") + count;
}

/// 32 of the 64 bits of %2:%1, shifted.
std::string funnelShift(EntryText &text, Instruction &from, bool isLeft,
                        bool wraps) {
  std::string count = text.value(from.operand(3), "u32");
  count = wraps ? "(" + count + " & 31)"
                : "(" + count + " > 32 ? 32 : " + count + ")";
  std::string both = "((uint64_t)" + text.value(from.operand(2), "u32") +
                     " << 32 | " + text.value(from.operand(1), "u32") + ")";
  return isLeft ? "(" + both + " << " + count + ") >> 32"
                : both + " >> " + count;
}

std::string logic(EntryText &text, Instruction &from, const std::string &type) {
  bool isPredicate = type == "pred";
  auto operand = [&](size_t i) {
    return isPredicate ? text.predicate(from.operand(i))
                       : text.value(from.operand(i), type);
  };
  if (from.base() == "not") {
    return (isPredicate ? "!" : "~") + operand(1);
  }
  const char *sign = from.base() == "and"  ? " & "
                     : from.base() == "or" ? " | "
                                           : " ^ ";
  return operand(1) + sign + operand(2);
}

std::string count(EntryText &text, Instruction &from, std::string &type) {
  std::string x = text.value(from.operand(1), type);
  bool isLong = bitsOf(type) == 64;
  std::string suffix = isLong ? "ll(" : "(";
  if (from.base() == "brev") {
    return "__builtin_bitreverse" + std::to_string(bitsOf(type)) + "(" + x +
           ")";
  }
  type = "u32";
  if (from.base() == "popc") {
    return "__builtin_popcount" + suffix + x + ")";
  }
  return x + " ? __builtin_clz" + suffix + x + ") : " + (isLong ? "64" : "32");
}

} // namespace

bool translateBits(EntryText &text, Instruction &from) {
  const std::string &base = from.base();
  std::string expression, type;
  auto operand = [&](size_t i, const char *of) {
    return text.value(from.operand(i), of);
  };
  if (base == "shl" || base == "shr") {
    type = from.takeType();
    expression = shift(text, from, type);
  } else if (base == "shf") {
    bool isLeft = from.takeOneOf({"l", "r"}) == "l";
    bool wraps = from.takeOneOf({"wrap", "clamp"}) == "wrap";
    type = from.takeType();
    expression = funnelShift(text, from, isLeft, wraps);
  } else if (base == "and" || base == "or" || base == "xor" || base == "not") {
    type = from.takeType();
    expression = logic(text, from, type);
  } else if (base == "popc" || base == "clz" || base == "brev") {
    type = from.takeType();
    expression = count(text, from, type);
  } else if (base == "bfe") {
    type = from.takeType();
    std::string unsignedType = "u" + std::to_string(bitsOf(type));
    expression = "extract(" + text.value(from.operand(1), unsignedType) + ", " +
                 operand(2, "u32") + ", " + operand(3, "u32") + ", " +
                 std::to_string(bitsOf(type)) + ", " +
                 (isSigned(type) ? "1)" : "0)");
  } else if (base == "prmt") {
    type = from.takeType();
    expression = "permute(" + operand(1, "u32") + ", " + operand(2, "u32") +
                 ", " + operand(3, "u32") + ")";
  } else if (base == "lop3") {
    type = from.takeType();
    expression = "logic3(" + operand(1, "u32") + ", " + operand(2, "u32") +
                 ", " + operand(3, "u32") + ", " + operand(4, "u32") + ")";
  } else {
    return false;
  }
  text.add(text.assign(from.operand(0), type, expression));
  return true;
}

} // namespace tfc::emulator
