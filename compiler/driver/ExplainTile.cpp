// Reads the strategy table aloud.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/ExplainTile.h"

#include "compiler/tiling/Strategy.h"
#include "llvm/ADT/STLExtras.h"

using namespace tfc;

static std::string describe(const Strategy &s) {
  auto number = [](int64_t value) { return std::to_string(value); };
  std::string text =
      number(s.rows) + " rows x " + number(s.panel) +
      " columns in vectors of " + number(s.lanes) + " (" +
      number(s.rows * (s.panel / s.lanes)) + " sums), items of " +
      number(s.rowBlock) + " rows, turns of " + number(s.turnRows) +
      " rows x steps, asks " + number(s.prefetch) + " steps ahead from " +
      number(s.prefetchRows) + " rows on, blocks of " +
      number(s.blockBytes >> 10) + " KiB";
  return text + (s.matrices                         ? ", multiplies matrices"
                 : s.dots || s.excess || s.isSigned ? ", multiplies words"
                                                    : "");
}

std::vector<std::string> tfc::explainTile(const TargetInfo &target,
                                          int64_t weightBits) {
  std::string own = describe(
      chooseStrategy(target.name, target.microarchitecture, weightBits));
  // What is said, and who has it.
  std::vector<std::pair<std::string, std::string>> others;
  for (llvm::StringRef program : listStrategies()) {
    for (llvm::StringRef machine : listMicroarchitectures()) {
      std::string text = describe(chooseStrategy(program, machine, weightBits));
      bool isOfLevel =
          !machine.empty() &&
          text == describe(chooseStrategy(program, "", weightBits));
      if (text != own && !isOfLevel) {
        auto known = llvm::find_if(
            others, [&](const auto &each) { return each.first == text; });
        if (known == others.end()) {
          known = others.insert(others.end(), {text, ""});
        }
        std::string &names = known->second;
        names += (names.empty() ? "" : ", ") + program.str() +
                 (machine.empty() ? "" : " for " + machine.str());
      }
    }
  }
  std::vector<std::string> lines = {own};
  for (const auto &[text, names] : others) {
    lines.push_back(names + ": " + text);
  }
  return lines;
}
