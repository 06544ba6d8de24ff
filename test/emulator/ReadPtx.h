// A PTX module as text becomes lists: variables, entries, and of each entry
// its registers and statements. Knows no instruction.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_READPTX_H
#define TFC_TEST_EMULATOR_READPTX_H

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace tfc::emulator {

/// What is wrong with a PTX text; the message names the line.
struct PtxError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// `.align 4 .b8 name[12] = {...}`, or a parameter.
struct Variable {
  std::string name;
  uint64_t align = 1, bytes = 0;
  uint64_t offset = 0;        // in the area of its state space
  std::vector<uint8_t> value; // of its first bytes; the rest is zero
};

/// A label, or an instruction with its guard.
struct Statement {
  int line = 0;
  std::string label;  // the statement is this label
  std::string guard;  // "%p1", "!%p1", or ""
  std::string opcode; // "ld.global.v2.b32"
  std::vector<std::string> operands;
  std::string text; // as it was written
};

struct Entry {
  std::string name;
  int line = 0;
  std::vector<Variable> params, shared, locals;
  uint64_t paramBytes = 0;
  uint32_t threads[3] = {0, 0, 0};      // .reqntid; 0: none given
  std::map<std::string, int> registers; // bits by name; 1: a predicate
  std::vector<Statement> statements;
};

struct PtxModule {
  int capability = 0;            // of .target: 80
  bool isExact = false;          // of no later one: sm_90a
  std::vector<Variable> globals; // .global and .const
  std::vector<Variable> shared;  // outside entries
  uint64_t globalBytes = 0;
  std::vector<Entry> entries;
};

/// Bits of a type's name, "b32" is 32, "pred" is 1. Errors: PtxError.
int bitsOf(const std::string &type);

/// Gives each variable its offset, from `begin` on; the end.
uint64_t layOut(std::vector<Variable> &variables, uint64_t begin = 0);

/// Errors: PtxError.
PtxModule readPtx(const std::string &text);

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_READPTX_H
