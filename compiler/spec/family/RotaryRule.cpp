// The rule "rotary": rope_parameters and its predecessors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/Rotary.h"
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/family/Rules.h"

#include <algorithm>
#include <cmath>

using namespace tfc;
using namespace tfc::family;
using spec::Json;

namespace {

constexpr double largest = 1e9;

/// Copies a number of `from` under the spec's name for it.
void copyNumber(Config &from, std::string_view key, Json &to,
                const char *name) {
  if (from.value(key)) {
    to.set(name, from.number(key, 1, 0, largest));
  }
}

/// Phi-3's names of longrope.
bool isLongrope(std::string_view type) {
  return type == "longrope" || type == "su" || type == "yarn";
}

/// Its frequencies for sequences that are no longer than those of the training;
/// others get none, see positionsRule.
Json readLongrope(Instantiator &made, Config &rope, const Json &hole) {
  const char *key = "original_max_position_embeddings";
  int64_t byDefault = hole.find("longrope")->integer;
  bool hasScales = hole.find("mscales");
  if (hasScales) {
    byDefault = rope.integer(key, byDefault, 2, spec::maxRows);
  }
  int64_t original = made.config.integer(key, byDefault, 2, spec::maxRows);
  // The model's own is stronger, also where it is the class's.
  rope.ignore({key});
  Json scaling = Json::object();
  scaling.set("kind", "longrope");
  int64_t most = made.integer(hole, "positions", original, 1, spec::maxRows);
  double factor =
      rope.number("factor", double(most) / double(original), 0, largest);
  scaling.set("factor", std::max(factor, 1.0));
  for (const char *list : {"short_factor", "long_factor"}) {
    if (!rope.value(list) || !rope.value(list)->isArray()) {
      rope.fault(list, "expected a list of numbers (of the frequencies), got " +
                           (rope.value(list) ? spec::describe(*rope.value(list))
                                             : "nothing"));
      return "none";
    }
  }
  scaling.set("short_factor", *rope.value("short_factor"));
  scaling.set("original_max", original);
  copyNumber(rope, "attention_factor", scaling, "attention_factor");
  if (hasScales) {
    // Stronger than what would follow from the factor.
    copyNumber(rope, "short_mscale", scaling, "attention_factor");
    rope.ignore({"long_mscale"});
  }
  return scaling;
}

/// The scaling of a type that tfc has; "none" after a fault.
Json readScaling(Instantiator &made, Config &rope, const std::string &type,
                 const Json &hole) {
  Config &config = made.config;
  if (type == "default") {
    return "none";
  }
  if (hole.find("longrope") && isLongrope(type)) {
    return readLongrope(made, rope, hole);
  }
  const char *typeKey = rope.value("rope_type") ? "rope_type" : "type";
  if (hole.find("only_default")) {
    rope.fault(typeKey, "expected default (tfc has no other frequencies for "
                        "this model type), got " +
                            spec::inQuotes(type));
    return "none";
  }
  Json scaling = Json::object();
  scaling.set("kind", type);
  if (type != "linear" && type != "dynamic" && type != "llama3" &&
      type != "yarn") {
    rope.fault(typeKey,
               "expected default, linear, dynamic, llama3 or yarn (tfc has no "
               "other frequencies), got " +
                   spec::inQuotes(type));
    return "none";
  }
  if (!rope.value("factor")) {
    rope.fault("factor", "expected a number (of the scaling), got nothing");
  }
  scaling.set("factor", rope.number("factor", 1, 1, largest));
  if (type == "llama3" || type == "yarn") {
    // The model's own key is stronger than that of the dictionary; without
    // either it is the model's longest sequence.
    const char *key = "original_max_position_embeddings";
    bool inside = rope.value(key), outside = config.value(key);
    if (inside || outside) {
      int64_t own = rope.integer(key, 1, 1, spec::maxRows);
      scaling.set("original_max", config.integer(key, own, 1, spec::maxRows));
    }
  }
  if (type == "llama3") {
    for (const char *key : {"low_freq_factor", "high_freq_factor"}) {
      if (!rope.value(key)) {
        rope.fault(key, "expected a number (of the scaling), got nothing");
      }
      copyNumber(rope, key, scaling, key);
    }
  }
  if (type == "yarn") {
    for (const char *key : {"attention_factor", "mscale", "mscale_all_dim"}) {
      copyNumber(rope, key, scaling, key);
    }
    for (const char *key : {"beta_fast", "beta_slow"}) {
      // transformers takes 0 for none.
      if (rope.number(key, 0, 0, largest) != 0) {
        copyNumber(rope, key, scaling, key);
      }
    }
    scaling.set("truncate", rope.boolean("truncate", true));
  }
  return scaling;
}

/// The same of the layers of a type, where rope_parameters has an object for
/// each; its predecessor is of those that the table says.
const Json *findParametersOf(Config &config, const Json &hole) {
  const Json *parameters = config.value("rope_parameters");
  if (!parameters || !parameters->isObject()) {
    return hole.find("scaled") ? config.value("rope_scaling") : nullptr;
  }
  config.refuseContent("rope_scaling", "rope_parameters says it all");
  for (const spec::Member &member : parameters->members) {
    if (!member.value.isObject() && !member.value.isNull()) {
      config.faultAt(member.value, "expected an object for the layers of a "
                                   "type, got " +
                                       spec::describe(member.value));
      return nullptr;
    }
  }
  const Json *own = parameters->find(hole.find("of")->text);
  return own && own->isObject() ? own : nullptr;
}

/// Where the frequencies are told: the old key wins where both have content,
/// as in transformers. Null when they are nowhere.
const Json *findParameters(Config &config) {
  const Json *scaling = config.value("rope_scaling");
  const Json *parameters = config.value("rope_parameters");
  const Json *from =
      scaling && !(scaling->isObject() && scaling->members.empty())
          ? scaling
          : parameters;
  if (from && !from->isObject()) {
    config.fault(from == scaling ? "rope_scaling" : "rope_parameters",
                 "expected an object, got " + spec::describe(*from));
    return nullptr;
  }
  for (const spec::Member &member :
       from ? from->members : std::vector<spec::Member>()) {
    if (member.value.isObject()) {
      config.faultAt(member.value, "expected numbers for all layers together, "
                                   "got an object (of some of them)");
      return nullptr;
    }
  }
  return from;
}

/// How many columns of a head are rotated; nothing for all of them.
std::optional<Json> readDim(Instantiator &made, Config &rope,
                            const Json &hole) {
  Config &config = made.config;
  const Json *own = hole.find("partial_key");
  std::optional<Json> partial = made.member(hole, "partial");
  std::string key = own ? own->text : "partial_rotary_factor";
  if (!partial) {
    for (Config *each : {&config, &rope}) {
      if (each->number(key, 1, 0, 1) != 1) {
        each->fault(key,
                    "expected 1 (this model type rotates whole heads), got " +
                        spec::describe(*each->value(key)));
      }
    }
    return std::nullopt;
  }
  // Its number, where nobody says the part.
  const Json *columns = hole.find("dim_key");
  if (columns && config.value(columns->text) && !config.value(key) &&
      !rope.value("partial_rotary_factor")) {
    int64_t width = made.integer(hole, "head_dim", 2, 1, spec::maxWidth);
    Json dim = config.integer(columns->text, width, 1, width);
    dim.place = config.placeOf(columns->text);
    return dim;
  }
  // rope_parameters has it in transformers 5, the model in 4.
  double factor = config.number(key, partial->real, 0, 1);
  factor = rope.number("partial_rotary_factor", factor, 0, 1);
  int64_t width = made.integer(hole, "head_dim", 2, 1, spec::maxWidth);
  // As transformers cuts it off.
  Json dim = int64_t(double(width) * factor);
  dim.place = config.placeOf(config.value(key) ? key : "rope_parameters");
  return dim;
}

/// How many columns of a head turn where all have frequencies of the whole
/// head, and those behind the first ones 0.
Json readTurned(Instantiator &made, Config &rope, const Json &hole) {
  const char *key = "partial_rotary_factor";
  double part = rope.number(key, 1, 0, 1);
  int64_t width = made.integer(hole, "head_dim", 2, 1, spec::maxWidth);
  // As transformers cuts it off.
  auto pairs = int64_t(std::floor(part * double(width) / 2));
  if (pairs < 1) {
    rope.fault(key, "expected a part of " + std::to_string(width) +
                        " columns that is one pair at least, got " +
                        spec::describe(*rope.value(key)));
    pairs = 1;
  }
  Json turned = 2 * pairs;
  turned.place = made.config.placeOf("rope_parameters");
  return turned;
}

/// Theta by a fixed factor of the context, which is called dynamic and is not:
/// the frequencies are those of another theta, and the rest says nothing. True
/// where config.json has it.
bool readAlpha(Instantiator &made, Config &rope, const Json &hole,
               double &theta) {
  double alpha = rope.number("alpha", 0, 0, largest);
  if (alpha == 0) {
    return false;
  }
  int64_t width = made.integer(hole, "head_dim", 4, 1, spec::maxWidth);
  if (width <= 2) {
    rope.fault("alpha", "expected heads of more than 2 columns (its exponent "
                        "is their number over that less 2), got " +
                            std::to_string(width));
    return false;
  }
  theta *= std::pow(alpha, double(width) / double(width - 2));
  rope.ignore({"factor", "mscale", "mscale_all_dim", "beta_fast", "beta_slow",
               "original_max_position_embeddings"});
  return true;
}

} // namespace

