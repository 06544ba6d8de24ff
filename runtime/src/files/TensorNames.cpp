// The names and the values of stored tensors: patterns, prefixes, aliases,
// similar names; conversion to f32.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/Safetensors.h"

#include "runtime/src/files/quantized/NarrowFloats.h"
#include "runtime/src/files/quantized/Quantized.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tfc::rt {

namespace {

bool endsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() &&
         text.substr(text.size() - suffix.size()) == suffix;
}

/// Edits between two names, or `limit` when there are that many.
size_t editDistance(std::string_view a, std::string_view b, size_t limit) {
  size_t difference =
      a.size() < b.size() ? b.size() - a.size() : a.size() - b.size();
  if (difference >= limit) {
    return limit;
  }
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    size_t best = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1,
                         diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
      best = std::min(best, row[j]);
    }
    if (best >= limit) {
      return limit;
    }
  }
  return row[b.size()];
}

} // namespace

void convertToF32(const Tensor &tensor, int64_t first, int64_t count,
                  float *out) {
  if (tensor.quantized) {
    decodeElements(*tensor.quantized, first, count, out);
    return;
  }
  if (tensor.dtype == DType::F32) {
    std::memcpy(out, tensor.data + first * 4, static_cast<size_t>(count) * 4);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, tensor.data + (first + i) * 2, 2);
    if (tensor.dtype == DType::F16) {
      out[i] = f16Value(bits);
    } else {
      uint32_t wide = static_cast<uint32_t>(bits) << 16;
      std::memcpy(&out[i], &wide, 4);
    }
  }
}

bool sameValues(const Tensor &a, const Tensor &b) {
  int64_t total = a.elements();
  if (!isWeightDType(a.dtype) || !isWeightDType(b.dtype) ||
      total != b.elements()) {
    return false;
  }
  if (a.data == b.data && a.quantized == b.quantized && a.dtype == b.dtype) {
    return true;
  }
  // Whole rows, where rows are made of something.
  const QuantizedMatrix *made = (a.quantized ? a : b).quantized.get();
  int64_t chunk = made ? made->columns : 1024;
  std::vector<float> left(static_cast<size_t>(chunk)), right(left.size());
  for (int64_t first = 0; first < total; first += chunk) {
    int64_t count = std::min(chunk, total - first);
    convertToF32(a, first, count, left.data());
    convertToF32(b, first, count, right.data());
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      if (left[i] != right[i] &&
          !(std::isnan(left[i]) && std::isnan(right[i]))) {
        return false;
      }
    }
  }
  return true;
}

std::string expandPattern(std::string_view pattern, std::string_view prefix,
                          int64_t layer, int64_t expert) {
  std::string out;
  for (size_t i = 0; i < pattern.size();) {
    std::string_view rest = pattern.substr(i);
    if (rest.substr(0, 3) == "{p}") {
      out += prefix;
      i += 3;
    } else if (rest.substr(0, 3) == "{i}") {
      out += std::to_string(layer);
      i += 3;
    } else if (rest.substr(0, 3) == "{e}") {
      out += std::to_string(expert);
      i += 3;
    } else {
      out += pattern[i++];
    }
  }
  return out;
}

const Tensor *TensorFiles::find(std::string_view pattern,
                                std::string_view prefix, int64_t layer,
                                const Aliases &aliases, int64_t expert) const {
  std::string name = expandPattern(pattern, prefix, layer, expert);
  if (const Tensor *tensor = find(name)) {
    return tensor;
  }
  auto swapped = [&](const std::string &from,
                     const std::string &to) -> const Tensor * {
    if (from.empty() || !endsWith(name, from)) {
      return nullptr;
    }
    return find(name.substr(0, name.size() - from.size()) + to);
  };
  for (const auto &[one, other] : aliases) {
    const Tensor *tensor = swapped(one, other);
    tensor = tensor ? tensor : swapped(other, one);
    if (tensor) {
      return tensor;
    }
  }
  return nullptr;
}

std::string TensorFiles::choosePrefix(const std::vector<PatternUse> &patterns,
                                      const std::vector<std::string> &prefixes,
                                      const Aliases &aliases) const {
  for (const std::string &prefix : prefixes) {
    for (const PatternUse &use : patterns) {
      if (use.pattern.find("{p}") != std::string::npos &&
          find(use.pattern, prefix, use.layer, aliases)) {
        return prefix;
      }
    }
  }
  return prefixes.empty() ? std::string() : prefixes.front();
}

std::string TensorFiles::closestName(std::string_view name) const {
  size_t best = name.size() / 3 + 1;
  std::string closest;
  for (const Tensor *tensor : list) {
    size_t distance = editDistance(name, tensor->name, best);
    if (distance < best) {
      best = distance;
      closest = tensor->name;
    }
  }
  return closest;
}

} // namespace tfc::rt
