// Reads PTX: directives, variables, entries, statements.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/ReadPtx.h"

#include "test/emulator/PtxTokens.h"

#include <algorithm>
#include <cstring>

namespace tfc::emulator {

int bitsOf(const std::string &type) {
  if (type == "pred") {
    return 1;
  }
  static const char *const types[] = {"b8",  "u8",  "s8",  "b16", "u16", "s16",
                                      "b32", "u32", "s32", "b64", "u64", "s64",
                                      "f16", "f32", "f64", "bf16"};
  for (const char *known : types) {
    if (type == known) {
      return std::stoi(type.substr(type.find_first_of("0123456789")));
    }
  }
  throw PtxError("expected a type, got ." + type);
}

uint64_t layOut(std::vector<Variable> &variables, uint64_t begin) {
  for (Variable &variable : variables) {
    begin = (begin + variable.align - 1) / variable.align * variable.align;
    variable.offset = begin;
    begin += variable.bytes;
  }
  return begin;
}

namespace {

class Reader {
public:
  explicit Reader(const std::string &text) : tokens(text) {}
  PtxModule read();

private:
  Variable readVariable(const std::string &ends);
  void readValue(Variable &variable, int bits);
  void readEntry();
  void readParams(Entry &entry);
  void readBody(Entry &entry);
  void readStatement(Entry &entry);
  void readRegisters(Entry &entry);
  std::vector<std::string> readOperands();

