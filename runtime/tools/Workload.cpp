// Reads workloads, and fits them to a model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/Workload.h"

#include "runtime/src/step/Inputs.h"

#include <algorithm>
#include <charconv>

namespace tfc::bench {

using rt::Code;
using rt::makeError;
using rt::Status;

static constexpr const char *kindNames[] = {"encode", "prefill", "decode",
                                            "generate"};

// More would be a slip of the finger.
static constexpr int64_t maxLength = int64_t(1) << 20;
static constexpr int64_t maxSequences = 4096;

static std::optional<int64_t> parseCount(std::string_view text, int64_t limit) {
  int64_t value = 0;
  auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  bool isWhole = stop == text.data() + text.size();
  if (error != std::errc() || !isWhole || value < 1 || value > limit) {
    return std::nullopt;
  }
  return value;
}

/// "4x128", or a list of lengths.
static std::vector<int64_t> parseLengths(std::string_view text) {
  size_t cross = text.find('x');
  if (cross != std::string_view::npos) {
    auto count = parseCount(text.substr(0, cross), maxSequences);
    auto length = parseCount(text.substr(cross + 1), maxLength);
    return count && length
               ? std::vector<int64_t>(static_cast<size_t>(*count), *length)
               : std::vector<int64_t>();
  }
  std::vector<int64_t> lengths;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    auto length = parseCount(text.substr(begin, end - begin), maxLength);
    if (!length || lengths.size() == static_cast<size_t>(maxSequences)) {
      return {};
    }
    lengths.push_back(*length);
    begin = end + 1;
  }
  return lengths;
}

std::optional<Workload> parseWorkload(const std::string &text) {
  size_t colon = text.find(':');
  if (colon == std::string::npos) {
    return std::nullopt;
  }
  Workload workload;
  workload.text = text;
  std::string_view lengths = std::string_view(text).substr(colon + 1);
  auto *name = std::find(std::begin(kindNames), std::end(kindNames),
                         text.substr(0, colon));
  if (name == std::end(kindNames)) {
    return std::nullopt;
  }
  workload.kind = static_cast<Kind>(name - kindNames);
  if (workload.kind == Kind::Generate) {
    size_t plus = std::min(lengths.find('+'), lengths.size());
    auto count = parseCount(lengths.substr(std::min(plus + 1, lengths.size())),
                            maxLength);
    if (!count) {
      return std::nullopt;
    }
    workload.newTokens = *count;
    lengths = lengths.substr(0, plus);
  }
  workload.lengths = parseLengths(lengths);
  if (workload.lengths.empty()) {
    return std::nullopt;
  }
  return workload;
}

/// Tokens that a sequence has at its end, after those of the prompt.
static int64_t tokensAfter(const Workload &workload) {
  return workload.kind == Kind::Decode ? 1 : workload.newTokens;
}

/// The workload with shorter sequences, so that they fit (0: no limit).
static Workload shorten(Workload workload, int64_t limit) {
  bool generates = workload.kind == Kind::Generate;
  bool isShorter = false;
  if (limit != 0 && workload.newTokens > limit / 2) {
    workload.newTokens = std::max<int64_t>(1, limit / 2);
    isShorter = true;
  }
  for (int64_t &length : workload.lengths) {
    int64_t most = std::max<int64_t>(1, limit - tokensAfter(workload));
    isShorter |= limit != 0 && length > most;
    length = limit == 0 ? length : std::min(length, most);
  }
  if (isShorter) {
    workload.text =
        rt::concat(kindNames[static_cast<int>(workload.kind)], ":",
                   workload.lengths.size(), "x", workload.lengths.front());
    workload.text += generates ? rt::concat("+", workload.newTokens) : "";
  }
  return workload;
}

/// The longest sequence of both stacks; 0: no limit.
static int64_t positionsOf(const rt::Model &model) {
  int64_t limit = model.table().max_positions;
  for (const tfc_entry_v0 *entry : {model.encoder(), model.decoder()}) {
    for (uint32_t p = 0; entry && p < entry->n_inputs; ++p) {
      const tfc_port_v0 &port = entry->inputs[p];
      if (rt::fillsByPosition(port) && (limit == 0 || port.limit < limit)) {
        limit = port.limit;
      }
    }
  }
  return limit;
}

/// Requests have token ids.
static bool takesRequests(const rt::Model &model) {
  return model.generateEntry() &&
         !(model.encoder() && rt::hasGiven(*model.encoder()));
}

std::vector<Workload> defaultWorkloads(const rt::Model &model) {
  std::vector<std::string> texts = {"encode:1x128", "encode:1x384",
                                    "encode:12,128,33,71,95,50,110,27"};
  if (model.isEncoderDecoder()) {
    texts = {"encode:1x64", "encode:1x512", "decode:1x64", "decode:16x64"};
    if (takesRequests(model)) {
      texts.emplace_back("generate:1x64+64");
    }
  } else if (model.decoder()) {
    texts = {"prefill:1x512", "decode:1x128", "decode:1x1024", "decode:4x128",
             "decode:16x128"};
  }
  if (takesRequests(model)) {
    texts.emplace_back("generate:4x128+32");
  }
  std::vector<Workload> workloads;
  for (const std::string &text : texts) {
    Workload workload = shorten(*parseWorkload(text), positionsOf(model));
    bool isNew = std::none_of(
        workloads.begin(), workloads.end(),
        [&](const Workload &other) { return other.text == workload.text; });
    if (isNew) {
      workloads.push_back(std::move(workload));
    }
  }
  return workloads;
}

/// Positions that the longest sequence needs.
static int64_t longestOf(const rt::Model &model, const Workload &workload) {
  int64_t longest =
      *std::max_element(workload.lengths.begin(), workload.lengths.end());
  // An encoder-decoder's decoder begins with one token.
  return model.isEncoderDecoder() && workload.kind == Kind::Generate
             ? std::max(longest, 1 + workload.newTokens)
             : longest + tokensAfter(workload);
}

/// Errors when there are fewer positions (0: no limit).
static Status checkLength(const Workload &workload, int64_t longest,
                          int64_t limit) {
  if (limit != 0 && longest > limit) {
    return makeError(Code::InvalidArgument, "workload ", workload.text,
                     ": expected sequences within ", limit,
                     " tokens (the model's positions), got ", longest);
  }
  return {};
}

Status checkWorkload(const rt::Model &model, const tfc_entry_v0 &entry,
                     const Workload &workload) {
  if (!model.decoder() && workload.kind != Kind::Encode) {
    return makeError(Code::InvalidArgument, "workload ", workload.text,
                     ": expected encode:... (the model is an encoder), got ",
                     kindNames[static_cast<int>(workload.kind)]);
  }
  if (workload.kind == Kind::Generate && !model.generateEntry()) {
    return makeError(Code::InvalidArgument, "workload ", workload.text,
                     ": expected encode, prefill or decode (the model has no "
                     "logits of every token), got generate");
  }
  if (workload.kind == Kind::Generate && !takesRequests(model)) {
    return makeError(Code::Unsupported, "workload ", workload.text,
                     ": expected encode, prefill or decode (requests have no "
                     "rows of floats, which the encoder reads), got generate");
  }
  int64_t longest = longestOf(model, workload);
  Status status = checkLength(workload, longest, model.table().max_positions);
  for (const tfc_entry_v0 *one : {&entry, model.encoder()}) {
    for (uint32_t p = 0; status && one && p < one->n_inputs; ++p) {
      if (rt::fillsByPosition(one->inputs[p])) {
        status = checkLength(workload, longest, one->inputs[p].limit);
      }
    }
  }
  return status;
}

} // namespace tfc::bench
