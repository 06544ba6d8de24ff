// Operands of PTX as C expressions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/EntryText.h"

#include "test/emulator/PtxTokens.h"

#include <algorithm>
#include <cctype>

namespace tfc::emulator {

Instruction::Instruction(const Statement &statement, const Entry &entry)
    : statement(statement), entry(entry) {
  std::istringstream opcode(statement.opcode);
  std::getline(opcode, name, '.');
  for (std::string word; std::getline(opcode, word, '.');) {
    words.push_back(word);
  }
}

bool Instruction::take(const std::string &word) {
  auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) {
    return false;
  }
  words.erase(found);
  return true;
}

std::string Instruction::takeOneOf(const std::vector<std::string> &wanted) {
  for (const std::string &word : wanted) {
    if (take(word)) {
      return word;
    }
  }
  return "";
}

std::string Instruction::takeType() {
  if (words.empty()) {
    failUnknown();
  }
  std::string type = words.front();
  words.erase(words.begin());
  try {
    bitsOf(type);
  } catch (const PtxError &) {
    failUnknown();
  }
  return type;
}

const std::string &Instruction::operand(size_t i) const {
  if (i >= statement.operands.size()) {
    failUnknown();
  }
  return statement.operands[i];
}

std::string Instruction::line() const {
  return "b->first_line + " + std::to_string(statement.line - entry.line);
}

void Instruction::failUnknown() const {
  throw PtxError("line " + std::to_string(statement.line) +
                 ": expected an instruction that the emulator knows, got " +
                 statement.text);
}

bool isFloat(const std::string &type) {
  return type[0] == 'f' || type == "bf16";
}

bool isSigned(const std::string &type) { return type[0] == 's'; }

std::string cType(const std::string &type) {
  if (type == "pred") {
    return "uint8_t";
  }
  if (isFloat(type)) {
    return type == "f64" ? "double" : "float";
  }
  return (isSigned(type) ? "int" : "uint") + std::to_string(bitsOf(type)) +
         "_t";
}

std::vector<std::string> elements(const std::string &operand) {
  if (operand.empty() || operand[0] != '{') {
    return {operand};
  }
  std::vector<std::string> parts;
  std::istringstream list(operand.substr(1, operand.find('}') - 1));
  for (std::string part; std::getline(list, part, ',');) {
    parts.push_back(trim(part));
  }
  return parts;
}

EntryText::EntryText(const PtxModule &module, const Entry &entry)
    : module(module), from(entry) {
  for (const Statement &statement : entry.statements) {
    if (!statement.label.empty()) {
      labels.emplace(statement.label, labels.size());
    }
  }
}

/// A C name of a PTX one.
static std::string mangle(const std::string &prefix, const std::string &name) {
  std::string text = prefix;
  for (char c : name) {
    text += std::isalnum(uint8_t(c)) ? c : '_';
  }
  return text;
}

std::string EntryText::label(const std::string &name) const {
  auto found = labels.find(name);
  if (found == labels.end()) {
    throw PtxError(from.name + ": expected a label of the entry, got " + name);
  }
  return "label_" + std::to_string(found->second);
}

int EntryText::bitsOfRegister(const std::string &operand) const {
  auto found = from.registers.find(operand);
  if (found == from.registers.end()) {
    throw PtxError(from.name + ": expected a declared register, got " +
                   operand);
  }
  return found->second;
}

std::string EntryText::registerName(const std::string &operand) const {
  bitsOfRegister(operand);
  return mangle("reg", operand);
}

std::string EntryText::immediate(const std::string &text,
                                 const std::string &type) const {
  std::string digits = text.substr(text[0] == '-');
  if (digits.size() == 10 && digits.compare(0, 2, "0f") == 0) {
    std::string bits = "0x" + digits.substr(2) + "u";
    return isFloat(type) ? "as_f32(" + bits + ")"
                         : "((" + cType(type) + ")" + bits + ")";
  }
  if (digits.size() == 18 && digits.compare(0, 2, "0d") == 0) {
    std::string bits = "0x" + digits.substr(2) + "ull";
    return isFloat(type) ? "as_f64(" + bits + ")"
                         : "((" + cType(type) + ")" + bits + ")";
  }
  std::string allowed = "0123456789";
  bool isHex = digits.compare(0, 2, "0x") == 0;
  size_t end = digits.find_first_not_of(
      isHex ? "0123456789abcdefABCDEF" : allowed, isHex ? 2 : 0);
  if (end != std::string::npos && digits[end] == 'U') {
    ++end;
  }
  if (digits.empty() || (end != std::string::npos && end != digits.size())) {
    return "";
  }
  if (digits.back() == 'U') {
    digits.pop_back();
  }
  std::string sign = text[0] == '-' ? "0 - " : "";
  return "((" + cType(type) + ")(" + sign + digits + "ull))";
}

