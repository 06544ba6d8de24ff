// Scripts for bash, zsh and fish, each of the same tables.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/Completion.h"

#include <algorithm>

namespace tfc::tools {

namespace {

std::string replaceAll(std::string text, const std::string &from,
                       const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos;
       at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// A word of any of the three shells.
std::string quote(const std::string &text) {
  return "'" + replaceAll(text, "'", "'\\''") + "'";
}

template <typename Values, typename Get>
std::string join(const Values &values, const char *between, Get get) {
  std::string out;
  for (const auto &value : values) {
    out += (out.empty() ? "" : between) + get(value);
  }
  return out;
}

std::string joinWords(const std::vector<std::string> &words) {
  return join(words, " ", [](const std::string &word) { return word; });
}

/// A function's name in a shell.
std::string functionOf(const std::string &name) {
  return "_" + replaceAll(name, "-", "_");
}

std::vector<std::string> commandNames(const CompletedProgram &program) {
  std::vector<std::string> names;
  for (const CompletedCommand &command : program.commands) {
    if (!command.name.empty()) {
      names.push_back(command.name);
    }
  }
  return names;
}

/// Where a script says nothing, bash completes files.
std::string printBash(const CompletedProgram &program) {
  std::string function = functionOf(program.name);
  std::string names = joinWords(commandNames(program));
  std::string values, options;
  for (const CompletedCommand &command : program.commands) {
    for (const CompletedOption &option : command.options) {
      std::string label = "    '" + command.name + " " + option.name + "') ";
      if (option.value == CompletedValue::Word) {
        values += label + "COMPREPLY=($(compgen -W '" +
                  joinWords(option.words) + "' -- \"$cur\")); return ;;\n";
      } else if (option.value == CompletedValue::Path) {
        values += label + "return ;;\n";
      } else if (option.value == CompletedValue::Any) {
        values += label + "compopt +o default 2>/dev/null; return ;;\n";
      }
    }
    options += "      '" + command.name + "') words='" +
               join(command.options, " ",
                    [](const CompletedOption &o) { return o.name; }) +
               "' ;;\n";
  }
  std::string script =
      "# Completes the command line of " + program.name + " in bash.\n" +
      function +
      "() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} command= words= i\n"
      "  local prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
      "  COMPREPLY=()\n"
      "  # bash divides --name=value into three words.\n"
      "  if [[ $cur == '=' ]]; then\n"
      "    cur=\n"
      "  elif [[ $prev == '=' ]]; then\n"
      "    prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
      "  fi\n";
  if (!names.empty()) {
    script += "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
              "    case ${COMP_WORDS[i]} in\n      " +
              replaceAll(names, " ", "|") +
              ") command=${COMP_WORDS[i]}; break ;;\n"
              "    esac\n"
              "  done\n";
  }
  script += "  case \"$command $prev\" in\n" + values +
            "  esac\n"
            "  if [[ $cur == -* ]]; then\n"
            "    case $command in\n" +
            options + "    esac\n";
  if (!names.empty()) {
    script += "  elif [[ -z $command ]]; then\n"
              "    words='" +
              names + "'\n";
  }
  return script +
         "  fi\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "}\n"
         "complete -o default -F " +
         function + " " + program.name + "\n";
}

std::string zshOption(const CompletedOption &option) {
  std::string text = replaceAll(option.description, "\\", "\\\\");
  text = replaceAll(replaceAll(text, "[", "\\["), "]", "\\]");
  bool isLong = option.name.compare(0, 2, "--") == 0;
  std::string spec = "*" + option.name;
  switch (option.value) {
  case CompletedValue::None:
    return quote(spec + "[" + text + "]");
  case CompletedValue::Any:
    return quote(spec + (isLong ? "=" : "") + "[" + text + "]:value: ");
  case CompletedValue::Path:
    return quote(spec + (isLong ? "=" : "") + "[" + text + "]:path:_files");
  case CompletedValue::Word:
    break;
  }
  return quote(spec + (isLong ? "=" : "") + "[" + text + "]:value:(" +
               joinWords(option.words) + ")");
}

std::string zshArguments(const CompletedCommand &command) {
  return "  _arguments \\\n" +
         join(command.options, "",
              [](const CompletedOption &option) {
                return "    " + zshOption(option) + " \\\n";
              }) +
         "    '*:file:_files'\n";
}

std::string printZsh(const CompletedProgram &program) {
  std::string function = functionOf(program.name);
  std::string script = "#compdef " + program.name + "\n";
  std::string commands, cases;
  for (const CompletedCommand &command : program.commands) {
    if (command.name.empty()) {
      continue;
    }
    std::string name = function + "_" + command.name;
    script += name + "() {\n" + zshArguments(command) + "}\n";
    commands += "      " +
                quote(command.name + ":" +
                      replaceAll(command.description, ":", "\\:")) +
                "\n";
    cases += "      " + command.name + ") " + name + " ;;\n";
  }
  script += function + "() {\n";
  if (commands.empty()) {
    script += zshArguments(program.commands.front());
  } else {
    script += "  if ((CURRENT > 2)); then\n"
              "    local command=$words[2]\n"
              "    shift words\n"
              "    ((CURRENT--))\n"
              "    case $command in\n" +
              cases +
              "    esac\n"
              "  elif [[ $words[2] == -* ]]; then\n" +
              zshArguments(program.commands.front()) +
              "  else\n"
              "    local -a commands=(\n" +
              commands +
              "    )\n"
              "    _describe command commands\n"
              "  fi\n";
  }
  return script + "}\nif [[ $funcstack[1] == " + function + " ]]; then\n  " +
         function + " \"$@\"\nelse\n  compdef " + function + " " +
         program.name + "\nfi\n";
}

std::string printFish(const CompletedProgram &program) {
  std::string script =
      "# Completes the command line of " + program.name + " in fish.\n";
  std::string begin = "complete -c " + program.name;
  bool hasCommands = !commandNames(program).empty();
  for (const CompletedCommand &command : program.commands) {
    std::string where;
    if (!command.name.empty()) {
      script += begin + " -n __fish_use_subcommand -f -a " + command.name +
                " -d " + quote(command.description) + "\n";
      where = " -n '__fish_seen_subcommand_from " + command.name + "'";
    } else if (hasCommands) {
      where = " -n __fish_use_subcommand";
    }
    for (const CompletedOption &option : command.options) {
      bool isLong = option.name.compare(0, 2, "--") == 0;
      script += begin + where + (isLong ? " -l " : " -s ") +
                option.name.substr(isLong ? 2 : 1);
      script += option.value == CompletedValue::Path  ? " -r -F"
                : option.value == CompletedValue::Any ? " -x"
                : option.value == CompletedValue::Word
                    ? " -x -a " + quote(joinWords(option.words))
                    : "";
      script += " -d " + quote(option.description) + "\n";
    }
  }
  return script;
}

} // namespace

std::vector<std::string> wordsOf(const std::string &expected) {
  std::string text = replaceAll(expected, "|", ", ");
  text = replaceAll(text, " or ", ", ");
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(", ", begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 2;
  }
  bool isWords =
      words.size() > 1 &&
      std::all_of(words.begin(), words.end(), [](const std::string &word) {
        return !word.empty() && word.find(' ') == word.npos;
      });
  return isWords ? words : std::vector<std::string>();
}

std::string firstClause(const std::string &description) {
  size_t end = description.size();
  for (const char *mark : {". ", "; ", ": ", " ("}) {
    end = std::min(end, description.find(mark));
  }
  return description.substr(0, end);
}

std::optional<std::string> printCompletion(const CompletedProgram &program,
                                           const std::string &shell) {
  return shell == "bash"   ? std::optional<std::string>(printBash(program))
         : shell == "zsh"  ? std::optional<std::string>(printZsh(program))
         : shell == "fish" ? std::optional<std::string>(printFish(program))
                           : std::nullopt;
}

} // namespace tfc::tools
