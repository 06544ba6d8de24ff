// Outputs: which results the library gives, and under which names.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/SpecReader.h"

#include <algorithm>

namespace tfc::spec {

void SpecReader::readOutputs() {
  const Json *outputs = root.find("outputs");
  if (!outputs) {
    std::string last = model.decoder ? "decoder" : "encoder";
    if (model.kind == Kind::EncoderDecoder) {
      model.outputs.push_back({"encoder_last_hidden_state", "encoder.hidden"});
    }
    model.outputs.push_back({"last_hidden_state", last + ".hidden"});
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
  std::map<std::string, TakeStep::At> takes;
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
    TakeStep::At at = *result->second.take;
    if (takes.emplace(result->second.root, at).first->second != at) {
      error(member->value.place, BadTake,
            "expected outputs that take the same rows (a step has one list of "
            "rows), got " +
                describe(member->value));
    }
  }
  // Of faulty ones the faults are enough.
  if (model.kind == Kind::EncoderDecoder &&
      model.outputs.size() == outputs->members.size()) {
    checkPairOutputs(*outputs);
  }
}

/// Encoder and decoder are an entry each, which gives something; of rows that
/// are taken only the decoder has a list.
void SpecReader::checkPairOutputs(const Json &outputs) {
  for (const Stack *each : model.stacks()) {
    bool isGiven = false;
    for (const Output &output : model.outputs) {
      auto head = results.find(output.value);
      bool isHead = head != results.end();
      isGiven |= (isHead ? head->second.root : output.value) ==
                 (isHead ? each->name : each->name + ".hidden");
      if (isHead && head->second.root == "encoder" && head->second.take) {
        error(outputs.find(output.name)->place, Unsupported,
              "expected rows of all tokens (of an encoder with a decoder, "
              "taken ones are not supported by this tfc), got " +
                  inQuotes(output.value));
        return;
      }
    }
    if (!isGiven) {
      error(outputs.place, Unsupported,
            "expected an output of each stack (" + each->name +
                ".hidden, or a head from there; others are not supported by "
                "this tfc), got none of the " +
                each->name);
    }
  }
}

bool SpecReader::addHiddenStates() {
  std::vector<const Stack *> stacks = model.stacks();
  for (const Stack *stack : stacks) {
    if (stack->streams) {
      error(root.find(stack->name)->find("streams")->place, Unsupported,
            "expected none (hidden states of layers with streams are several, "
            "which --hidden-states does not give), got an object");
      return false;
    }
    std::string prefix = stacks.size() > 1 ? stack->name + "_" : "";
    Output added{prefix + "hidden_states", stack->name + ".all_hidden"};
    auto place = std::lower_bound(
        model.outputs.begin(), model.outputs.end(), added,
        [](const Output &a, const Output &b) { return a.name < b.name; });
    if (place == model.outputs.end() || place->name != added.name) {
      model.outputs.insert(place, added);
    } else if (place->value != added.value) {
      error(root.find("outputs")->find(added.name)->place, BadOutput,
            "expected " + added.value +
                " (--hidden-states gives it this name), got " + place->value);
      return false;
    }
  }
  return true;
}

void SpecReader::readOutput(const std::string &name, const Json &value) {
  const std::string &text = value.text;
  for (const Stack *each : model.stacks()) {
    if (each->streams && text == each->name + ".all_hidden") {
      error(value.place, Unsupported,
            "expected " + each->name + ".hidden or a head (" + text +
                " of layers with streams is not supported by this tfc), got " +
                describe(value));
      return;
    }
    if (text == each->name + ".hidden" || text == each->name + ".all_hidden") {
      model.outputs.push_back({name, text, -1});
      return;
    }
    if (text == each->name + ".attentions") {
      error(value.place, Unsupported,
            "expected " + each->name + ".hidden, " + each->name +
                ".all_hidden or a head (" + text +
                " is not supported by this tfc), got " + describe(value));
      return;
    }
  }
  std::string head = text.substr(0, text.find('.'));
  std::string part =
      text.size() > head.size() ? text.substr(head.size() + 1) : std::string();
  auto result = results.find(head);
  if (result == results.end()) {
    std::vector<std::string> words;
    for (const Stack *each : model.stacks()) {
      words.push_back(each->name + ".hidden");
    }
    for (const auto &[other, unused] : results) {
      words.push_back(other);
    }
    std::string near = nearestWord(text, words);
    error(value.place, BadOutput,
          "expected a result (have: " + listNames(words) +
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
    std::vector<std::string> have;
    for (const std::string &other : parts) {
      have.push_back(head + "." + other);
    }
    error(value.place, BadOutput,
          "expected " +
              (parts.empty()
                   ? "\"" + head + "\" (it has one result)"
                   : "a part of the split (" + listNames(have) + ")") +
              ", got " + describe(value));
    return;
  }
  int64_t index = parts.empty() ? -1 : found - parts.begin();
  model.outputs.push_back({name, head, index});
}

} // namespace tfc::spec