/// The address of a variable, as mov gives it: in its own state space, a
/// device address of a global one.
std::string EntryText::symbol(const std::string &name) const {
  for (const auto *variables : {&from.locals, &from.shared, &module.shared}) {
    for (const Variable &variable : *variables) {
      if (variable.name == name) {
        return std::to_string(variable.offset) + "ull";
      }
    }
  }
  for (const Variable &variable : module.globals) {
    if (variable.name == name) {
      return "(b->globals + " + std::to_string(variable.offset) + "ull)";
    }
  }
  return "";
}

std::string EntryText::value(const std::string &operand,
                             const std::string &type) const {
  if (isRegister(operand)) {
    std::string name = registerName(operand);
    if (type == "bf16" || type == "f16") {
      return "as_" + type + "((uint16_t)" + name + ")";
    }
    if (isFloat(type)) {
      if (bitsOfRegister(operand) != bitsOf(type)) {
        throw PtxError(from.name + ": expected a register of ." + type +
                       ", got " + operand);
      }
      return "as_" + type + "(" + name + ")";
    }
    return "((" + cType(type) + ")" + name + ")";
  }
  static const char *const tables[][2] = {{"%tid.", "t->tid"},
                                          {"%ntid.", "b->ntid"},
                                          {"%ctaid.", "b->ctaid"},
                                          {"%nctaid.", "b->nctaid"}};
  for (const auto &table : tables) {
    std::string prefix = table[0];
    size_t axis = operand.size() == prefix.size() + 1
                      ? std::string("xyz").find(operand.back())
                      : std::string::npos;
    if (operand.compare(0, prefix.size(), prefix) == 0 &&
        axis != std::string::npos) {
      return std::string("((") + cType(type) + ")" + table[1] + "[" +
             std::to_string(axis) + "])";
    }
  }
  std::string text = immediate(operand, type);
  text = text.empty() ? symbol(operand) : text;
  if (text.empty()) {
    throw PtxError(from.name + ": expected an operand that the emulator " +
                   "knows, got " + operand);
  }
  return text;
}

std::string EntryText::assign(const std::string &operand,
                              const std::string &type,
                              const std::string &expression) const {
  if (operand == "_") {
    return "(void)(" + expression + ");";
  }
  int bits = bitsOfRegister(operand);
  bool fits = isFloat(type) ? bits == bitsOf(type) : bits >= bitsOf(type);
  if (!fits || (type == "pred") != (bits == 1)) {
    throw PtxError(from.name + ": expected a register of ." + type + ", got " +
                   operand);
  }
  std::string name = registerName(operand);
  if (isFloat(type)) {
    return name + " = bits_" + type + "(" + expression + ");";
  }
  std::string width = bits == 1 ? "uint8_t" : cType("u" + std::to_string(bits));
  // Through the type, whose sign fills a register that is wider.
  return name + " = (" + width + ")(" + cType(type) + ")(" + expression + ");";
}

std::string EntryText::predicate(const std::string &operand) const {
  bool isNegated = operand[0] == '!';
  return (isNegated ? "!" : "") + registerName(operand.substr(isNegated));
}

Address EntryText::address(const std::string &operand) const {
  if (operand.size() < 3 || operand.front() != '[' || operand.back() != ']') {
    throw PtxError(from.name + ": expected an address, got " + operand);
  }
  std::string inner = operand.substr(1, operand.size() - 2);
  size_t plus = inner.find('+'); // "%rd1+4", "%rd1+-4"
  std::string name = trim(inner.substr(0, plus));
  std::string offset =
      plus == std::string::npos ? "0" : trim(inner.substr(plus + 1));
  Address result;
  for (const Variable &param : from.params) {
    if (param.name == name) {
      result.param = &param;
      result.offset = uint64_t(std::stoll(offset));
      return result;
    }
  }
  result.text = "(" + value(name, "u64") + " + (uint64_t)(" + offset + "ll))";
  return result;
}

} // namespace tfc::emulator
