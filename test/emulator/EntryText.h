// The C text of one PTX entry while it is written: registers, operands, and
// instructions taken apart. Groups of instructions write through it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_ENTRYTEXT_H
#define TFC_TEST_EMULATOR_ENTRYTEXT_H

#include "test/emulator/ReadPtx.h"

#include <sstream>

namespace tfc::emulator {

/// "mul.wide.s32 %rd1, %r2, 4", taken apart. Who translates it takes the words
/// that it understands; one that is left over makes it unknown.
class Instruction {
public:
  Instruction(const Statement &statement, const Entry &entry);

  const std::string &base() const { return name; } // "mul"
  /// Takes a word when the opcode has it.
  bool take(const std::string &word);
  /// Takes the first of these words that the opcode has; "" when none is.
  std::string takeOneOf(const std::vector<std::string> &words);
  /// Takes the first word left, which must be a type. Errors: PtxError.
  std::string takeType();
  /// Whether every word was taken.
  bool isUsedUp() const { return words.empty(); }
  /// Operand i. Errors: PtxError when there are fewer.
  const std::string &operand(size_t i) const;
  size_t count() const { return statement.operands.size(); }
  /// Its line in the PTX, as an expression: counted from the entry's, so that
  /// the same entry elsewhere is the same text.
  std::string line() const;
  [[noreturn]] void failUnknown() const;

private:
  const Statement &statement;
  const Entry &entry;
  std::string name;
  std::vector<std::string> words;
};

/// "[%rd1+4]" as an expression, and what its name stands for when it is one.
struct Address {
  std::string text;
  const Variable *param = nullptr; // with `offset`
  uint64_t offset = 0;
};

class EntryText {
public:
  EntryText(const PtxModule &module, const Entry &entry);

  /// The value of an operand as a C expression of the type ("f32").
  std::string value(const std::string &operand, const std::string &type) const;
  /// "register = expression", the expression being of the type. "_" drops it.
  std::string assign(const std::string &operand, const std::string &type,
                     const std::string &expression) const;
  /// A predicate, "!" in front negates it.
  std::string predicate(const std::string &operand) const;
  Address address(const std::string &operand) const;
  std::string label(const std::string &name) const;
  /// Appends a line of C.
  void add(const std::string &text) { body << "  " << text << '\n'; }
  std::string text() const { return body.str(); }
  const Entry &entry() const { return from; }
  /// The C name of a register. Errors: PtxError when it is not declared.
  std::string registerName(const std::string &operand) const;
  bool isRegister(const std::string &operand) const {
    return from.registers.count(operand) != 0;
  }

private:
  std::string immediate(const std::string &text, const std::string &type) const;
  std::string symbol(const std::string &name) const;
  int bitsOfRegister(const std::string &operand) const;

  const PtxModule &module;
  const Entry &from;
  std::map<std::string, size_t> labels; // by name, in their order
  std::ostringstream body;
};

/// The C type of numbers: "int32_t" of "s32".
std::string cType(const std::string &type);
bool isFloat(const std::string &type);
bool isSigned(const std::string &type);
/// "{%r1, %r2}" or "%r1" as a list.
std::vector<std::string> elements(const std::string &operand);

// The groups. Each writes the instruction and returns true, or returns false
// when it is none of its own. Errors: PtxError.
bool translateMemory(EntryText &text, Instruction &from);
bool translateArithmetic(EntryText &text, Instruction &from);
bool translateBits(EntryText &text, Instruction &from);
bool translateConversion(EntryText &text, Instruction &from);
bool translateControl(EntryText &text, Instruction &from);
bool translateWarp(EntryText &text, Instruction &from);
bool translateMatrix(EntryText &text, Instruction &from);

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_ENTRYTEXT_H
