// Settings of generation: generation_config.json, or what transformers 4 kept
// in config.json.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/Family.h"
#include "compiler/spec/SpecFields.h"

using namespace tfc;
using namespace tfc::huggingface;
using spec::Json;

namespace {

/// Settings that change what is generated and that tfc-run does not have: one
/// warning for all of them.
void checkOthers(const Json &json, bool strict,
                 spec::Diagnostics &diagnostics) {
  static const std::pair<const char *, Json> neutral[] = {
      {"encoder_repetition_penalty", 1.0},
      {"encoder_no_repeat_ngram_size", 0},
      {"min_new_tokens", 0},
      {"bad_words_ids", Json::array()},
      {"force_words_ids", Json::array()},
      {"constraints", Json::array()},
      {"exponential_decay_length_penalty", Json()},
      {"sequence_bias", Json()},
      {"guidance_scale", 1.0},
      {"penalty_alpha", 0},
      {"num_beam_groups", 1},
      {"typical_p", 1.0},
      {"top_h", Json()},
      {"epsilon_cutoff", 0},
      {"eta_cutoff", 0},
      {"watermarking_config", Json()},
      {"stop_strings", Json()}};
  std::string names;
  spec::Place first = json.place;
  for (const auto &[key, value] : neutral) {
    const Json *found = json.find(key);
    bool empty = !found || found->isNull() || *found == value;
    // Keys of old files may say none with the other kind of nothing.
    empty |= found && found->isArray() && found->items.empty();
    if (empty) {
      continue;
    }
    if (names.empty()) {
      first.line = found->place.line;
      first.column = found->place.column;
    }
    names += (names.empty() ? "" : ", ") + spec::inQuotes(key);
  }
  if (!names.empty()) {
    spec::report(diagnostics, first, 0,
                 "expected no such settings (tfc-run generates without them), "
                 "got " +
                     names,
                 strict ? spec::Severity::Error : spec::Severity::Warning);
  }
}

class GenerationReader {
public:
  GenerationReader(Source &source, const Json &from)
      : source(source), from(from), settings(from, source.diagnostics) {}

  Json result = Json::object();

  void integer(const char *key, const char *name, int64_t least,
               int64_t most = spec::maxRows) {
    if (settings.value(key)) {
      result.set(name, settings.integer(key, least, least, most));
    }
  }

  void number(const char *key, double least, double most) {
    if (settings.value(key)) {
      result.set(key, settings.number(key, 1, least, most));
    }
  }

  /// A token that is forced; `byDefault` where config.json decides.
  void forced(const char *key, const char *name, int64_t byDefault,
              int64_t vocab) {
    const Json *value = from.find(key);
    if (value && value->isNull()) {
      return;
    }
    if (value && value->isArray() && value->items.size() == 1) {
      value = &value->items.front();
    }
    int64_t id = value && value->isInteger() ? value->integer : byDefault;
    bool good = !value || (value->isInteger() && id >= 0 && id < vocab);
    if (!good) {
      settings.fault(key, "expected one token id below " +
                              std::to_string(vocab) + ", got " +
                              spec::describe(*value));
    } else if (id >= 0 && id < vocab) {
      result.set(name, id);
    }
  }

  /// Tokens that do not come; no token of the model is one beyond the others.
  void forbidden(const char *key, int64_t vocab) {
    const Json *value = settings.value(key);
    if (!value) {
      return;
    }
    if (!value->isArray()) {
      settings.fault(key, "expected a list of token ids, got " +
                              spec::describe(*value));
      return;
    }
    Json ids = Json::array();
    for (const Json &id : value->items) {
      if (!id.isInteger()) {
        settings.fault(key, "expected token ids, got " + spec::describe(id));
      } else if (id.integer >= 0 && id.integer < vocab) {
        ids.items.push_back(id);
      }
    }
    if (!ids.items.empty()) {
      result.set(key, std::move(ids));
    }
  }

  void search() {
    integer("num_beams", "num_beams", 1, 1024);
    number("length_penalty", -1e6, 1e6);
    integer("no_repeat_ngram_size", "no_repeat_ngram_size", 0);
    const Json *early = settings.value("early_stopping");
    if (early && !early->isBoolean() && !early->isString("never")) {
      settings.fault("early_stopping",
                     "expected true, false or \"never\", got " +
                         spec::describe(*early));
    } else if (early) {
      result.set("early_stopping", *early);
    }
  }

  /// What only sampling reads is left out where nothing is sampled: files say
  /// 0 there to mean nothing.
  void sampling() {
    bool sample = settings.boolean("do_sample", false);
    const Json *beams = settings.value("num_beams");
    if (sample && beams && beams->isInteger() && beams->integer > 1) {
      spec::report(
          source.diagnostics, from.find("do_sample")->place, 0,
          "expected false (num_beams is " + std::to_string(beams->integer) +
              "; tfc-run searches with beams without sampling), got "
              "true",
          source.strict ? spec::Severity::Error : spec::Severity::Warning);
      sample = false;
    }
    if (!sample) {
      return;
    }
    result.set("do_sample", true);
    number("temperature", 1e-6, 1e6);
    integer("top_k", "top_k", 0);
    number("top_p", 1e-6, 1);
    number("min_p", 0, 1);
  }

private:
  Source &source;
  const Json &from;
  Config settings;
};

} // namespace

Json huggingface::readGeneration(Source &source, std::string_view head,
                                 int64_t vocab,
                                 const GenerationDefaults &defaults) {
  Json from = source.generation ? *source.generation : source.configFile;
  for (const spec::Member &each : defaults.settings.members) {
    if (!source.generation && !from.find(each.key)) {
      from.set(each.key, each.value);
    }
  }
  GenerationReader reader(source, from);
  reader.result.set("head", std::string(head));
  reader.integer("max_length", "max_length", 1);
  reader.integer("min_length", "min_length", 0);
  reader.search();
  reader.number("repetition_penalty", 1e-6, 1e6);
  reader.sampling();
  GenerationDefaults byDefault =
      source.generation ? GenerationDefaults() : defaults;
  reader.forced("forced_bos_token_id", "forced_bos", byDefault.bos, vocab);
  reader.forced("forced_eos_token_id", "forced_eos", byDefault.eos, vocab);
  reader.forbidden("suppress_tokens", vocab);
  reader.forbidden("begin_suppress_tokens", vocab);
  checkOthers(from, source.strict, source.diagnostics);
  return std::move(reader.result);
}
