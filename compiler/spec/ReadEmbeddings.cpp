// The embeddings of a stack, and the sizes that follow from each other: vocab
// and token rows, positions and their table.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecReader.h"

#include <algorithm>

namespace tfc::spec {

void SpecReader::readEmbeddings(const Json &embeddings) {
  Embeddings &result = model.mainStack().embeddings;
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
  result.norm = readNorm(embeddings.find("norm"));
}

void SpecReader::readTokenTable(const Json &token) {
  int64_t rows = sizeOf(token, "rows").value_or(0);
  if (rows > 0 && model.vocab > rows) {
    error(token.find("rows")->place, TableTooSmall,
          "expected at least " + std::to_string(model.vocab) +
              " (dims.vocab), got " + std::to_string(rows));
  }
  // A number that is there and wrong has its own diagnostic.
  const Json *vocab = root.at({"dims", "vocab"});
  if (rows == 0 && !token.find("rows")) {
    rows = model.vocab;
    if (!vocab && !token.find("use") && !token.find("input")) {
      error(token.place.child("rows"), BadType,
            "expected the number of token ids (here or in dims.vocab), got "
            "nothing");
    }
  }
  if (!vocab) {
    model.vocab = rows;
  }
  model.mainStack().embeddings.tokenRows = rows;
  std::optional<int64_t> dim = sizeOf(token, "dim");
  bool projected = root.at({stackName(), "embeddings", "projection"});
  if (dim && model.hidden && *dim != model.hidden && !projected) {
    error(token.find("dim")->place, BadEmbedding,
          "expected hidden (" + std::to_string(model.hidden) +
              "; projections are not supported by this tfc), got " +
              std::to_string(*dim));
  }
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
  if (const Json *offset = position.find("offset");
      offset && offset->isInteger()) {
    result.offset = std::clamp<int64_t>(offset->integer, 0, int64_t(1) << 28);
  }
  const Json *rows = position.find("rows");
  result.rows = sizeOf(position, "rows").value_or(0);
  bool hasLimit = root.at({"dims", "max_positions"});
  int64_t wanted = model.maxPositions + result.offset;
  if (!rows && !hasLimit) {
    error(position.place.child("rows"), BadType,
          "expected the number of positions (here or in dims.max_positions), "
          "got nothing");
  } else if (!rows) {
    result.rows = wanted;
  } else if (!hasLimit && result.rows > result.offset) {
    model.maxPositions = result.rows - result.offset;
  } else if (result.rows > 0 &&
             result.rows < std::max(wanted, result.offset + 1)) {
    error(rows->place, TableTooSmall,
          "expected at least " +
              std::to_string(std::max(wanted, result.offset + 1)) +
              " (max_positions " + std::to_string(model.maxPositions) +
              " + offset " + std::to_string(result.offset) + "), got " +
              std::to_string(result.rows));
  }
  model.mainStack().embeddings.position = result;
}

void SpecReader::readSegment(const Json &segment) {
  const Json *name = segment.find("name"), *input = segment.find("input");
  const Json *rows = segment.find("rows"), *use = segment.find("use");
  std::vector<Segment> &segments = model.mainStack().embeddings.segments;
  Segment result;
  if (!isIdentifier(name, BadEmbedding) || !isIdentifier(input, BadEmbedding)) {
    return;
  }
  result.name = name->text;
  result.input = input->text;
  bool taken = result.input == "input_ids" ||
               result.input == "attention_mask" ||
               result.input == "position_ids";
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
  result.rows = result.useToken ? model.mainStack().embeddings.tokenRows
                                : sizeOf(segment, "rows").value_or(0);
  if (const Json *id = segment.find("default"); id && id->isInteger()) {
    result.defaultId = id->integer;
    if (result.rows > 0 && id->integer >= result.rows) {
      error(id->place, BadToken,
            "expected a row of the table (0 to " +
                std::to_string(result.rows - 1) + "), got " + describe(*id));
    }
  }
  segments.push_back(std::move(result));
}

} // namespace tfc::spec
