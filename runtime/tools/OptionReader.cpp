// How the tools' command lines are read: one library, options, flags.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/OptionReader.h"

namespace tfc::tools {

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
  if (!*flags.at("--help") && !*flags.at("--version")) {
    checkAll();
  }
}

} // namespace tfc::tools