std::optional<Json> family::rotaryRule(Instantiator &made, const Json &hole) {
  Config &config = made.config;
  Json none = Json::object();
  bool isOfType = hole.find("of");
  const Json *from =
      isOfType ? findParametersOf(config, hole) : findParameters(config);
  from = from ? from : hole.find("parameters");
  Config rope(from ? *from : none, made.diagnostics);
  const Json *key = hole.find("theta_key"), *given = hole.find("theta");
  double byDefault = given ? given->real : 10000;
  // Of one type of layers a key is where the table says so.
  std::string outer = key ? key->text : isOfType ? "" : "rope_theta";
  double outside =
      outer.empty() ? byDefault : config.number(outer, byDefault, 1, largest);
  double theta = rope.number("rope_theta", outside, 1, largest);
  if (hole.find("may_be_none") &&
      (rope.isNull("rope_theta") ||
       (!rope.value("rope_theta") && config.isNull("rope_theta")))) {
    return Json("none");
  }
  std::string type = rope.string("type", "default");
  type = rope.string("rope_type", type);
  Json rotary = Json::object();
  rotary.set("style", hole.find("style")->text);
  if (hole.find("proportional")) {
    bool isPart = type == "proportional";
    // In any case: layers of another type have their own.
    rotary.set("turned", isPart
                             ? readTurned(made, rope, hole)
                             : made.member(hole, "head_dim").value_or(Json()));
    type = !isPart ? type : rope.value("factor") ? "linear" : "default";
  } else if (std::optional<Json> dim = readDim(made, rope, hole)) {
    rotary.set("dim", *dim);
  }
  if (hole.find("reverse")) {
    rotary.set("reverse", true);
  }
  size_t before = config.faults();
  if (hole.find("alpha") && type == "dynamic" &&
      readAlpha(made, rope, hole, theta)) {
    type = "default";
  }
  rotary.set("theta", theta);
  rotary.set("scaling", readScaling(made, rope, type, hole));
  if (hole.find("query_growth")) {
    // Where it begins to count, no sequence goes: see positionsRule.
    rope.ignore({"llama_4_scaling_beta", "max_position_embeddings",
                 "original_max_position_embeddings"});
  }
  if (hole.find("grids")) {
    // Tokens of a text have one position on all axes of a grid.
    rope.ignore({"mrope_section", "mrope_interleaved"});
  }
  // What a type that tfc does not have may say is not known.
  if (config.faults() == before) {
    rope.reportUnread(made.strict);
  }
  return rotary;
}

