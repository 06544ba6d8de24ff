// Token ids and the defaults of generation.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecReader.h"

#include <algorithm>

namespace tfc::spec {

/// The ids of a number or a list, each checked against the token table.
std::vector<int64_t> SpecReader::readIds(const Json *ids) {
  std::vector<int64_t> result;
  auto add = [&](const Json &id) {
    if (!id.isInteger()) {
      return;
    }
    int64_t rows = model.mainStack().embeddings.tokenRows;
    if (rows > 0 && id.integer >= rows) {
      error(id.place, BadToken,
            "expected a row of the token table (0 to " +
                std::to_string(rows - 1) + "), got " + describe(id));
    }
    result.push_back(id.integer);
  };
  if (ids && ids->isInteger()) {
    add(*ids);
  }
  for (const Json &id : itemsOf(ids)) {
    add(id);
  }
  return result;
}

static Json listOf(const std::vector<int64_t> &ids) {
  Json list = Json::array();
  for (int64_t id : ids) {
    list.items.push_back(id);
  }
  return list;
}

void SpecReader::readTokens() {
  const Json *tokens = root.find("tokens");
  if (!tokens) {
    return;
  }
  for (const char *name :
       {"pad", "bos", "eos", "unk", "cls", "sep", "mask", "decoder_start"}) {
    std::vector<int64_t> ids = readIds(tokens->find(name));
    if (ids.empty()) {
      continue;
    }
    std::string_view word = name;
    if (word == "pad") {
      model.tokens.pad = ids.front();
    } else if (word == "bos") {
      model.tokens.bos = ids.front();
    } else if (word == "eos") {
      model.tokens.eos = ids;
    }
    kept.tokens.set(name, word == "eos" ? listOf(ids) : Json(ids.front()));
  }
  if (const Json *languages = tokens->find("lang")) {
    Json result = Json::object();
    std::map<std::string, int64_t> sorted;
    for (const Member &member : languages->members) {
      for (int64_t id : readIds(&member.value)) {
        sorted.emplace(member.key, id);
      }
    }
    for (const auto &[name, id] : sorted) {
      result.set(name, id);
    }
    kept.tokens.set("lang", std::move(result));
  }
}

void SpecReader::checkGenerationHead(const Json &generation) {
  if (model.kind == Kind::Encoder) {
    error(generation.place, BadGeneration,
          "expected no generation (kind is \"encoder\"), got an object");
    return;
  }
  const Json *name = generation.find("head");
  if (!name || !name->isString()) {
    return;
  }
  const Head *head = nullptr;
  for (const Head &candidate : model.heads) {
    head = candidate.name == name->text ? &candidate : head;
  }
  int64_t rows = model.mainStack().embeddings.tokenRows;
  int64_t width = head ? results[head->name].width : 0; // 0: not known
  bool good = head && !head->steps.empty() &&
              std::holds_alternative<LogitsStep>(head->steps.back()) &&
              (width == 0 || width == rows);
  if (!good) {
    error(name->place, BadGeneration,
          "expected a head that ends in logits over the token table (" +
              std::to_string(rows) + " wide), got " + describe(*name));
  }
}

void SpecReader::readGeneration() {
  const Json *given = root.find("generation");
  if (!given || !given->isObject()) {
    return;
  }
  checkGenerationHead(*given);
  kept.generation = Json::object();
  auto keep = [&](const char *key, std::optional<Json> fallback) {
    const Json *value = given->find(key);
    if (value || fallback) {
      kept.generation.set(key, value ? *value : *fallback);
    }
    return value;
  };
  auto positive = [&](const char *key, double most, const char *expected) {
    const Json *value = keep(key, 1);
    if (value && value->isNumber() &&
        !(value->real > 0 && value->real <= most)) {
      error(value->place, BadNumber,
            std::string("expected a number ") + expected + ", got " +
                describe(*value));
    }
  };
  keep("head", {});
  keep("max_length", {});
  keep("max_new_tokens", {});
  keep("min_length", 0);
  keep("do_sample", false);
  positive("temperature", 1e6, "above 0, up to 1000000");
  keep("top_k", 0);
  positive("top_p", 1, "above 0, up to 1");
  keep("num_beams", 1);
  keep("length_penalty", 1);
  keep("early_stopping", false);
  keep("no_repeat_ngram_size", 0);
  positive("repetition_penalty", 1e6, "above 0, up to 1000000");
  for (const char *key : {"forced_bos", "forced_eos"}) {
    std::vector<int64_t> ids = readIds(given->find(key));
    if (!ids.empty()) {
      kept.generation.set(key, listOf(ids));
    }
  }
}

} // namespace tfc::spec
