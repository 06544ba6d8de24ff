// What the model types have in common: tied heads, token ids.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/Family.h"

using namespace tfc;
using namespace tfc::huggingface;
using spec::Json;

static const rt::Tensor *findBySuffix(const rt::TensorFiles &files,
                                      std::string_view suffix) {
  for (const rt::Tensor *tensor : files.tensors()) {
    std::string_view name = tensor->name;
    if (name.size() < suffix.size() ||
        name.substr(name.size() - suffix.size()) != suffix) {
      continue;
    }
    size_t before = name.size() - suffix.size();
    if (before == 0 || name[before - 1] == '.') {
      return tensor;
    }
  }
  return nullptr;
}

bool huggingface::storesTensor(const rt::TensorFiles &files,
                               std::string_view suffix) {
  return findBySuffix(files, suffix);
}

bool huggingface::storesOther(Source &source, std::string_view head,
                              std::string_view table) {
  const rt::Tensor *stored = source.files.find(head);
  const rt::Tensor *tokens = findBySuffix(source.files, table);
  // A table that is missing is reported with the other parameters.
  bool comparable = stored && tokens && rt::isWeightDType(stored->dtype) &&
                    rt::isWeightDType(tokens->dtype) &&
                    tokens->shape == stored->shape;
  return stored && !(comparable && rt::sameValues(*tokens, *stored));
}

void huggingface::checkCopies(Source &source,
                              const std::vector<std::string> &names) {
  const rt::Tensor *first = nullptr;
  for (std::string_view name : names) {
    const rt::Tensor *tensor = findBySuffix(source.files, name);
    if (!tensor || !rt::isWeightDType(tensor->dtype)) {
      continue;
    }
    if (first &&
        (tensor->shape != first->shape || !rt::sameValues(*first, *tensor))) {
      spec::Diagnostic diagnostic;
      diagnostic.file = source.files.path();
      diagnostic.message = "expected one token table (tables that differ are "
                           "not supported by this tfc), got " +
                           spec::inQuotes(first->name) + " and another " +
                           spec::inQuotes(tensor->name);
      source.diagnostics.push_back(std::move(diagnostic));
    }
    first = first ? first : tensor;
  }
}

Json huggingface::makeLogits(Source &source, const Projection &projection,
                             int64_t vocab) {
  bool byConfig =
      projection.tiedUnlessStored ||
      source.config.boolean("tie_word_embeddings", projection.tiedByDefault);
  bool isStored = source.files.find(projection.tensor);
  // Without any tensor something worse has been reported.
  if (!isStored && !byConfig && !source.files.tensors().empty()) {
    source.config.fault(
        "tie_word_embeddings",
        "expected true (no tensor " + spec::inQuotes(projection.tensor) +
            " is stored that would be untied), got " +
            (source.config.value("tie_word_embeddings") ? "false" : "nothing"));
  }
  Json logits = makeObject({{"op", "logits"}, {"name", projection.step}});
  if (isStored && storesOther(source, projection.tensor, projection.table)) {
    logits.set("out", vocab);
  } else {
    logits.set("tied", projection.tied);
  }
  return logits;
}

/// The token ids under `key`: one, a list where that is allowed, or none.
/// `from` is the object that decides.
static std::vector<int64_t> readIds(const Json &from, std::string_view key,
                                    bool list,
                                    const std::vector<int64_t> &byDefault,
                                    spec::Diagnostics &diagnostics) {
  const Json *value = from.find(key);
  if (!value) {
    return byDefault;
  }
  std::vector<int64_t> ids;
  bool isList = list && value->isArray();
  for (const Json &item : isList ? value->items : std::vector<Json>{*value}) {
    if (item.isInteger()) {
      ids.push_back(item.integer);
    } else if (isList || !item.isNull()) {
      spec::report(diagnostics, item.place, 4,
                   std::string("expected a token id") +
                       (list ? ", a list of them" : "") + " or null, got " +
                       spec::describe(item));
    }
  }
  return ids;
}

Json huggingface::readTokens(Source &source, int64_t vocab, bool generates,
                             const TokenDefaults &defaults) {
  bool byGeneration = generates && source.generation;
  const Json &from = byGeneration ? *source.generation : source.configFile;
  auto ids = [&](std::string_view key, bool list,
                 const std::vector<int64_t> &byDefault) {
    std::vector<int64_t> kept;
    for (int64_t id : readIds(from, key, list,
                              byGeneration ? std::vector<int64_t>() : byDefault,
                              source.diagnostics)) {
      if (id >= 0 && id < vocab) {
        kept.push_back(id);
      }
    }
    return kept;
  };
  Json tokens = Json::object();
  std::vector<int64_t> pad = ids("pad_token_id", false, defaults.pad);
  std::vector<int64_t> bos = ids("bos_token_id", false, defaults.bos);
  std::vector<int64_t> eos = ids("eos_token_id", true, defaults.eos);
  if (!eos.empty() && eos == defaults.mistakenEos) {
    eos = {vocab - 1};
  }
  if (!pad.empty()) {
    tokens.set("pad", pad.front());
  } else if (const Json *id = from.find("pad_token_id");
             generates && id && id->isInteger()) {
    spec::report(source.diagnostics, id->place, 0,
                 "expected a token id below the vocabulary's size (" +
                     std::to_string(vocab) +
                     "; generation fills with eos instead), got " +
                     spec::describe(*id),
                 spec::Severity::Warning);
  }
  std::vector<int64_t> start =
      ids("decoder_start_token_id", false, defaults.decoderStart);
  if (!start.empty()) {
    tokens.set("decoder_start", start.front());
  }
  if (!bos.empty()) {
    tokens.set("bos", bos.front());
  }
  if (eos.size() == 1) {
    tokens.set("eos", eos.front());
  } else if (!eos.empty()) {
    tokens.set("eos", Json::array(std::vector<Json>(eos.begin(), eos.end())));
  }
  return tokens;
}

void huggingface::addTokens(Source &source, int64_t vocab, bool generates,
                            const TokenDefaults &tokens,
                            const GenerationDefaults &generation, Json &made) {
  Json ids = readTokens(source, vocab, generates, tokens);
  if (generates && !ids.find("decoder_start") && ids.find("bos")) {
    ids.set("decoder_start", *ids.find("bos"));
  }
  bool begins = ids.find("decoder_start");
  made.set("tokens", std::move(ids));
  if (generates && begins) {
    made.set("generation", readGeneration(source, "lm", vocab, generation));
  }
}

Json huggingface::makeObject(
    std::vector<std::pair<std::string_view, Json>> members) {
  Json object = Json::object();
  for (auto &[key, value] : members) {
    object.set(key, std::move(value));
  }
  return object;
}