std::optional<Json> family::scoreScaleRule(Instantiator &made,
                                           const Json &hole) {
  int64_t width = 0;
  for (const Json &each : hole.find("widths")->items) {
    std::optional<Json> own = made.make(each);
    bool isGood = own && own->isInteger() && own->integer > 0 &&
                  own->integer <= spec::maxWidth;
    width += isGood ? own->integer : 1;
  }
  double scale = 1 / std::sqrt(double(width));
  // The rotary rule says what is wrong with it.
  const Json *rope = findParameters(made.config);
  rope = rope ? rope : hole.find("parameters");
  auto numberOf = [&](const char *key) {
    const Json *value = rope->find(key);
    return value && value->isNumber() ? value->real : 0;
  };
  const Json *type = rope ? rope->find("rope_type") : nullptr;
  type = type || !rope ? type : rope->find("type");
  if (type && !type->isString("default") && numberOf("mscale_all_dim") > 0) {
    double grown =
        spec::yarnFactor(numberOf("factor"), numberOf("mscale_all_dim"));
    scale *= grown * grown;
  }
  return scale;
}

/// Whether sequences longer than those of the training are computed otherwise.
static bool changesWithLength(const Json &rope, const Json &hole) {
  const Json *type = rope.find("rope_type");
  type = type ? type : rope.find("type");
  const Json *growth = rope.find("llama_4_scaling_beta");
  return (hole.find("longrope") && type && type->isString() &&
          isLongrope(type->text)) ||
         (hole.find("query_growth") && growth && growth->isNumber() &&
          growth->real != 0);
}

std::optional<Json> family::positionsRule(Instantiator &made,
                                          const Json &hole) {
  Config &config = made.config;
  const std::string &key = hole.find("key")->text;
  int64_t most =
      config.integer(key, hole.find("default")->integer, 1, spec::maxRows);
  const Json *old = config.value("rope_scaling");
  const Json *rope =
      old && !old->members.empty() ? old : config.value("rope_parameters");
  const Json *original = config.value("original_max_position_embeddings");
  int64_t limit = most;
  if (!rope) {
    // What the class has without a key.
    const Json *own = hole.find("query_growth");
    limit = own ? own->integer : most;
  } else if (changesWithLength(*rope, hole)) {
    const Json *own = hole.find("longrope");
    const Json *inside = rope->find("original_max_position_embeddings");
    own = inside && hole.find("mscales") ? inside : own;
    original = original ? original : own ? own : inside;
    limit = original && original->isInteger() ? original->integer : most;
  }
  if (limit < most && config.value(key)) {
    spec::report(
        made.diagnostics, config.placeOf(key), 0,
        "expected no sequence of more than " + std::to_string(limit) +
            " positions (longer ones are computed otherwise, which is "
            "not supported by this tfc: the library refuses them), got "
            "room for " +
            std::to_string(most),
        spec::Severity::Warning);
  }
  Json result = std::max<int64_t>(1, std::min(limit, most));
  result.place = config.placeOf(key);
  return result;
}
