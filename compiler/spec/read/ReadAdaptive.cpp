// Vocabularies in pieces: of an embedding, and of the log probabilities that a
// head gives.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/read/SpecReader.h"

namespace tfc::spec {

/// `cutoffs` and `div` of an object, for `rows` ids whose first piece is
/// `width` wide.
std::optional<Pieces> SpecReader::readPieces(const Json &json, int64_t rows,
                                             int64_t width, Code code) {
  Pieces pieces;
  pieces.rows = rows;
  pieces.width = width;
  const Json *cutoffs = json.find("cutoffs"), *div = json.find("div");
  if (!cutoffs || !cutoffs->isArray() || !div || !div->isInteger() ||
      div->integer < 1 || rows < 1 || width < 1) {
    return std::nullopt; // it has its diagnostic
  }
  pieces.div = div->integer;
  int64_t last = 0;
  for (const Json &cutoff : cutoffs->items) {
    if (!cutoff.isInteger()) {
      return std::nullopt;
    }
    if (cutoff.integer <= last || cutoff.integer >= rows) {
      error(cutoff.place, code,
            "expected more than " + std::to_string(last) + " and less than " +
                std::to_string(rows) +
                " (pieces of the ids, one after the other), got " +
                describe(cutoff));
      return std::nullopt;
    }
    last = cutoff.integer;
    pieces.cutoffs.push_back(last);
    width /= pieces.div;
  }
  if (width < 1) {
    error(div->place, code,
          "expected a number by which " + std::to_string(pieces.width) +
              " can be divided " + std::to_string(pieces.cutoffs.size()) +
              " times (each piece's rows are so much narrower), got " +
              describe(*div));
    return std::nullopt;
  }
  return pieces;
}

/// Of the token table, whose own keys have been read.
void SpecReader::readAdaptive(const Json &embeddings) {
  const Json *token = embeddings.find("token");
  const Json *adaptive =
      token && token->isObject() ? token->find("adaptive") : nullptr;
  if (!adaptive || !adaptive->isObject()) {
    return;
  }
  Embeddings &result = stack->embeddings;
  if (token->find("use")) {
    error(adaptive->place, BadEmbedding,
          "expected no \"adaptive\" (the shared table is one), got one");
    return;
  }
  if (const Json *projection = embeddings.find("projection")) {
    error(projection->place, BadEmbedding,
          "expected no \"projection\" (each piece of the token table has its "
          "own), got one");
  }
  for (const Segment &segment : result.segments) {
    if (segment.useToken) {
      error(adaptive->place, Unsupported,
            "expected no \"adaptive\" (the segment " + inQuotes(segment.name) +
                " uses the table; not supported by this tfc), got one");
    }
  }
  int64_t width = sizeOf(*token, "dim").value_or(model.hidden);
  result.adaptive =
      readPieces(*adaptive, result.tokenRows, width, BadEmbedding);
  if (result.adaptive && !result.adaptive->isProjected() &&
      width != model.hidden) {
    error(token->find("dim")->place, BadEmbedding,
          "expected hidden (" + std::to_string(model.hidden) +
              "; with a \"div\" of 1 pieces have no projections), got " +
              std::to_string(width));
  }
}

HeadStep SpecReader::readAdaptiveLogits(const std::string &path,
                                        const Json &step, Result &result) {
  AdaptiveLogitsStep logits;
  logits.path = path;
  logits.bias = flagOf(step, "bias", false);
  const Json *tied = step.find("tied"), *out = step.find("out");
  int64_t width = result.width;
  result.width = 0; // unknown, where there is a fault
  logits.weights = {path + ".0.weight"};
  if (!tied == !out) {
    error(step.place, BadLogits,
          std::string("expected \"tied\" or \"out\" (tables, or weights of "
                      "its own), got ") +
              (tied ? "both" : "neither"));
    return logits;
  }
  for (const char *key : {"cutoffs", "div", "dim"}) {
    const Json *given = step.find(key);
    bool isNeeded = out && key != std::string("dim");
    if (tied && given) {
      error(given->place, BadLogits,
            std::string("expected no \"") + key +
                "\" (the tables that the step is tied to have it), got " +
                describe(*given));
    } else if (isNeeded && !given) {
      error(step.place.child(key), BadLogits,
            std::string("expected \"") + key +
                "\" (pieces of the ids), got nothing");
    }
  }
  std::string table;
  if (tied && tied->isString()) {
    std::string have;
    for (const Stack *each : model.stacks()) {
      const Embeddings &embeddings = each->embeddings;
      std::string name = each->name + ".embeddings.token";
      if (embeddings.adaptive && name == tied->text) {
        logits.pieces = *embeddings.adaptive;
        table = name;
      }
      have += embeddings.adaptive
                  ? (have.empty() ? "" : " or ") + inQuotes(name)
                  : "";
    }
    if (table.empty()) {
      error(tied->place, BadLogits,
            "expected " +
                (have.empty() ? std::string("no \"tied\" (no token table is in "
                                            "pieces)")
                              : have) +
                ", got " + describe(*tied));
      return logits;
    }
  } else {
    std::optional<Pieces> pieces =
        readPieces(step, sizeOf(step, "out").value_or(0),
                   sizeOf(step, "dim").value_or(width), BadLogits);
    if (!pieces) {
      return logits;
    }
    logits.pieces = *pieces;
  }
  if (!logits.pieces.isProjected() && width && width != logits.pieces.width) {
    error(step.place, BadLogits,
          "expected a step input of width " +
              std::to_string(logits.pieces.width) +
              " (with a \"div\" of 1 there are no projections), got " +
              std::to_string(width));
  }
  logits.weights.clear();
  for (size_t i = 0; i <= logits.pieces.cutoffs.size(); ++i) {
    logits.weights.push_back((table.empty() ? path : table) + "." +
                             std::to_string(i) + ".weight");
  }
  result.width = logits.pieces.rows;
  return logits;
}

} // namespace tfc::spec
