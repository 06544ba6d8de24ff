// The embeddings of a stack, and the sizes that follow from each other: vocab
// and token rows, positions and their table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/read/SpecReader.h"

#include <algorithm>
#include <cmath>

namespace tfc::spec {

void SpecReader::readEmbeddings(const Json &embeddings) {
  Embeddings &result = stack->embeddings;
  if (const Json *token = embeddings.find("token");
      token && token->isObject()) {
    readTokenTable(*token);
  }
  if (const Json *position = embeddings.find("position");
      position && position->isObject()) {
    readPosition(*position);
  }
  if (const Json *segments = embeddings.find("segments")) {
    for (const Json &segment : segments->items) {
      readSegment(segment);
    }
  }
  readProjection(embeddings);
  readAdaptive(embeddings);
  readPatches(embeddings);
  result.normsToken = wordOf(embeddings, "norm_of", "sum") == "token";
  result.norm =
      readNorm(embeddings.find("norm"), result.normWidth(model.hidden));
  checkSinusoid(embeddings);
  checkAxes(embeddings);
}

/// The width of the tables is hidden where nothing projects them.
void SpecReader::readProjection(const Json &embeddings) {
  Embeddings &result = stack->embeddings;
  result.width = result.sumWidth = model.hidden;
  const Json *projection = embeddings.find("projection");
  const Json *token = embeddings.find("token");
  if (!projection || !projection->isObject() ||
      (token && token->find("adaptive"))) {
    return;
  }
  using At = Embeddings::Projection::At;
  std::string place = wordOf(*projection, "at", "");
  At at = place == "token" ? At::Token
          : place == "sum" ? At::Sum
                           : At::AfterNorm;
  result.projection = {at, flagOf(*projection, "bias", false)};
  if (token && token->isObject() && !token->find("use")) {
    result.width = sizeOf(*token, "dim").value_or(model.hidden);
  }
  if (at != At::Token) {
    result.sumWidth = result.width;
  }
  for (const Segment &segment : result.segments) {
    if (segment.useToken && result.width != result.sumWidth) {
      error(projection->place, Unsupported,
            "expected no projection of the token alone (the segment " +
                inQuotes(segment.name) +
                " uses its table; not supported by this tfc), got one");
    }
  }
}

/// Convolutions in place of the product. Rows of a table would stand among the
/// frames.
void SpecReader::readConvs(const Json &json, const Json *token) {
  Embeddings::Patches &patches = *stack->embeddings.patches;
  const Json *list = json.find("convs");
  if (!list || !list->isArray()) {
    return;
  }
  if (token && !token->isString("none")) {
    error(token->place, BadEmbedding,
          "expected \"none\" (\"convs\" are over all rows), got " +
              describe(*token));
  }
  if (const Json *bias = json.find("bias")) {
    error(bias->place, BadEmbedding,
          "expected no \"bias\" (convolutions have their own), got " +
              describe(*bias));
  }
  for (const Json &item : list->items) {
    Embeddings::Patches::Conv conv;
    conv.kernel = sizeOf(item, "kernel").value_or(1);
    conv.stride = sizeOf(item, "stride").value_or(1);
    conv.bias = flagOf(item, "bias", true);
    conv.act = activationOf(item, "act");
    patches.convs.push_back(conv);
    if (conv.kernel % 2 == 0) {
      error(item.find("kernel")->place, BadEmbedding,
            "expected an odd number (as many frames behind as before), got " +
                std::to_string(conv.kernel));
    }
    if (patches.frames() > maxFrames) {
      error(item.find("stride")->place, BadEmbedding,
            "expected strides that multiply to at most " +
                std::to_string(maxFrames) + ", got " +
                std::to_string(patches.frames()));
      return;
    }
  }
  if (patches.width % patches.frames() != 0) {
    error(json.find("width")->place, BadEmbedding,
          "expected " + std::to_string(patches.frames()) +
              " frames (the strides of \"convs\"), got " +
              std::to_string(patches.width) + " columns");
  }
}

/// What stands in for a row of the table is what that would be: nothing else
/// may be made of it.
void SpecReader::readPatches(const Json &embeddings) {
  const Json *json = embeddings.find("patches");
  const Json *token = embeddings.find("token");
  if (!json || !json->isObject()) {
    if (token && token->isString("none")) {
      error(token->place, BadEmbedding,
            "expected a table (there are no \"patches\"), got \"none\"");
    }
    return;
  }
  stack->embeddings.patches = {
      sizeOf(*json, "width").value_or(0), flagOf(*json, "bias", true), {}};
  readConvs(*json, token);
  if (stack->name != "encoder") {
    error(json->place, Unsupported,
          "expected no patches but in an encoder (not supported by this tfc), "
          "got an object");
  }
  for (const char *key : {"use", "scale", "adaptive"}) {
    const Json *given = token ? token->find(key) : nullptr;
    bool isUsual =
        key == std::string_view("scale") && stack->embeddings.tokenScale == 1;
    if (given && !isUsual) {
      error(given->place, BadEmbedding,
            std::string("expected no \"") + key +
                "\" (patches stand beside the table's rows), got " +
                describe(*given));
    }
  }
  for (const char *key : {"projection", "segments"}) {
    const Json *given = embeddings.find(key);
    if (given && !(given->isArray() && given->items.empty())) {
      error(given->place, BadEmbedding,
            std::string("expected no \"") + key +
                "\" (patches have none), got " + describe(*given));
    }
  }
  if (const Json *inputs = root.at({stack->name, "layer_inputs"});
      inputs && inputs->isObject()) {
    error(inputs->place, BadEmbedding,
          "expected no layer_inputs (patches have no ids), got an object");
  }
  const Json *ids = embeddings.at({"position", "ids"});
  if (ids && !ids->isString("arange")) {
    error(ids->place, BadEmbedding,
          "expected \"arange\" (patches have no ids), got " + describe(*ids));
  }
}

void SpecReader::readTokenTable(const Json &token) {
  Embeddings &result = stack->embeddings;
  readScale(token);
  if (!token.find("use")) {
    result.tokenTable = stack->name + ".embeddings.token.weight";
    readTokenRows(token);
    result.tokenRows = sizeOf(token, "rows").value_or(model.vocab);
    return;
  }
  result.tokenTable = "shared.token.weight";
  result.tokenRows = model.sharedRows;
  if (!root.at({"shared", "token"})) {
    error(token.find("use")->place, BadEmbedding,
          "expected a table in \"shared\" (there is none), got " +
              describe(*token.find("use")));
  }
  for (const char *key : {"rows", "dim"}) {
    if (const Json *own = token.find(key)) {
      error(own->place, BadEmbedding,
            std::string("expected no \"") + key +
                "\" (the shared table has its own), got " + describe(*own));
    }
  }
}

/// A table of token ids: its rows, which may come from dims.vocab or say it.
void SpecReader::readTokenRows(const Json &token) {
  int64_t rows = sizeOf(token, "rows").value_or(0);
  if (rows > 0 && model.vocab > rows) {
    error(token.find("rows")->place, TableTooSmall,
          "expected at least " + std::to_string(model.vocab) +
              " (dims.vocab), got " + std::to_string(rows));
  }
  // A number that is there and wrong has its own diagnostic.
  const Json *vocab = root.at({"dims", "vocab"});
  if (rows == 0 && !token.find("rows") && !vocab && !token.find("input")) {
    error(token.place.child("rows"), BadType,
          "expected the number of token ids (here or in dims.vocab), got "
          "nothing");
  }
  if (!vocab && model.vocab == 0) {
    model.vocab = rows;
  }
  std::optional<int64_t> dim = sizeOf(token, "dim");
  bool projected =
      stack && (root.at({stack->name, "embeddings", "projection"}) ||
                token.find("adaptive"));
  if (dim && model.hidden && *dim != model.hidden && !projected) {
    error(token.find("dim")->place, BadEmbedding,
          "expected hidden (" + std::to_string(model.hidden) +
              "; tables of another width need a projection), got " +
              std::to_string(*dim));
  }
}

void SpecReader::readScale(const Json &token) {
  const Json *scale = token.find("scale");
  if (scale && scale->isNumber()) {
    stack->embeddings.tokenScale = readPositive(*scale);
  } else if (scale && scale->isString("sqrt_hidden")) {
    stack->embeddings.tokenScale = std::sqrt(double(model.hidden));
  }
}

/// What "ids" says; returns the first row that a row of tokens without padding
/// reads.
int64_t SpecReader::readPositionIds(const Json &position, Position &result) {
  std::string ids = wordOf(position, "ids", "arange");
  const Json *offset = position.find("offset");
  const Json *pad = root.at({"tokens", "pad"});
  if (ids == "from_mask") {
    result.ids = Position::Ids::FromMask;
    if (result.offset == 0) {
      error(offset ? offset->place : position.place.child("offset"),
            BadEmbedding,
            "expected at least 1 (masked tokens have the row before the "
            "first), got " +
                (offset ? describe(*offset) : "nothing"));
    }
  } else if (ids == "from_pad") {
    result.ids = Position::Ids::FromPad;
    if (result.offset != 0) {
      error(offset->place, BadEmbedding,
            "expected 0 (positions begin after tokens.pad), got " +
                describe(*offset));
    }
    if (stack->name == "decoder" && !model.encoder) {
      error(position.find("ids")->place, Unsupported,
            "expected arange or from_mask (from_pad in a decoder without an "
            "encoder is not supported by this tfc), got \"from_pad\"");
    }
    if (!pad || !pad->isInteger() || pad->integer < 0) {
      error(position.find("ids")->place, BadEmbedding,
            "expected tokens.pad (positions begin after it), got nothing");
      return 1;
    }
    return std::clamp<int64_t>(pad->integer, 0, maxRows) + 1;
  }
  return result.offset;
}

void SpecReader::readPosition(const Json &position) {
  if (wordOf(position, "kind", "none") == "none") {
    for (const Member &member : position.members) {
      if (member.key != "kind") {
        error(member.value.place, BadEmbedding,
              "expected no \"" + member.key + "\" (kind is \"none\"), got " +
                  describe(member.value));
      }
    }
    return;
  }
  Position result;
  if (wordOf(position, "kind", "none") == "axial") {
    readAxes(position, result);
    stack->embeddings.position = result;
    return;
  }
  if (const Json *offset = position.find("offset");
      offset && offset->isInteger()) {
    result.offset = std::clamp<int64_t>(offset->integer, 0, int64_t(1) << 28);
  }
  // How many rows of the table no token of a row without padding reads.
  int64_t skipped = readPositionIds(position, result);
  const Json *rows = position.find("rows");
  result.rows = sizeOf(position, "rows").value_or(0);
  bool hasLimit = root.at({"dims", "max_positions"});
  int64_t wanted = model.maxPositions + skipped;
  // A stack of two may have shorter sequences than the other.
  bool isOfPair = model.kind == Kind::EncoderDecoder;
  int64_t least = std::max(isOfPair ? 0 : wanted, skipped + 1);
  if (!rows && !hasLimit) {
    error(position.place.child("rows"), BadType,
          "expected the number of positions (here or in dims.max_positions), "
          "got nothing");
  } else if (!rows) {
    result.rows = wanted;
  } else if (!hasLimit && result.rows > skipped) {
    int64_t other = isOfPair ? model.maxPositions : 0;
    model.maxPositions = std::max(other, result.rows - skipped);
  } else if (result.rows > 0 && result.rows < least) {
    bool isFromPad = result.ids == Position::Ids::FromPad;
    error(rows->place, TableTooSmall,
          "expected at least " + std::to_string(least) + " (" +
              (isOfPair ? "1" : "max_positions ") +
              (isOfPair ? "" : std::to_string(model.maxPositions)) +
              (isFromPad ? " + 1 + tokens.pad " : " + offset ") +
              std::to_string(isFromPad ? skipped - 1 : skipped) + "), got " +
              std::to_string(result.rows));
  }
  readSinusoid(position, result);
  stack->embeddings.position = result;
}

/// Its keys are those of a computed table alone.
void SpecReader::readSinusoid(const Json &position, Position &result) {
  refuseKeys(position, {"shape", "dims"}, "kind is not \"axial\"");
  if (wordOf(position, "kind", "none") != "sinusoid") {
    refuseKeys(position, {"layout", "denominator", "zero_row", "base"},
               "kind is not \"sinusoid\"");
    return;
  }
  Sinusoid sinusoid;
  for (const char *key : {"layout", "denominator"}) {
    if (!position.find(key)) {
      error(position.place.child(key), BadType,
            std::string("expected \"") + key +
                "\" (there is no usual one), got nothing");
    }
  }
  sinusoid.interleaved = wordOf(position, "layout", "") == "interleaved";
  sinusoid.halfMinusOne = wordOf(position, "denominator", "") == "half_minus_1";
  if (const Json *row = position.find("zero_row"); row && row->isInteger()) {
    sinusoid.zeroRow = row->integer;
  }
  if (const Json *base = position.find("base"); base && base->isNumber()) {
    sinusoid.base = readPositive(*base);
    if (sinusoid.base < 1) {
      error(base->place, BadEmbedding,
            "expected at least 1 (frequencies fall), got " + describe(*base));
    }
  }
  result.sinusoid = sinusoid;
}

/// Sines and cosines are pairs of columns.
void SpecReader::checkSinusoid(const Json &embeddings) {
  const Embeddings &result = stack->embeddings;
  if (result.position && result.position->sinusoid &&
      result.sumWidth % 2 != 0) {
    error(embeddings.find("position")->place, BadEmbedding,
          "expected no sinusoid (rows are " + std::to_string(result.sumWidth) +
              " wide, an odd number), got one");
  }
}

void SpecReader::readSegment(const Json &segment) {
  const Json *name = segment.find("name"), *input = segment.find("input");
  const Json *rows = segment.find("rows"), *use = segment.find("use");
  std::vector<Segment> &segments = stack->embeddings.segments;
  Segment result;
  if (!isIdentifier(name, BadEmbedding) || !isIdentifier(input, BadEmbedding)) {
    return;
  }
  result.name = name->text;
  result.input = input->text;
  bool taken =
      result.input == "input_ids" || result.input == "attention_mask" ||
      result.input == "position_ids" || result.input.rfind("decoder_", 0) == 0;
  if (stack->name == "decoder" && model.encoder) {
    for (const Segment &other : model.encoder->embeddings.segments) {
      taken |= other.input == result.input;
    }
  }
  for (const Segment &other : segments) {
    taken |= other.input == result.input;
    if (other.name == result.name) {
      error(name->place, BadEmbedding,
            "expected a name of its own (two segments have it), got " +
                describe(*name));
    }
  }
  if (taken) {
    error(input->place, BadEmbedding,
          "expected an input of its own (another input has that name), got " +
              describe(*input));
  }
  if (!rows == !use) {
    error(segment.place, BadEmbedding,
          std::string("expected \"rows\" or \"use\" (a table of its own, or "
                      "the token table), got ") +
              (rows ? "both" : "neither"));
  }
  result.useToken = use && !rows;
  result.rows = result.useToken ? stack->embeddings.tokenRows
                                : sizeOf(segment, "rows").value_or(0);
  if (const Json *id = segment.find("default"); id && id->isInteger()) {
    result.defaultId = id->integer;
    if (result.rows > 0 && id->integer >= result.rows) {
      error(id->place, BadToken,
            "expected a row of the table (0 to " +
                std::to_string(result.rows - 1) + "), got " + describe(*id));
    } else if (id->integer > 0) {
      error(id->place, Unsupported,
            "expected 0 (another id where the input is not given is not "
            "supported by this tfc), got " +
                describe(*id));
    }
  }
  segments.push_back(std::move(result));
}

void SpecReader::readPositionBias(const Json *json) {
  if (!json || !json->isObject()) {
    return;
  }
  PositionBias bias;
  bias.buckets = sizeOf(*json, "buckets").value_or(0);
  bias.maxDistance = sizeOf(*json, "max_distance").value_or(0);
  bias.bidirectional = flagOf(*json, "bidirectional", false);
  bias.perLayer = flagOf(*json, "per_layer", false);
  if (bias.buckets == 0 || bias.maxDistance == 0) {
    return;
  }
  // Half of the buckets of a direction have one distance each; the others
  // divide what is left up to max_distance.
  int64_t sides = bias.bidirectional ? 2 : 1;
  int64_t exact = bias.buckets / sides / 2;
  if (bias.buckets % sides != 0 || exact == 0) {
    error(json->find("buckets")->place, BadBias,
          std::string("expected ") +
              (sides == 2 ? "an even number from 4 on (the buckets are of two "
                            "directions)"
                          : "at least 2") +
              ", got " + std::to_string(bias.buckets));
  } else if (bias.maxDistance <= exact) {
    error(json->find("max_distance")->place, BadBias,
          "expected more than " + std::to_string(exact) +
              " (the distances that have a bucket each), got " +
              std::to_string(bias.maxDistance));
  }
  bool wanted = stack->name == "encoder";
  if (const Json *given = json->find("bidirectional");
      given && given->isBoolean() && given->boolean != wanted) {
    error(given->place, Unsupported,
          std::string("expected ") + (wanted ? "true" : "false") +
              " (the attention of this stack is " +
              (wanted ? "bidirectional" : "causal") +
              "; other buckets are not supported by this tfc), got " +
              describe(*given));
  }
  stack->positionBias = bias;
}

} // namespace tfc::spec
