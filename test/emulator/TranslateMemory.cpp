// Loads, stores, moves and addresses. An access checks all its bytes at once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/EntryText.h"

namespace tfc::emulator {

namespace {

/// What checks an access of a state space.
std::string checkerOf(const std::string &space) {
  return space == "shared"  ? "emu_shared"
         : space == "local" ? "emu_local"
         : space.empty()    ? "emu_generic"
                            : "emu_global";
}

std::string takeSpace(Instruction &from) {
  std::string space = from.takeOneOf(
      {"param", "global", "const", "shared", "local", "shared::cta"});
  return space == "shared::cta" ? "shared" : space;
}

void loadParam(EntryText &text, Instruction &from, const std::string &type,
               const std::vector<std::string> &to, const Address &address) {
  uint64_t bytes = uint64_t(bitsOf(type)) / 8;
  if (!address.param || address.offset > address.param->bytes ||
      bytes * to.size() > address.param->bytes - address.offset) {
    from.failUnknown();
  }
  std::string bits = "u" + std::to_string(bitsOf(type));
  for (size_t i = 0; i < to.size(); ++i) {
    uint64_t at = address.param->offset + address.offset + i * bytes;
    text.add("{ " + cType(isFloat(type) ? bits : type) +
             " v; memcpy(&v, b->params + " + std::to_string(at) +
             ", sizeof v); " +
             text.assign(to[i], isFloat(type) ? bits : type, "v") + " }");
  }
}

/// The number of elements of .v2 and .v4.
size_t takeCount(Instruction &from) {
  std::string vector = from.takeOneOf({"v2", "v4"});
  return vector.empty() ? 1 : vector == "v2" ? 2 : 4;
}

/// "memory = address, checked": the beginning of an access.
std::string checked(const std::string &space, const Address &address,
                    const std::string &type, size_t count, bool writes,
                    const std::string &line) {
  return cType(type) + " *m = (" + cType(type) + " *)" + checkerOf(space) +
         "(b, t, " + address.text + ", " +
         std::to_string(uint64_t(bitsOf(type)) / 8 * count) + ", " +
         (writes ? "1, " : "0, ") + line + ");";
}

void load(EntryText &text, Instruction &from) {
  std::string space = takeSpace(from);
  from.take("nc");
  from.take("volatile");
  size_t count = takeCount(from);
  std::string type = from.takeType();
  std::vector<std::string> to = elements(from.operand(0));
  Address address = text.address(from.operand(1));
  if (to.size() != count || (address.param && space != "param")) {
    from.failUnknown();
  }
  if (space == "param") {
    loadParam(text, from, type, to, address);
    return;
  }
  // Registers are bits.
  type = isFloat(type) ? "u" + std::to_string(bitsOf(type)) : type;
  std::string line =
      "{ " + checked(space, address, type, count, false, from.line());
  std::string values;
  for (size_t i = 0; i < count; ++i) { // all before a register of the address
    std::string v = "v" + std::to_string(i);
    line += " " + cType(type) + " " + v + " = m[" + std::to_string(i) + "];";
    values += " " + text.assign(to[i], type, v);
  }
  text.add(line + values + " }");
}

void store(EntryText &text, Instruction &from) {
  std::string space = takeSpace(from);
  from.take("volatile");
  size_t count = takeCount(from);
  std::string type = from.takeType();
  std::vector<std::string> values = elements(from.operand(1));
  Address address = text.address(from.operand(0));
  if (values.size() != count || address.param || space == "param" ||
      space == "const") {
    from.failUnknown();
  }
  type = "u" + std::to_string(bitsOf(type));
  std::string line =
      "{ " + checked(space, address, type, count, true, from.line());
  for (size_t i = 0; i < count; ++i) {
    line +=
        " m[" + std::to_string(i) + "] = " + text.value(values[i], type) + ";";
  }
  text.add(line + " }");
}

/// mov.b64 {%r1, %r2}, %rd1, and the other way round.
void movePacked(EntryText &text, Instruction &from, const std::string &type) {
  std::vector<std::string> to = elements(from.operand(0));
  std::vector<std::string> parts = elements(from.operand(1));
  size_t count = std::max(to.size(), parts.size());
  int bits = bitsOf(type) / int(count);
  std::string part = "u" + std::to_string(bits), whole = "u" + type.substr(1);
  std::string line;
  if (to.size() > 1) {
    line = "{ " + cType(whole) + " v = " + text.value(parts[0], whole) + ";";
    for (size_t i = 0; i < count; ++i) {
      line += " " +
              text.assign(to[i], part, "v >> " + std::to_string(int(i) * bits));
    }
    text.add(line + " }");
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    line += (i ? " | " : "") + ("(" + cType(whole) + ")") +
            text.value(parts[i], part) + " << " + std::to_string(int(i) * bits);
  }
  text.add(text.assign(to[0], whole, line));
}

void move(EntryText &text, Instruction &from) {
  std::string type = from.takeType();
  const std::string &to = from.operand(0), &value = from.operand(1);
  if (to[0] == '{' || value[0] == '{') {
    movePacked(text, from, type);
    return;
  }
  if (type == "pred") {
    bool isNumber = value == "0" || value == "1" || value == "-1";
    text.add(text.assign(to, type,
                         isNumber ? (value == "0" ? "0" : "1")
                                  : text.predicate(value)));
    return;
  }
  type = "u" + std::to_string(bitsOf(type));
  text.add(text.assign(to, type, text.value(value, type)));
}

void convertAddress(EntryText &text, Instruction &from) {
  bool isTo = from.take("to");
  std::string space = takeSpace(from);
  std::string type = from.takeType();
  if (space == "param" || space.empty() || type != "u64") {
    from.failUnknown();
  }
  std::string window = space == "shared"  ? "(b->base + EMU_SHARED_WINDOW)"
                       : space == "local" ? "(b->base + EMU_LOCAL_WINDOW)"
                                          : "0ull";
  text.add(text.assign(from.operand(0), type,
                       text.value(from.operand(1), type) +
                           (isTo ? " - " : " + ") + window));
}

} // namespace

bool translateMemory(EntryText &text, Instruction &from) {
  if (from.base() == "ld") {
    load(text, from);
  } else if (from.base() == "st") {
    store(text, from);
  } else if (from.base() == "mov") {
    move(text, from);
  } else if (from.base() == "cvta") {
    convertAddress(text, from);
  } else {
    return false;
  }
  return true;
}

} // namespace tfc::emulator
