// `tfc --print-completion`: LLVM's tables of options as shells complete them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/Completion.h"

#include "runtime/tools/CommandLine.h"
#include "runtime/tools/Completion.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using tfc::tools::CompletedCommand;
using tfc::tools::CompletedOption;
using tfc::tools::CompletedValue;

static CompletedOption describe(StringRef name, const cl::Option &option) {
  CompletedOption made;
  made.name = (name.size() == 1 ? "-" : "--") + name.str();
  made.description = tfc::tools::firstClause(option.HelpStr.str());
  if (option.getValueExpectedFlag() != cl::ValueRequired) {
    return made;
  }
  made.words = tfc::tools::wordsOf(option.ValueStr.str());
  made.value = !made.words.empty() ? CompletedValue::Word
               : option.ValueStr == "file" || option.ValueStr == "dir"
                   ? CompletedValue::Path
                   : CompletedValue::Any;
  return made;
}

std::optional<std::string>
tfc::printCompletion(ArrayRef<cl::SubCommand *> commands, StringRef shell) {
  tools::CompletedProgram program, behind = run::describeCommandLine();
  program.name = "tfc";
  for (cl::SubCommand *command : commands) {
    CompletedCommand made{
        command->getName().str(), command->getDescription().str(), {}};
    for (const auto &[name, option] : cl::getRegisteredOptions(*command)) {
      if (option->getOptionHiddenFlag() == cl::NotHidden) {
        made.options.push_back(describe(name, *option));
      }
    }
    // `tfc run` takes those of tfc-run, too; what both have is its own.
    if (made.name == "run") {
      for (const CompletedOption &option : behind.commands[0].options) {
        if (llvm::none_of(made.options, [&](const CompletedOption &other) {
              return other.name == option.name;
            })) {
          made.options.push_back(option);
        }
      }
    }
    // The table's order is that of hashes.
    llvm::sort(made.options,
               [](const CompletedOption &a, const CompletedOption &b) {
                 return a.name < b.name;
               });
    program.commands.push_back(std::move(made));
  }
  return tools::printCompletion(program, shell.str());
}
