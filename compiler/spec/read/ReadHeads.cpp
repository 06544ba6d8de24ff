// Heads: pipelines of steps over the rows of a stack or of another head.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/SpecReader.h"

#include <algorithm>
#include <cmath>

namespace tfc::spec {

/// Reads heads after the heads that they come from; by name among equals, so
/// that the order does not depend on the file.
void SpecReader::readHeads() {
  const Json *heads = root.find("heads");
  if (!heads || !heads->isObject()) {
    return;
  }
  std::map<std::string, const Member *> waiting;
  for (const Member &member : heads->members) {
    Json name(member.key);
    name.place = member.keyPlace;
    bool reserved = member.key == "encoder" || member.key == "decoder";
    if (reserved) {
      error(member.keyPlace, BadFrom,
            "expected another name (a stack has this one), got " +
                describe(name));
    } else if (isIdentifier(&name, BadFrom) && member.value.isObject()) {
      waiting.emplace(member.key, &member);
    }
  }
  for (bool progress = true; progress;) {
    progress = false;
    for (auto it = waiting.begin(); it != waiting.end() && !progress; ++it) {
      if (!waiting.count(wordOf(it->second->value, "from", ""))) {
        readHead(it->first, it->second->value);
        waiting.erase(it);
        progress = true;
        break;
      }
    }
  }
  for (const auto &[name, member] : waiting) {
    const Json &from = *member->value.find("from");
    error(from.place, BadFrom,
          "expected no cycle of heads, got " + describe(from));
    results[name].faulty = true;
  }
}

void SpecReader::readHead(const std::string &name, const Json &json) {
  const Json *from = json.find("from"), *steps = json.find("steps");
  Head head;
  head.name = name;
  head.from = wordOf(json, "from", "");
  Result result;
  result.width = model.hidden;
  for (const Stack *each : model.stacks()) {
    if (each->name == head.from) {
      result.width = each->resultWidth(model.hidden);
    }
  }
  if (auto it = results.find(head.from); it != results.end()) {
    result = it->second;
    if (!result.parts.empty()) {
      error(from->place, BadFrom,
            "expected a head with one result, got " + describe(*from) +
                ", which ends in a split");
    }
    result.parts.clear();
  } else if (result.root = head.from;
             from && from->isString() && !isStack(head.from)) {
    std::vector<std::string> have = stackNames();
    for (const auto &[other, unused] : results) {
      have.push_back(other);
    }
    error(from->place, BadFrom,
          "expected a stack or a head (have: " + listNames(have) + "), got " +
              describe(*from));
  }
  for (const Json &step : itemsOf(steps)) {
    if (!result.parts.empty()) {
      error(step.place, BadStep,
            "expected no step after a split, got " +
                describe(*step.find("op")));
      break;
    }
    if (std::optional<HeadStep> read = readStep(head, step, result)) {
      head.steps.push_back(std::move(*read));
    }
  }
  results.emplace(name, std::move(result));
  model.heads.push_back(std::move(head));
}

/// "heads.<head>.<name>" of a step with parameters; the name must be new.
std::string SpecReader::readStepPath(const Head &head, const Json &step) {
  const Json *name = step.find("name");
  if (!name) {
    if (wordOf(step, "op", "") == "norm" && flagOf(step, "affine", true)) {
      error(step.place.child("name"), BadType,
            "expected \"name\" (the step has parameters), got nothing");
    }
    return "";
  }
  if (!isIdentifier(name, BadStep)) {
    return "";
  }
  std::string path = "heads." + head.name + "." + name->text;
  for (const HeadStep &other : head.steps) {
    bool same = std::visit(
        [&](const auto &s) {
          if constexpr (std::is_same_v<decltype(s), const DenseStep &> ||
                        std::is_same_v<decltype(s), const NormStep &> ||
                        std::is_same_v<decltype(s), const LogitsStep &> ||
                        std::is_same_v<decltype(s),
                                       const AdaptiveLogitsStep &> ||
                        std::is_same_v<decltype(s),
                                       const ActivationUnitStep &> ||
                        std::is_same_v<decltype(s), const ProbeStep &>) {
            return s.path == path;
          }
          return false;
        },
        other);
    if (same) {
      error(name->place, BadStep,
            "expected a name of its own (another step has it), got " +
                describe(*name));
    }
  }
  return path;
}

std::optional<HeadStep> SpecReader::readStep(const Head &head, const Json &step,
                                             Result &result) {
  std::string op = wordOf(step, "op", "");
  if (op == "take") {
    return readTake(head, step, result);
  }
  if (op == "dense") {
    DenseStep dense;
    dense.path = readStepPath(head, step);
    dense.width = result.width = sizeOf(step, "out").value_or(0);
    if (step.find("act")) {
      dense.act = activationOf(step, "act");
    }
    dense.bias = flagOf(step, "bias", true);
    return dense;
  }
  if (op == "norm") {
    NormStep norm{readStepPath(head, step), {}};
    norm.norm = readNorm(&step, result.width).value_or(Norm());
    return norm;
  }
  if (op == "logits") {
    return readLogits(readStepPath(head, step), step, result);
  }
  if (op == "adaptive_logits") {
    return readAdaptiveLogits(readStepPath(head, step), step, result);
  }
  if (op == "split") {
    return readSplit(step, result);
  }
  if (op == "scale") {
    return readScaleStep(step);
  }
  if (op == "act") {
    return ActStep{activationOf(step, "kind")};
  }
  if (std::optional<HeadStep> pooling = readPooling(head, step, result)) {
    return pooling;
  }
  result.width = 0; // unknown: a step that has been refused
  return std::nullopt;
}

ScaleStep SpecReader::readScaleStep(const Json &step) {
  const Json *by = step.find("by");
  if (by && by->isNumber()) {
    return {readPositive(*by)};
  }
  // Of the stack's width, wherever in a head it stands.
  return {model.hidden > 0 ? 1 / std::sqrt(double(model.hidden)) : 1};
}

HeadStep SpecReader::readTake(const Head &head, const Json &step,
                              Result &result) {
  TakeStep take;
  std::string at = wordOf(step, "at", "first");
  take.at = at == "last_nonpad"     ? TakeStep::At::LastNonpad
            : at == "last_eos"      ? TakeStep::At::LastEos
            : at == "first_eos"     ? TakeStep::At::FirstEos
            : at == "first_visible" ? TakeStep::At::FirstVisible
            : at == "last_visible"  ? TakeStep::At::LastVisible
                                    : TakeStep::At::First;
  bool takesEos =
      take.at == TakeStep::At::LastEos || take.at == TakeStep::At::FirstEos;
  if (take.at == TakeStep::At::FirstEos && model.encoder && model.decoder) {
    error(step.find("at")->place, BadStep,
          "expected \"last_eos\" (of an encoder-decoder no other end tokens "
          "are looked for), got \"first_eos\"");
  }
  if (takesEos && model.tokens.eos.size() != 1) {
    error(step.find("at")->place, BadStep,
          "expected one id in tokens.eos (the step looks for it), got " +
              std::to_string(model.tokens.eos.size()));
  }
  bool looksForIds = takesEos || take.at == TakeStep::At::LastNonpad;
  if (looksForIds && model.encoder && model.encoder->embeddings.patches) {
    error(step.find("at")->place, BadStep,
          "expected first, first_visible or last_visible (patches have no "
          "ids), got \"" +
              at + "\"");
  }
  takeRows(head, step, take.at, result);
  return take;
}

/// The step makes a row a sequence of rows of all tokens.
void SpecReader::takeRows(const Head &head, const Json &step, TakeStep::At at,
                          Result &result) {
  std::string op = wordOf(step, "op", "");
  if (result.take) {
    error(step.place, BadStep,
          "expected one take or pool from the stack to the result, got "
          "another");
  } else if (!head.steps.empty()) {
    error(step.place, BadStep,
          "expected " + op +
              " as the first step (other rows need not be computed), got it "
              "after others");
  }
  result.take = at;
}

HeadStep SpecReader::readLogits(const std::string &path, const Json &step,
                                Result &result) {
  LogitsStep logits;
  logits.path = path;
  logits.bias = flagOf(step, "bias", false);
  logits.weight = path + ".weight";
  const Json *tied = step.find("tied"), *out = step.find("out");
  logits.width = sizeOf(step, "out").value_or(0);
  if (!tied == !out) {
    error(step.place, BadLogits,
          std::string("expected \"tied\" or \"out\" (a table, or weights of "
                      "its own), got ") +
              (tied ? "both" : "neither"));
  }
  if (tied && tied->isString()) {
    readTied(*tied, logits, result.width);
  }
  result.width = logits.width;
  return logits;
}

void SpecReader::readTied(const Json &tied, LogitsStep &logits,
                          int64_t inputWidth) {
  std::map<std::string, std::pair<int64_t, int64_t>> tables;
  for (const Stack *each : model.stacks()) {
    const Embeddings &embeddings = each->embeddings;
    if (embeddings.tokenTable.empty()) {
      continue; // all of its rows are given
    }
    std::string name =
        embeddings.tokenTable.substr(0, embeddings.tokenTable.rfind(".weight"));
    tables.emplace(name, std::pair(embeddings.tokenRows, embeddings.width));
  }
  auto found = tables.find(tied.text);
  if (found == tables.end()) {
    std::string have;
    for (const auto &[name, unused] : tables) {
      have += (have.empty() ? "" : " or ") + inQuotes(name);
    }
    error(tied.place, BadLogits,
          (have.empty() ? "expected \"out\" instead (no stack has a table)"
                        : "expected " + have) +
              ", got " + describe(tied));
    return;
  }
  const std::string &table = found->first;
  auto [rows, width] = found->second;
  logits.width = rows;
  logits.weight = table + ".weight";
  if (inputWidth && width && inputWidth != width) {
    error(tied.place, BadLogits,
          "expected a step input of width " + std::to_string(width) + " (" +
              table + " is [" + std::to_string(rows) + ", " +
              std::to_string(width) + "]), got " + std::to_string(inputWidth));
  }
}

HeadStep SpecReader::readSplit(const Json &step, Result &result) {
  SplitStep split;
  const Json *names = step.find("names");
  for (const Json &name : itemsOf(names)) {
    if (!isIdentifier(&name, BadSplit)) {
      continue;
    }
    if (std::count(split.names.begin(), split.names.end(), name.text)) {
      error(name.place, BadSplit,
            "expected every name once, got " + describe(name) + " again");
    }
    split.names.push_back(name.text);
  }
  if (names && result.width && int64_t(names->items.size()) != result.width) {
    error(names->place, BadSplit,
          "expected " + std::to_string(result.width) +
              " names (the width before the split), got " +
              std::to_string(names->items.size()));
  }
  result.parts = split.names;
  result.width = 1;
  return split;
}

} // namespace tfc::spec
