// Frequencies of rotary position embeddings in f32 arithmetic.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/Rotary.h"

#include <algorithm>
#include <cmath>

namespace tfc::spec {

static constexpr double pi = 3.14159265358979323846;

double yarnFactor(double factor, double mscale) {
  return factor <= 1 ? 1 : 0.1 * mscale * std::log(factor) + 1;
}

/// theta^(2i / dim), exponent and result rounded to f32.
static float power(double theta, int64_t i, int64_t dim) {
  float exponent = float(2 * i) / float(dim);
  return float(std::pow(double(float(theta)), double(exponent)));
}

/// Long waves are stretched, short ones are not, those between in part.
static float scaleLlama3(float frequency, const RotaryScaling &scaling) {
  auto original = float(scaling.originalMax);
  // A number over a tensor is its reciprocal times the number there.
  float length = 1 / frequency * float(2 * pi);
  if (length > float(double(scaling.originalMax) / scaling.lowFreqFactor)) {
    return frequency / float(scaling.factor);
  }
  if (length < float(double(scaling.originalMax) / scaling.highFreqFactor)) {
    return frequency;
  }
  float smooth = (1 / length * original - float(scaling.lowFreqFactor)) /
                 float(scaling.highFreqFactor - scaling.lowFreqFactor);
  return (1 - smooth) * frequency / float(scaling.factor) + smooth * frequency;
}

/// The pair of columns that turns so often within the original context.
static double correctionDim(double turns, const Rotary &rotary) {
  return double(rotary.dim) *
         std::log(double(rotary.scaling.originalMax) / (turns * 2 * pi)) /
         (2 * std::log(rotary.theta));
}

/// Yarn: from `low` to `high` the stretch goes from none to all of the factor.
static void resolveYarn(Rotary &rotary) {
  const RotaryScaling &scaling = rotary.scaling;
  double low = correctionDim(scaling.betaFast, rotary);
  double high = correctionDim(scaling.betaSlow, rotary);
  if (scaling.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, double(rotary.dim - 1));
  if (low == high) {
    high += 0.001;
  }
  for (int64_t i = 0; i < rotary.dim / 2; ++i) {
    float wave = power(rotary.theta, i, rotary.dim);
    float ramp = (float(i) - float(low)) / float(high - low);
    float kept = 1 - std::clamp(ramp, 0.0f, 1.0f);
    float stretched = 1 / (float(scaling.factor) * wave);
    rotary.frequencies.push_back(
        double(stretched * (1 - kept) + 1 / wave * kept));
  }
}

/// The frequencies of all but yarn.
static void resolveOthers(Rotary &rotary) {
  using Scaling = RotaryScaling::Kind;
  // Dynamic scaling begins beyond max_positions, where no sequence goes.
  for (int64_t i = 0; i < rotary.dim / 2; ++i) {
    float wave = power(rotary.theta, i, rotary.dim);
    if (rotary.scaling.kind == Scaling::Longrope) {
      wave *= float(rotary.scaling.shortFactors[size_t(i)]);
    }
    float frequency = 1 / wave;
    if (rotary.scaling.kind == Scaling::Linear) {
      frequency /= float(rotary.scaling.factor);
    } else if (rotary.scaling.kind == Scaling::Llama3) {
      frequency = scaleLlama3(frequency, rotary.scaling);
    }
    rotary.frequencies.push_back(double(frequency));
  }
}

/// Those of y, then the same of x. The first pair of each turns once from the
/// middle of a picture to its edge.
static void resolveGrid(Rotary &rotary) {
  for (int64_t i = 0; i < rotary.dim / 2; ++i) {
    float wave = power(rotary.theta, i % (rotary.dim / 4), rotary.dim / 2);
    rotary.frequencies.push_back(2 * pi * double(1 / wave));
  }
}

void resolveFrequencies(Rotary &rotary) {
  rotary.frequencies.clear();
  if (rotary.grid) {
    resolveGrid(rotary);
  } else if (rotary.scaling.kind == RotaryScaling::Kind::Yarn) {
    resolveYarn(rotary);
  } else {
    resolveOthers(rotary);
  }
  auto turned = rotary.frequencies.begin() + rotary.turned / 2;
  std::fill(turned, rotary.frequencies.end(), 0);
  for (double &frequency : rotary.frequencies) {
    frequency = rotary.reverse ? -frequency : frequency;
  }
}

} // namespace tfc::spec
