// Downloads, widens, hands over, rounds, uploads.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/gpu/CudaTap.h"

#include "runtime/src/files/Safetensors.h"
#include "tfc/abi.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tfc::rt {

/// To the nearest, of two equally near ones the even one; a NaN stays one.
static uint16_t roundToBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return std::isnan(value) ? uint16_t(0x7fff)
                           : uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Likewise; what is too large becomes infinite.
static uint16_t roundToF16(float value) {
  constexpr int leastExponent = -14, places = 10;
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value) || value == 0) {
    return value == 0 ? sign : 0x7fff;
  }
  int exponent = 0;
  float size = std::fabs(value);
  std::frexp(std::min(size, 65536.0F), &exponent);
  // In units of the last place, which subnormal numbers share with the least.
  int unit = std::max(exponent - 1, leastExponent) - places;
  auto units =
      int32_t(std::nearbyint(std::ldexp(std::min(size, 65536.0F), -unit)));
  // A carry out of the places is one more of the exponent.
  int32_t bits = ((unit + places - leastExponent) << places) + units;
  return sign | uint16_t(std::min(bits, 0x7c00));
}

/// Between a step's elements, which may have 16 bits, and floats.
static void widen(uint32_t dtype, const void *from, std::vector<float> &to) {
  Tensor tensor;
  tensor.dtype = dtype == TFC_DTYPE_F32   ? DType::F32
                 : dtype == TFC_DTYPE_F16 ? DType::F16
                                          : DType::BF16;
  tensor.data = static_cast<const uint8_t *>(from);
  convertToF32(tensor, 0, static_cast<int64_t>(to.size()), to.data());
}

static void narrow(uint32_t dtype, const std::vector<float> &from, void *to) {
  auto *narrow = static_cast<uint16_t *>(to);
  if (dtype == TFC_DTYPE_F32) {
    std::memcpy(to, from.data(), from.size() * sizeof(float));
  }
  for (size_t i = 0; dtype != TFC_DTYPE_F32 && i < from.size(); ++i) {
    narrow[i] =
        dtype == TFC_DTYPE_F16 ? roundToF16(from[i]) : roundToBf16(from[i]);
  }
}

Status CudaTap::finish(cuda::StreamHandle stream,
                       const TappedValue &value) const {
  return context.check(context.functions().cuStreamSynchronize(stream),
                       "cuStreamSynchronize",
                       concat("to report ", value.id, " behind kernel ",
                              value.kernel ? value.kernel : "(none)"));
}

Status CudaTap::report(TappedValue value, cuda::Address address,
                       cuda::StreamHandle stream) {
  uint64_t elementBytes = value.dtype == TFC_DTYPE_F32 ? 4 : 2;
  bool isKnown = value.dtype == TFC_DTYPE_F32 || value.dtype == TFC_DTYPE_F16 ||
                 value.dtype == TFC_DTYPE_BF16;
  auto count = static_cast<uint64_t>(value.rows * value.width);
  if (!isKnown || count == 0) {
    return {};
  }
  uint64_t bytes = count * elementBytes;
  CudaScope scope(context);
  Status status = scope.status();
  if (status) {
    status = staging.require(bytes);
  }
  if (status) {
    status = context.check(context.functions().cuMemcpyDtoHAsync(
                               staging.data(), address, bytes, stream),
                           "cuMemcpyDtoHAsync", concat("to report ", value.id));
  }
  if (status) {
    status = finish(stream, value);
  }
  if (!status) {
    return status;
  }
  values.resize(count);
  widen(value.dtype, staging.data(), values);
  value.data = values.data();
  if (!listener(value)) {
    return {};
  }
  narrow(value.dtype, values, staging.data());
  status = context.check(context.functions().cuMemcpyHtoDAsync(
                             address, staging.data(), bytes, stream),
                         "cuMemcpyHtoDAsync", concat("to change ", value.id));
  // The staging memory is the next value's, too.
  return status ? finish(stream, value) : status;
}

} // namespace tfc::rt
