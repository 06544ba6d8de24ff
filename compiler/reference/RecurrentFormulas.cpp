// The formulas of layers that keep a state.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/reference/Formulas.h"

#include <algorithm>
#include <cmath>

namespace tfc::reference {

void causalConv(const Matrix &x, const Matrix &weight, const Matrix *bias,
                const Sequence &sequence, double *state, Matrix &result) {
  int64_t taps = weight.cols, columns = x.cols;
  // The row so many tokens after the sequence's first new one: of the state
  // where that is before it.
  auto before = [&](int64_t token, int64_t column) {
    return token < 0 ? state[(taps - 1 + token) * columns + column]
                     : x.at(sequence.first + token, column);
  };
  std::vector<double> tail((taps - 1) * columns);
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t t = 0; t < sequence.count; ++t) {
      double sum = bias ? bias->at(0, column) : 0;
      for (int64_t i = 0; i < taps; ++i) {
        sum += weight.at(column, i) * before(t - taps + 1 + i, column);
      }
      result.at(sequence.first + t, column) = sum;
    }
    for (int64_t i = 0; i + 1 < taps; ++i) {
      tail[i * columns + column] =
          before(sequence.count - taps + 1 + i, column);
    }
  }
  std::copy(tail.begin(), tail.end(), state);
}

void recurrence(const RecurrenceInputs &in, const Sequence &sequence,
                double *state, Matrix &result) {
  int64_t keys = in.key.cols / in.keyHeads, values = in.value.cols / in.heads;
  bool ofKeys = !in.logRate && in.decay.cols != in.heads;
  for (int64_t head = 0; head < in.heads; ++head) {
    double *matrix = state + head * keys * values;
    int64_t key0 = head / (in.heads / in.keyHeads) * keys;
    for (int64_t t = sequence.first; t < sequence.first + sequence.count; ++t) {
      for (int64_t v = 0; v < values; ++v) {
        int64_t column = head * values + v;
        int64_t part = in.logRate ? column : head;
        double found = 0, y = 0;
        for (int64_t i = 0; i < keys; ++i) {
          double decay = in.decay.at(t, ofKeys ? head * keys + i : part);
          matrix[i * values + v] *=
              in.logRate
                  ? std::exp(-std::exp(in.logRate->at(i, column)) * decay)
                  : decay;
          found += in.key.at(t, key0 + i) * matrix[i * values + v];
        }
        if (in.rule == transformer::RecurrenceRule::Add) {
          found = 0;
        }
        double change = in.beta.at(t, part) * (in.value.at(t, column) - found);
        for (int64_t i = 0; i < keys; ++i) {
          matrix[i * values + v] += in.key.at(t, key0 + i) * change;
          y += in.query.at(t, key0 + i) * matrix[i * values + v];
        }
        double skip = in.skip ? in.skip->at(0, part) : 0;
        result.at(t, column) = y + skip * in.value.at(t, column);
      }
    }
  }
}

Matrix decay(const Matrix &x, const Matrix &logRate) {
  Matrix y = x;
  int64_t width = x.cols / logRate.cols; // of a part
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t c = 0; c < x.cols; ++c) {
      double softplus = activate(transformer::Activation::Softplus, x.at(t, c));
      y.at(t, c) = std::exp(-std::exp(logRate.at(0, c / width)) * softplus);
    }
  }
  return y;
}

} // namespace tfc::reference
