// Reads their rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/gguf/GgufMatrices.h"

#include <algorithm>
#include <cmath>

namespace tfc::rt {

int64_t GgufOrder::stored(int64_t place) const {
  if (kind == Same || place < before) {
    return place;
  }
  int64_t head = (place - before) / width, inHead = (place - before) % width;
  if (kind == Pairs) {
    int64_t half = width / 2;
    return head * width + inHead % half * 2 + inHead / half;
  }
  if (kind == Joined) {
    int64_t group = head / (each + 2), inGroup = head % (each + 2);
    int64_t moved = inGroup < each ? group * each + inGroup
                                   : groups * (each + inGroup - each) + group;
    return moved * width + inHead;
  }
  return before + (head % each * groups + head / each) * width + inHead;
}

const uint8_t *GgufRows::block(int64_t row, int64_t columns,
                               int64_t number) const {
  int64_t before = order.stored(row) * (columns / type->elements) + number;
  return stored.data + static_cast<uint64_t>(before) * type->bytes;
}

namespace {

/// Undoes what was done to elements.
void restore(GgufChange change, float *begin, const float *end) {
  for (; change != GgufChange::None && begin != end; ++begin) {
    *begin = change == GgufChange::OneAdded ? *begin - 1 : std::log(-*begin);
  }
}

void decodeRows(const GgufRows &from, int64_t columns, int64_t first,
                int64_t count, float *out) {
  std::vector<float> line;
  for (int64_t row = first; row < first + count; ++row, out += columns) {
    if (from.type->decode) {
      for (int64_t i = 0; i < columns / from.type->elements; ++i) {
        from.type->decode(from.block(row, columns, i),
                          out + i * from.type->elements);
      }
    } else {
      convertToF32(from.stored, from.order.stored(row) * columns, columns, out);
    }
    if (from.columnOrder.kind != GgufOrder::Same) {
      line.assign(out, out + columns);
      for (int64_t column = 0; column < columns; ++column) {
        out[column] =
            line[static_cast<size_t>(from.columnOrder.stored(column))];
      }
    }
    restore(from.change, out, out + columns);
  }
}

} // namespace

void GgufMatrix::decode(int64_t first, int64_t count, float *out) const {
  decodeRows(from, columns, first, count, out);
}

/// As the format says it: a code may have a sign where it is 0.
void GgufIntegers::decode(int64_t first, int64_t count, float *out) const {
  decodeRows(from, columns, first, count, out);
}

void GgufIntegers::readIntegers(int64_t row, int32_t *integers) const {
  for (int64_t i = 0; i < blocks(); ++i) {
    from.type->readIntegers(block(row, i), integers);
    integers += from.type->elements;
  }
}

void GgufIntegers::readGroups(int64_t row, float *scales,
                              int32_t *zeros) const {
  std::vector<float> unused(static_cast<size_t>(groups / blocks()));
  for (int64_t i = 0; i < blocks(); ++i) {
    from.type->readGroups(block(row, i), scales + i * groups / blocks(),
                          unused.data());
  }
  std::fill_n(zeros, groups, hasFloatZeros ? 0 : middle);
}

void GgufIntegers::readFloatZeros(int64_t row, float *zeros) const {
  std::vector<float> unused(static_cast<size_t>(groups / blocks()));
  for (int64_t i = 0; i < blocks(); ++i) {
    from.type->readGroups(block(row, i), unused.data(),
                          zeros + i * groups / blocks());
  }
}

void GgufJoined::decode(int64_t first, int64_t count, float *out) const {
  int64_t each = 0;
  for (const Run &run : runs) {
    each += run.rows;
  }
  for (int64_t row = first; row < first + count; ++row, out += columns) {
    int64_t group = row / each, place = row % each;
    const Run *run = runs.data();
    for (; place >= run->rows; ++run) {
      place -= run->rows;
    }
    convertToF32(*from[run->part],
                 (run->first + group * run->rows + place) * columns, columns,
                 out);
  }
}

void GgufLatents::decode(int64_t first, int64_t count, float *out) const {
  int64_t wide = keys->shape[2], high = values->shape[1], each = wide + high;
  std::vector<float> turned;
  int64_t made = -1;
  for (int64_t row = first; row < first + count; ++row, out += columns) {
    int64_t head = row / each, inHead = row % each;
    if (inHead >= wide) {
      convertToF32(*values, (head * high + inHead - wide) * columns, columns,
                   out);
      continue;
    }
    if (head != made) {
      turned.resize(static_cast<size_t>(columns * wide));
      convertToF32(*keys, head * columns * wide, columns * wide, turned.data());
      made = head;
    }
    for (int64_t column = 0; column < columns; ++column) {
      out[column] = turned[static_cast<size_t>(column * wide + inHead)];
    }
  }
}

} // namespace tfc::rt
