// Writes the C of entries.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/Translate.h"

#include "test/emulator/EntryText.h"

#include <algorithm>

namespace tfc::emulator {

static uint64_t endOf(const std::vector<Variable> &variables) {
  uint64_t end = 0;
  for (const Variable &variable : variables) {
    end = std::max(end, variable.offset + variable.bytes);
  }
  return end;
}

static void translateStatement(EntryText &text, const Statement &statement) {
  if (!statement.label.empty()) {
    text.add(text.label(statement.label) + ":;");
    return;
  }
  Instruction instruction(statement, text.entry());
  if (!statement.guard.empty()) {
    text.add("if (" + text.predicate(statement.guard) + ") {");
  }
  bool isKnown = translateMemory(text, instruction) ||
                 translateArithmetic(text, instruction) ||
                 translateBits(text, instruction) ||
                 translateConversion(text, instruction) ||
                 translateControl(text, instruction) ||
                 translateWarp(text, instruction) ||
                 translateMatrix(text, instruction);
  if (!isKnown || !instruction.isUsedUp()) {
    instruction.failUnknown();
  }
  if (!statement.guard.empty()) {
    text.add("}");
  }
}

/// Registers begin with a pattern that is seen where nobody has written one.
static std::string declareRegisters(const EntryText &text) {
  std::string declarations;
  for (const auto &[name, bits] : text.entry().registers) {
    std::string type = bits == 1 ? "pred" : "u" + std::to_string(bits);
    declarations += "  " + cType(type) + " " + text.registerName(name) +
                    " = (" + cType(type) + ")" +
                    (bits == 1 ? "1" : "0x7fc0dead7fc0deadull") + ";\n";
  }
  return declarations;
}

static std::string translateEntry(const PtxModule &module, const Entry &entry) {
  EntryText text(module, entry);
  for (const Statement &statement : entry.statements) {
    translateStatement(text, statement);
  }
  std::string local;
  if (uint64_t bytes = endOf(entry.locals)) {
    local = "  uint32_t local[" + std::to_string((bytes + 3) / 4) +
            "] __attribute__((aligned(16)));\n"
            "  for (unsigned i = 0; i < sizeof local / 4; ++i) "
            "local[i] = 0x7fc0deadu;\n"
            "  t->local = (unsigned char *)local;\n"
            "  t->local_bytes = " +
            std::to_string(bytes) + ";\n";
  }
  return "#include \"test/emulator/kernel_matrix.h\"\n"
         "void kernel(emu_block *b, emu_thread *t) {\n" +
         declareRegisters(text) + local + text.text() + "}\n";
}

uint64_t sharedBytes(const PtxModule &module, const Entry &entry) {
  return std::max(endOf(module.shared), endOf(entry.shared));
}

/// Whether an opcode begins with one of these.
static bool hasAny(const Entry &entry,
                   std::initializer_list<const char *> bases) {
  auto isOne = [&](const Statement &statement) {
    return std::any_of(bases.begin(), bases.end(), [&](const char *base) {
      return statement.opcode.rfind(base, 0) == 0;
    });
  };
  return std::any_of(entry.statements.begin(), entry.statements.end(), isOne);
}

bool doThreadsMeet(const Entry &entry) {
  return hasAny(entry,
                {"bar", "shfl", "vote", "cp", "ldmatrix", "mma", "wgmma"});
}

bool doWarpgroupsMultiply(const Entry &entry) {
  return hasAny(entry, {"wgmma"});
}

std::vector<std::string> translate(PtxModule &module) {
  uint64_t shared = layOut(module.shared);
  std::vector<std::string> texts;
  for (Entry &entry : module.entries) {
    layOut(entry.shared, shared);
    layOut(entry.locals);
    texts.push_back(translateEntry(module, entry));
  }
  return texts;
}

} // namespace tfc::emulator
