// Finds and checks the parts of a module.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/quantized/QuantizedModule.h"

#include "runtime/src/files/quantized/NarrowFloats.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tfc::rt {

// Products of two of these, by 8 bytes, do not overflow.
static constexpr int64_t maxAxis = int64_t(1) << 30;

const std::vector<DType> floatScales = {DType::F32, DType::F16, DType::BF16};

const Tensor *QuantizedModule::find(const std::string &name) {
  auto found = tensors.find(concat(stem, ".", name));
  if (found == tensors.end()) {
    return nullptr;
  }
  if (std::find(parts.begin(), parts.end(), found->second) == parts.end()) {
    parts.push_back(found->second);
  }
  return found->second;
}

Result<const Tensor *> QuantizedModule::take(const std::string &name,
                                             const std::vector<DType> &dtypes) {
  const Tensor *tensor = find(name);
  if (!tensor) {
    std::string file(parts.empty() ? std::string_view() : parts[0]->file);
    std::string beside = parts.empty() ? stem : parts[0]->name;
    return makeError(Code::NotFound, file, ": expected tensor ",
                     quoteName(stem + "." + name), " beside ",
                     quoteName(beside), " (a quantised matrix), got none");
  }
  if (std::find(dtypes.begin(), dtypes.end(), tensor->dtype) != dtypes.end()) {
    return tensor;
  }
  std::string known;
  for (DType dtype : dtypes) {
    known += (known.empty() ? "" : " or ") + std::string(dtypeName(dtype));
  }
  return fault(*tensor, "expected dtype ", known, ", got ",
               dtypeName(tensor->dtype));
}

Result<const Tensor *>
QuantizedModule::takeMatrix(const std::string &name,
                            const std::vector<DType> &dtypes) {
  Result<const Tensor *> taken = take(name, dtypes);
  if (!taken) {
    return taken;
  }
  const std::vector<int64_t> &shape = (*taken)->shape;
  bool isGood = shape.size() == 2 &&
                std::all_of(shape.begin(), shape.end(),
                            [](int64_t n) { return n > 0 && n <= maxAxis; });
  if (isGood) {
    return taken;
  }
  return fault(**taken, "expected two axes, from 1 to ", maxAxis,
               " each (a quantised matrix), got ", shapeText(shape));
}

Status QuantizedModule::expectShape(const Tensor &tensor,
                                    const std::vector<int64_t> &shape,
                                    const std::string &why) const {
  if (tensor.shape == shape) {
    return {};
  }
  return fault(tensor, "expected shape ", shapeText(shape), " (", why,
               "), got ", shapeText(tensor.shape));
}

std::vector<int32_t> groupsOf(int64_t columns, int64_t size) {
  std::vector<int32_t> groups(static_cast<size_t>(columns));
  for (size_t i = 0; i < groups.size(); ++i) {
    groups[i] = static_cast<int32_t>(static_cast<int64_t>(i) / size);
  }
  return groups;
}

Result<std::vector<int32_t>> readGroupIndex(const QuantizedModule &module,
                                            const Tensor &index,
                                            int64_t columns, int64_t groups) {
  Status status = module.expectShape(index, {columns}, "a group a column");
  if (!status) {
    return std::move(status.error());
  }
  std::vector<int32_t> list(static_cast<size_t>(columns));
  for (int64_t i = 0; i < columns; ++i) {
    auto group = static_cast<int32_t>(wordAt(index, i));
    if (group < 0 || group >= groups) {
      return module.fault(index, "expected groups from 0 to ", groups - 1,
                          " (as many as there are scales), got ", group, " at ",
                          i);
    }
    list[static_cast<size_t>(i)] = group;
  }
  return list;
}

std::string groupWords(int64_t groups, int64_t size) {
  return groups == 1 ? ", a scale a row" : concat(", groups of ", size);
}

uint32_t wordAt(const Tensor &tensor, int64_t index) {
  uint32_t word;
  std::memcpy(&word, tensor.data + index * 4, sizeof(word));
  return word;
}

DType scaleTypeOf(const Tensor &tensor) {
  return isWeightDType(tensor.dtype)     ? tensor.dtype
         : tensor.dtype == DType::F8E4M3 ? DType::F16
                                         : DType::BF16;
}

void readScales(const Tensor &tensor, int64_t first, int64_t count,
                float *out) {
  if (isWeightDType(tensor.dtype)) {
    convertToF32(tensor, first, count, out);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    uint8_t code = tensor.data[first + i];
    out[i] = tensor.dtype == DType::F8E4M3 ? e4m3Value(code) : e8m0Value(code);
  }
}

} // namespace tfc::rt
