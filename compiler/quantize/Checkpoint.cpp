// Reads tensors as f32, and rounds to 16 bits.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/quantize/Checkpoint.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"

#include <cmath>

using namespace tfc;
using namespace tfc::quantize;

std::vector<float> Checkpoint::read(llvm::StringRef name) const {
  auto own = changed.find(name);
  if (own != changed.end()) {
    return own->second;
  }
  const rt::Tensor &stored = tensor(name);
  std::vector<float> elements(stored.elements());
  rt::convertToF32(stored, 0, stored.elements(), elements.data());
  return elements;
}

rt::Status Checkpoint::checkNumbers() const {
  rt::Faults faults;
  for (const rt::Tensor *tensor : files.tensors()) {
    if (!rt::isWeightDType(tensor->dtype)) {
      continue;
    }
    std::vector<float> elements = read(tensor->name);
    for (size_t i = 0; i < elements.size(); ++i) {
      if (!std::isfinite(elements[i])) {
        faults.add(rt::makeError(
            rt::Code::InvalidArgument, tensor->file, ": ",
            rt::quoteName(tensor->name),
            ": expected finite numbers (what is rounded has a scale), got ",
            std::isnan(elements[i]) ? "a NaN" : "an infinity", " at element ",
            i));
        break;
      }
    }
  }
  return faults.take();
}

static const llvm::fltSemantics &semanticsOf(rt::DType dtype) {
  return dtype == rt::DType::F16 ? llvm::APFloat::IEEEhalf()
                                 : llvm::APFloat::BFloat();
}

uint16_t tfc::quantize::roundTo16(float value, rt::DType dtype) {
  if (dtype == rt::DType::BF16 && std::isfinite(value)) {
    uint32_t bits = llvm::bit_cast<uint32_t>(value);
    return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
  }
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(semanticsOf(dtype), llvm::APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

float tfc::quantize::widen16(uint16_t bits, rt::DType dtype) {
  if (dtype == rt::DType::BF16) {
    return llvm::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
  llvm::APFloat number(semanticsOf(dtype), llvm::APInt(16, bits));
  bool losesInfo;
  number.convert(llvm::APFloat::IEEEsingle(),
                 llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToFloat();
}
