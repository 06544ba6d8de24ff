// The words behind `tfc run`: which are its own, which are tfc-run's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/RunWords.h"

#include "runtime/tools/CommandLine.h"

#include <map>

using namespace tfc;
using llvm::StringRef;

namespace {

/// What both programs have, and the reader of one command line.
class Splitter {
public:
  explicit Splitter(llvm::cl::SubCommand &command)
      : own(llvm::cl::getRegisteredOptions(command)) {
    tools::CompletedProgram other = run::describeCommandLine();
    for (const tools::CompletedOption &option : other.commands[0].options) {
      foreign[option.name] = option.value != tools::CompletedValue::None;
    }
  }

  RunWords split(const std::vector<std::string> &words);

private:
  using Words = std::vector<std::string>;
  Words *readOption(StringRef word, RunWords &result, bool &takesNext);
  std::string nearest(StringRef name) const;

  llvm::DenseMap<StringRef, llvm::cl::Option *> own; // without dashes
  std::map<std::string, bool> foreign; // "--name": whether it takes a value
};

} // namespace

/// Whose it is, and whether the next word is its value; null: nobody's.
Splitter::Words *Splitter::readOption(StringRef word, RunWords &result,
                                      bool &takesNext) {
  auto [name, value] = word.split('=');
  bool hasValue = name.size() != word.size();
  auto found = own.find(name.ltrim('-'));
  if (found != own.end()) {
    takesNext = !hasValue && found->second->getValueExpectedFlag() ==
                                 llvm::cl::ValueRequired;
    return &result.own;
  }
  auto other = foreign.find(name.str());
  if (other == foreign.end()) {
    return nullptr;
  }
  takesNext = !hasValue && other->second;
  return &result.forwarded;
}

/// The name that is most like it, among those with a third of their letters
/// wrong at most; "" where none is.
std::string Splitter::nearest(StringRef name) const {
  std::string best;
  unsigned least = std::max<unsigned>(name.size() / 3, 1) + 1;
  auto compare = [&](const std::string &other) {
    unsigned distance = name.edit_distance(other, true, least);
    if (distance < least) {
      least = distance;
      best = other;
    }
  };
  for (const auto &[other, takesValue] : foreign) {
    compare(other);
  }
  for (const auto &[other, option] : own) {
    compare((other.size() == 1 ? "-" : "--") + other.str());
  }
  return best;
}

RunWords Splitter::split(const Words &words) {
  RunWords result;
  for (size_t i = 0; i < words.size(); ++i) {
    StringRef word = words[i];
    if (word == "--") {
      result.forwarded.insert(result.forwarded.end(), words.begin() + i + 1,
                              words.end());
      break;
    }
    bool takesNext = false;
    bool isOption = word.size() > 1 && word.starts_with("-");
    Words *to = isOption ? readOption(word, result, takesNext) : &result.own;
    if (!to) {
      std::string like = nearest(word.split('=').first);
      result.fault = "expected an option of tfc run or of tfc-run" +
                     (like.empty() ? "" : " (such as " + like + ")") +
                     ", got " + word.str();
      break;
    }
    to->push_back(words[i]);
    if (takesNext && i + 1 < words.size()) {
      to->push_back(words[++i]);
    }
  }
  return result;
}

RunWords tfc::splitRunWords(const std::vector<std::string> &words,
                            llvm::cl::SubCommand &command) {
  return Splitter(command).split(words);
}
