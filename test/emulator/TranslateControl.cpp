// Comparisons, choices, jumps, barriers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/EntryText.h"

#include <map>

namespace tfc::emulator {

namespace {

const std::map<std::string, const char *> &comparisons() {
  static const std::map<std::string, const char *> operators = {
      {"eq", "=="}, {"ne", "!="}, {"lt", "<"},  {"le", "<="}, {"gt", ">"},
      {"ge", ">="}, {"lo", "<"},  {"ls", "<="}, {"hi", ">"},  {"hs", ">="}};
  return operators;
}

/// Of floats: ordered ones are false with a NaN, those that end in u true.
std::string compareFloats(const std::string &how, const std::string &x,
                          const std::string &y) {
  std::string isUnordered =
      "(" + x + " != " + x + " || " + y + " != " + y + ")";
  if (how == "num" || how == "nan") {
    return (how == "num" ? "!" : "") + isUnordered;
  }
  bool orNan = how.size() == 3;
  std::string compared =
      "(" + x + " " + comparisons().at(how.substr(0, 2)) + " " + y + ")";
  return orNan         ? "(" + isUnordered + " || " + compared + ")"
         : how == "ne" ? "(!" + isUnordered + " && " + compared + ")"
                       : compared;
}

void compare(EntryText &text, Instruction &from) {
  std::string how = from.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge", "lo",
                                    "ls", "hi", "hs", "equ", "neu", "ltu",
                                    "leu", "gtu", "geu", "num", "nan"});
  std::string joined = from.takeOneOf({"and", "or", "xor"});
  std::string type = from.takeType();
  bool isFloatOnly = how.size() == 3,
       isIntegerOnly = how[0] == 'h' || how == "lo" || how == "ls";
  if (how.empty() || (isFloat(type) ? isIntegerOnly : isFloatOnly)) {
    from.failUnknown();
  }
  std::string x = text.value(from.operand(1), type);
  std::string y = text.value(from.operand(2), type);
  std::string result =
      isFloat(type) ? compareFloats(how, x, y)
                    : "(" + x + " " + comparisons().at(how) + " " + y + ")";
  std::string other = "!" + result;
  if (!joined.empty()) {
    std::string sign = joined == "and" ? " & " : joined == "or" ? " | " : " ^ ";
    std::string with = sign + text.predicate(from.operand(3));
    result = "(" + result + with + ")";
    other = "(" + other + with + ")";
  }
  const std::string &to = from.operand(0);
  size_t bar = to.find('|');
  text.add("{ uint8_t p = " + result + ", q = " + other + "; (void)q; " +
           text.assign(to.substr(0, bar), "pred", "p") +
           (bar == std::string::npos
                ? ""
                : " " + text.assign(to.substr(bar + 1), "pred", "q")) +
           " }");
}

void select(EntryText &text, Instruction &from) {
  std::string type = from.takeType();
  text.add(text.assign(from.operand(0), type,
                       text.predicate(from.operand(3)) + " ? " +
                           text.value(from.operand(1), type) + " : " +
                           text.value(from.operand(2), type)));
}

/// bar.sync and barrier.sync of all threads of the block; bar.warp.sync.
void synchronize(EntryText &text, Instruction &from) {
  from.take("cta");
  from.take("aligned");
  if (from.take("warp")) {
    if (!from.take("sync") || from.count() != 1) {
      from.failUnknown();
    }
    text.add("b->warp_barrier(b, t, " + text.value(from.operand(0), "u32") +
             ", " + from.line() + ");");
    return;
  }
  if (!from.take("sync") || from.count() != 1) {
    from.failUnknown();
  }
  text.add("b->barrier(b, t, " + text.value(from.operand(0), "u32") + ", " +
           from.line() + ");");
}

} // namespace

bool translateControl(EntryText &text, Instruction &from) {
  const std::string &base = from.base();
  if (base == "setp") {
    compare(text, from);
  } else if (base == "selp") {
    select(text, from);
  } else if (base == "bra") {
    from.take("uni");
    text.add("goto " + text.label(from.operand(0)) + ";");
  } else if (base == "ret" || base == "exit") {
    from.take("uni");
    text.add("return;");
  } else if (base == "trap") {
    text.add("b->fail(b, t, \"trap\", " + from.line() + ");");
  } else if (base == "bar" || base == "barrier") {
    synchronize(text, from);
  } else if (base == "griddepcontrol") {
    // RunGrid sees to it that the wait comes first; launches do not overlap.
    if (from.takeOneOf({"wait", "launch_dependents"}).empty()) {
      from.failUnknown();
    }
  } else {
    return false;
  }
  return true;
}

} // namespace tfc::emulator
