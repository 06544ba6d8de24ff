// Token ids and the defaults of generation.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/SpecReader.h"

#include <algorithm>
#include <cmath>

namespace tfc::spec {

/// The ids of a number or a list, each checked against the token table.
std::vector<int64_t> SpecReader::readIds(const Json *ids) {
  std::vector<int64_t> result;
  auto add = [&](const Json &id) {
    if (!id.isInteger()) {
      return;
    }
    int64_t rows = tokenRows();
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

/// Rows of the table in which generated ids are looked up.
int64_t SpecReader::tokenRows() const {
  return (model.decoder ? model.decoder : model.encoder)->embeddings.tokenRows;
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
    } else if (word == "decoder_start") {
      model.tokens.decoderStart = ids.front();
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
  if (model.kind == Kind::EncoderDecoder && !model.tokens.decoderStart) {
    Place place = generation.place;
    place.path = root.place.child("tokens").child("decoder_start").path;
    error(place, NoStart,
          "expected \"decoder_start\" (generation begins with it), got "
          "nothing");
  }
  const Json *name = generation.find("head");
  if (!name || !name->isString()) {
    return;
  }
  const Head *head = nullptr;
  for (const Head &candidate : model.heads) {
    head = candidate.name == name->text ? &candidate : head;
  }
  int64_t rows = tokenRows();
  int64_t width = head ? results[head->name].width : 0; // 0: not known
  // What is done to logits one by one leaves them logits.
  auto isLast = [](const HeadStep &step) {
    return !std::holds_alternative<ScaleStep>(step) &&
           !std::holds_alternative<ActStep>(step);
  };
  bool good = head && (width == 0 || width == rows);
  if (good) {
    auto last = std::find_if(head->steps.rbegin(), head->steps.rend(), isLast);
    good = last != head->steps.rend() &&
           (std::holds_alternative<LogitsStep>(*last) ||
            std::holds_alternative<AdaptiveLogitsStep>(*last));
  }
  if (!good) {
    error(name->place, BadGeneration,
          "expected a head that ends in logits over the token table (" +
              std::to_string(rows) + " wide), got " + describe(*name));
  }
}

/// Reads what decides how tokens are chosen, and keeps all of it with its
/// defaults.
void SpecReader::readGeneration() {
  const Json *given = root.find("generation");
  if (!given || !given->isObject()) {
    return;
  }
  checkGenerationHead(*given);
  kept.generation = Json::object();
  for (const char *key : {"head", "max_new_tokens"}) {
    if (const Json *value = given->find(key)) {
      kept.generation.set(key, *value);
    }
  }
  Generation &result = model.generation;
  readLengths(*given, result);
  readSearch(*given, result);
  readSampling(*given, result);
  readForced(*given, result);
  for (auto [key, target] :
       {std::pair("suppress_tokens", &result.suppress),
        std::pair("begin_suppress_tokens", &result.beginSuppress)}) {
    *target = readIds(given->find(key));
    if (!target->empty()) {
      kept.generation.set(key, listOf(*target));
    }
  }
}

void SpecReader::readLengths(const Json &given, Generation &result) {
  result.maxLength = sizeOf(given, "max_length").value_or(0);
  result.minLength = sizeOf(given, "min_length").value_or(0);
  if (result.maxLength > 0) {
    kept.generation.set("max_length", result.maxLength);
  }
  kept.generation.set("min_length", result.minLength);
}

void SpecReader::readSearch(const Json &given, Generation &result) {
  result.noRepeatNgram = sizeOf(given, "no_repeat_ngram_size").value_or(0);
  result.numBeams = sizeOf(given, "num_beams").value_or(1);
  const Json *early = given.find("early_stopping");
  if (early && early->isString("never")) {
    result.earlyStopping = Generation::EarlyStopping::Never;
  } else if (early && early->isBoolean() && early->boolean) {
    result.earlyStopping = Generation::EarlyStopping::Yes;
  }
  if (const Json *penalty = given.find("length_penalty");
      penalty && penalty->isNumber()) {
    result.lengthPenalty = penalty->real;
    if (!(std::abs(penalty->real) <= 1e6)) {
      error(penalty->place, BadNumber,
            "expected a number from -1000000 to 1000000, got " +
                describe(*penalty));
    }
  }
  kept.generation.set("num_beams", result.numBeams);
  kept.generation.set("early_stopping", early ? *early : Json(false));
  kept.generation.set("length_penalty", result.lengthPenalty);
  kept.generation.set("no_repeat_ngram_size", result.noRepeatNgram);
}

void SpecReader::readSampling(const Json &given, Generation &result) {
  const Json *sample = given.find("do_sample"), *topK = given.find("top_k");
  result.doSample = flagOf(given, "do_sample", false);
  if (topK && topK->isInteger()) {
    result.topK = topK->integer;
  }
  auto positive = [&](const char *key, double &value, double most,
                      const char *expected) {
    const Json *number = given.find(key);
    if (!number || !number->isNumber()) {
      return;
    }
    value = number->real;
    // min_p may be 0: off.
    bool zero = &value == &result.minP && value == 0;
    if (!(value > 0 || zero) || value > most) {
      error(number->place, BadNumber,
            std::string("expected a number ") + expected + ", got " +
                describe(*number));
    }
  };
  positive("temperature", result.temperature, 1e6, "above 0, up to 1000000");
  positive("top_p", result.topP, 1, "above 0, up to 1");
  positive("min_p", result.minP, 1, "from 0 to 1");
  positive("repetition_penalty", result.repetitionPenalty, 1e6,
           "above 0, up to 1000000");
  if (result.doSample && result.numBeams > 1) {
    error(sample->place, Unsupported,
          "expected false (num_beams is " + std::to_string(result.numBeams) +
              "; sampling with beams is not supported by this tfc), got true");
  }
  kept.generation.set("do_sample", result.doSample);
  kept.generation.set("temperature", result.temperature);
  kept.generation.set("top_k", result.topK);
  kept.generation.set("top_p", result.topP);
  kept.generation.set("min_p", result.minP);
  kept.generation.set("repetition_penalty", result.repetitionPenalty);
}

void SpecReader::readForced(const Json &given, Generation &result) {
  for (auto [key, target] : {std::pair("forced_bos", &result.forcedBos),
                             std::pair("forced_eos", &result.forcedEos)}) {
    const Json *value = given.find(key);
    std::vector<int64_t> ids = readIds(value);
    if (ids.size() > 1) {
      error(value->place, Unsupported,
            "expected one id (several are not supported by this tfc), got " +
                std::to_string(ids.size()));
    } else if (!ids.empty()) {
      *target = ids.front();
      kept.generation.set(key, ids.front());
    }
  }
}

} // namespace tfc::spec
