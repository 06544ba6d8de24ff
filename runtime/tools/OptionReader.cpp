// How the tools' command lines are read: one library, options, flags.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/OptionReader.h"

#include <algorithm>
#include <sstream>

namespace tfc::tools {

std::string describeOption(const std::string &help, const std::string &name) {
  // Where the help texts of the tools put descriptions.
  constexpr size_t column = 24;
  std::istringstream lines(help);
  std::string description;
  bool isInside = false;
  for (std::string line; std::getline(lines, line);) {
    size_t first = line.find_first_not_of(' ');
    if (isInside && first != column) {
      break;
    }
    size_t end = line.find_first_of(" =", 2);
    if (!isInside && first == 2 &&
        line.substr(2, std::min(end, line.size()) - 2) == name) {
      isInside = true;
      // A long name has its description on the next line.
      bool isBeside = line.size() > column && line[column - 1] == ' ' &&
                      line.find_first_not_of(' ', column - 1) == column;
      description = isBeside ? line.substr(column) : "";
    } else if (isInside) {
      description += (description.empty() ? "" : " ") + line.substr(column);
    }
  }
  return firstClause(description);
}

CompletedProgram OptionReader::describe() const {
  CompletedCommand all;
  for (const auto &[name, option] : options) {
    CompletedOption made{name, describeOption(help, name), CompletedValue::Any,
                         wordsOf(option.expected)};
    made.value = !made.words.empty() ? CompletedValue::Word
                 : option.expected == std::string("a path")
                     ? CompletedValue::Path
                     : CompletedValue::Any;
    all.options.push_back(std::move(made));
  }
  for (const auto &[name, flag] : flags) {
    all.options.push_back(
        {name, describeOption(help, name), CompletedValue::None, {}});
  }
  return {tool, {std::move(all)}};
}

OptionReader::Read OptionReader::readText(std::string &target) {
  return [&target](const std::string &value) {
    target = value;
    return !value.empty();
  };
}

void OptionReader::readLibrary(const std::string &argument) {
  if (!library.empty()) {
    fault("expected one library, got " + library + " and " + argument);
  }
  library = argument;
}

void OptionReader::readValue(const std::string &name, const Option &option,
                             const std::optional<std::string> &value) {
  if (!seen.insert(name).second && !option.mayRepeat) {
    fault(name + ": expected once, got twice");
  } else if (!value || !option.read(*value)) {
    fault(name + ": expected " + option.expected + ", got " +
          (!value || value->empty() ? "nothing" : *value));
  }
}

void OptionReader::read(const std::vector<std::string> &arguments) {
  options["--print-completion"] = {
      "bash, zsh or fish", [this](const std::string &value) {
        std::optional<std::string> script = printCompletion(describe(), value);
        completion = script.value_or("");
        return script.has_value();
      }};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    if (argument.rfind("--", 0) != 0) {
      readLibrary(argument);
      continue;
    }
    size_t equals = argument.find('=');
    std::string name = argument.substr(0, equals);
    auto flag = flags.find(name);
    if (flag != flags.end() && equals == std::string::npos) {
      *flag->second = true;
      continue;
    }
    auto option = options.find(name);
    if (option == options.end()) {
      fault(std::string("expected an option of ") + tool + ", got " + argument);
      continue;
    }
    std::optional<std::string> value;
    if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    }
    readValue(name, option->second, value);
  }
  bool isAsked = *flags.at("--help") || *flags.at("--version") ||
                 seen.count("--print-completion");
  if (!isAsked) {
    checkAll();
  }
}

} // namespace tfc::tools