  PtxTokens tokens;
  PtxModule module;
};

/// `.align 4 .b8 name[12] = {1, 2}` up to one of `ends`, which stays.
Variable Reader::readVariable(const std::string &ends) {
  Variable variable;
  int bits = 0;
  for (;;) {
    std::string word = tokens.word();
    if (word == ".align") {
      variable.align = std::stoull(tokens.word());
    } else if (word == ".ptr") { // of a parameter: what it points to
      while (tokens.peek() == '.') {
        if (tokens.word() == ".align") {
          tokens.word();
        }
      }
    } else if (word[0] == '.') {
      bits = bitsOf(word.substr(1));
    } else {
      variable.name = word;
      break;
    }
  }
  if (bits == 0) {
    tokens.fail("expected a type of " + variable.name + ", got none");
  }
  uint64_t count = 1;
  if (tokens.take("[")) {
    count = tokens.peek() == ']' ? 0 : std::stoull(tokens.word());
    tokens.expect("]");
  }
  variable.bytes = uint64_t(bits) / 8 * count;
  variable.align = std::max<uint64_t>(variable.align, uint64_t(bits) / 8);
  if (tokens.take("=")) {
    readValue(variable, bits);
  }
  tokens.peek();
  if (ends.find(tokens.peek()) == std::string::npos) {
    tokens.fail("expected one of " + ends + " behind " + variable.name);
  }
  return variable;
}

void Reader::readValue(Variable &variable, int bits) {
  bool isList = tokens.take("{");
  do {
    std::string word = trim(tokens.until(isList ? ",}" : ";"));
    bool isFloat = word[0] == '0' && (word[1] == 'f' || word[1] == 'd');
    if (word.empty() || word.find_first_not_of("0123456789abcdefxABCDEFXU-") !=
                            std::string::npos) {
      if (!isFloat) {
        tokens.fail("expected numbers as the value of " + variable.name +
                    ", got " + word);
      }
    }
    uint64_t value = isFloat          ? std::stoull(word.substr(2), nullptr, 16)
                     : word[0] == '-' ? uint64_t(std::stoll(word, nullptr, 0))
                                      : std::stoull(word, nullptr, 0);
    for (int b = 0; b < bits; b += 8) {
      variable.value.push_back(uint8_t(value >> b));
    }
  } while (isList && tokens.take(","));
  if (isList) {
    tokens.expect("}");
  }
  variable.bytes = std::max<uint64_t>(variable.bytes, variable.value.size());
}

/// `.reg .b32 %r<10>;` is %r0 to %r9; `.reg .b64 %SP;` is one.
void Reader::readRegisters(Entry &entry) {
  int bits = bitsOf(tokens.word().substr(1));
  do {
    std::string name = tokens.word();
    size_t open = name.find('<');
    if (open == std::string::npos) {
      entry.registers[name] = bits;
      continue;
    }
    int count = std::stoi(name.substr(open + 1));
    for (int i = 0; i < count; ++i) {
      entry.registers[name.substr(0, open) + std::to_string(i)] = bits;
    }
  } while (tokens.take(","));
  tokens.expect(";");
}

std::vector<std::string> Reader::readOperands() {
  std::vector<std::string> operands;
  std::string current;
  int depth = 0;
  for (char c : tokens.until(";")) {
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    if (c == ',' && depth == 0) {
      operands.push_back(trim(current));
      current.clear();
    } else {
      current += c;
    }
  }
  if (!trim(current).empty()) {
    operands.push_back(trim(current));
  }
  return operands;
}

void Reader::readStatement(Entry &entry) {
  Statement statement;
  tokens.peek();
  statement.line = tokens.line();
  if (tokens.take("@")) {
    statement.guard = tokens.take("!") ? "!" : "";
    statement.guard += tokens.word();
  }
  std::string word = tokens.word();
  if (tokens.take("::")) { // part of an opcode, as in .L1::evict_last
    word += "::" + tokens.word();
  } else if (tokens.take(":")) {
    statement.label = word;
    entry.statements.push_back(statement);
    return;
  }
  statement.opcode = word;
  statement.operands = readOperands();
  tokens.expect(";");
  statement.text = statement.opcode;
  for (size_t i = 0; i < statement.operands.size(); ++i) {
    statement.text += (i ? ", " : " ") + statement.operands[i];
  }
  entry.statements.push_back(statement);
}

/// Registers of a block within are the entry's: those of blocks that use one
/// name begin with what the block before left, which none of ours reads.
void Reader::readBody(Entry &entry) {
  tokens.expect("{");
  while (!tokens.take("}")) {
    if (tokens.peek() == '{') {
      readBody(entry);
      continue;
    }
    if (tokens.peek() != '.') {
      readStatement(entry);
      continue;
    }
    std::string directive = tokens.word();
    if (directive == ".reg") {
      readRegisters(entry);
    } else if (directive == ".local" || directive == ".shared") {
      auto &variables = directive == ".local" ? entry.locals : entry.shared;
      variables.push_back(readVariable(";"));
      tokens.expect(";");
    } else if (directive == ".loc") {
      tokens.until("\n");
    } else if (directive == ".pragma") {
      tokens.until(";");
      tokens.expect(";");
    } else {
      tokens.fail("expected a known directive in " + entry.name + ", got " +
                  directive);
    }
  }
}

void Reader::readParams(Entry &entry) {
  if (!tokens.take("(")) {
    return;
  }
  while (!tokens.take(")")) {
    tokens.expect(".param");
    entry.params.push_back(readVariable(",)"));
    tokens.take(",");
  }
  entry.paramBytes = layOut(entry.params);
}

void Reader::readEntry() {
  Entry entry;
  entry.line = tokens.line();
  entry.name = tokens.word();
  readParams(entry);
  while (tokens.peek() != '{') {
    std::string directive = tokens.word();
    bool isExact = directive == ".reqntid";
    if (!isExact && directive != ".maxntid" && directive != ".minnctapersm" &&
        directive != ".maxnreg") {
      tokens.fail("expected a known directive of " + entry.name + ", got " +
                  directive);
    }
    int axis = 0;
    do {
      auto count = uint32_t(std::stoul(tokens.word()));
      if (isExact && axis < 3) {
        entry.threads[axis] = count;
      }
    } while (++axis, tokens.take(","));
    for (; isExact && axis < 3; ++axis) {
      entry.threads[axis] = 1;
    }
  }
  readBody(entry);
  module.entries.push_back(std::move(entry));
}

PtxModule Reader::read() {
  while (!tokens.atEnd()) {
    std::string directive = tokens.word();
    if (directive == ".version" || directive == ".address_size") {
      tokens.word();
    } else if (directive == ".target") {
      std::string target = tokens.word();
      module.capability = std::atoi(target.c_str() + std::strlen("sm_"));
      module.isExact = target.back() == 'a';
      while (tokens.take(",")) {
        tokens.word();
      }
    } else if (directive == ".file") {
      tokens.until("\n");
    } else if (directive == ".entry") {
      readEntry();
    } else if (directive == ".global" || directive == ".const") {
      module.globals.push_back(readVariable(";"));
      tokens.expect(";");
    } else if (directive == ".shared") {
      module.shared.push_back(readVariable(";"));
      tokens.expect(";");
    } else if (directive != ".visible" && directive != ".extern" &&
               directive != ".weak") {
      tokens.fail("expected a known directive, got " + directive);
    }
  }
  module.globalBytes = layOut(module.globals);
  return std::move(module);
}

} // namespace

PtxModule readPtx(const std::string &text) { return Reader(text).read(); }

} // namespace tfc::emulator
