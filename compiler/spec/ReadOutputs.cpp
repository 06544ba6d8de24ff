// Outputs: which results the library gives, and under which names.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecReader.h"

#include <algorithm>

namespace tfc::spec {

void SpecReader::readOutputs() {
  std::string hidden = std::string(stackName()) + ".hidden";
  const Json *outputs = root.find("outputs");
  if (!outputs) {
    model.outputs.push_back({"last_hidden_state", hidden, -1});
    return;
  }
  if (outputs->isObject() && outputs->members.empty()) {
    error(outputs->place, BadOutput, "expected at least one output, got none");
  }
  // By name, so that the order does not depend on the file.
  std::map<std::string, const Member *> byName;
  for (const Member &member : outputs->members) {
    byName.emplace(member.key, &member);
  }
  std::optional<TakeStep::At> take;
  for (const auto &[name, member] : byName) {
    Json key(name);
    key.place = member->keyPlace;
    if (!member->value.isString() || !isIdentifier(&key, BadOutput)) {
      continue;
    }
    readOutput(name, member->value);
    auto result = results.find(
        member->value.text.substr(0, member->value.text.find('.')));
    if (result == results.end() || !result->second.take) {
      continue;
    }
    if (take && *take != *result->second.take) {
      error(member->value.place, BadTake,
            "expected outputs that take the same rows (a step has one list of "
            "rows), got " +
                describe(member->value));
    }
    take = result->second.take;
  }
}

void SpecReader::readOutput(const std::string &name, const Json &value) {
  const std::string &text = value.text;
  std::string stack = stackName();
  if (text == stack + ".hidden") {
    model.outputs.push_back({name, text, -1});
    return;
  }
  if (text == stack + ".all_hidden" || text == stack + ".attentions") {
    error(value.place, Unsupported,
          "expected " + stack + ".hidden or a head (" + text +
              " is not supported by this tfc), got " + describe(value));
    return;
  }
  std::string head = text.substr(0, text.find('.'));
  std::string part =
      text.size() > head.size() ? text.substr(head.size() + 1) : std::string();
  auto result = results.find(head);
  if (result == results.end()) {
    std::vector<std::string> words = {stack + ".hidden"};
    std::string have = words[0];
    for (const auto &[other, unused] : results) {
      words.push_back(other);
      have += ", " + other;
    }
    std::string near = nearestWord(text, words);
    error(value.place, BadOutput,
          "expected a result (have: " + have +
              (near.empty() ? "" : "; did you mean \"" + near + "\"?") +
              "), got " + describe(value));
    return;
  }
  if (result->second.faulty) {
    return;
  }
  const std::vector<std::string> &parts = result->second.parts;
  auto found = std::find(parts.begin(), parts.end(), part);
  if (parts.empty() ? text != head : found == parts.end()) {
    std::string have;
    for (const std::string &other : parts) {
      have += (have.empty() ? "" : ", ") + head + "." + other;
    }
    error(value.place, BadOutput,
          "expected " +
              (parts.empty() ? "\"" + head + "\" (it has one result)"
                             : "a part of the split (" + have + ")") +
              ", got " + describe(value));
    return;
  }
  int64_t index = parts.empty() ? -1 : found - parts.begin();
  model.outputs.push_back({name, head, index});
}

} // namespace tfc::spec
