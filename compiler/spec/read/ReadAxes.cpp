// Positions on a grid: a table for each axis.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/read/SpecReader.h"

namespace tfc::spec {

void SpecReader::refuseKeys(const Json &json,
                            std::initializer_list<const char *> keys,
                            const std::string &why) {
  for (const char *key : keys) {
    if (const Json *given = json.find(key)) {
      error(given->place, BadEmbedding,
            std::string("expected no \"") + key + "\" (" + why + "), got " +
                describe(*given));
    }
  }
}

/// The position's number says its place, so that nothing else does.
void SpecReader::readAxes(const Json &position, Position &result) {
  refuseKeys(position,
             {"rows", "offset", "layout", "denominator", "zero_row", "base"},
             "kind is \"axial\"");
  if (const Json *ids = position.find("ids"); ids && !ids->isString("arange")) {
    error(ids->place, BadEmbedding,
          "expected \"arange\" (kind is \"axial\"), got " + describe(*ids));
  }
  const Json *shape = position.find("shape"), *dims = position.find("dims");
  for (auto [key, list] : {std::pair("shape", shape), {"dims", dims}}) {
    if (!list) {
      error(position.place.child(key), BadType,
            std::string("expected \"") + key +
                "\" (of each axis, how many places it has and how wide their "
                "rows are), got nothing");
    }
  }
  if (!shape || !dims || !shape->isArray() || !dims->isArray()) {
    return;
  }
  if (shape->items.size() != dims->items.size()) {
    error(dims->place, BadEmbedding,
          "expected " + std::to_string(shape->items.size()) +
              " numbers (\"shape\" has as many), got " +
              std::to_string(dims->items.size()));
    return;
  }
  result.rows = 1;
  for (size_t axis = 0; axis < shape->items.size(); ++axis) {
    const Json &rows = shape->items[axis], &width = dims->items[axis];
    if (!rows.isInteger() || !width.isInteger() || rows.integer < 1 ||
        rows.integer > maxRows / result.rows) {
      bool isMany = rows.isInteger() && rows.integer >= 1 && width.isInteger();
      if (isMany && rows.integer <= maxRows) {
        error(shape->place, BadEmbedding,
              "expected at most " + std::to_string(maxRows) +
                  " places in all, got more");
      }
      result = Position();
      return; // it has its diagnostic
    }
    result.rows *= rows.integer;
    result.axes.push_back({rows.integer, width.integer});
  }
  if (!root.at({"dims", "max_positions"})) {
    bool isOfPair = model.kind == Kind::EncoderDecoder;
    model.maxPositions =
        std::max(isOfPair ? model.maxPositions : 0, result.rows);
  } else if (result.rows < model.maxPositions &&
             model.kind != Kind::EncoderDecoder) {
    error(shape->place, TableTooSmall,
          "expected at least " + std::to_string(model.maxPositions) +
              " places (max_positions), got " + std::to_string(result.rows));
  }
}

/// Rows of axes are side by side in that of a position.
void SpecReader::checkAxes(const Json &embeddings) {
  const Embeddings &result = stack->embeddings;
  if (!result.position || result.position->axes.empty()) {
    return;
  }
  int64_t width = 0;
  for (const Position::Axis &axis : result.position->axes) {
    width += axis.width;
  }
  if (result.sumWidth && width != result.sumWidth) {
    error(embeddings.at({"position", "dims"})->place, BadEmbedding,
          "expected numbers that make " + std::to_string(result.sumWidth) +
              " together (how wide rows are), got " + std::to_string(width));
  }
}

} // namespace tfc::spec
