// Structs that begin with struct_size: how the caller's version of them becomes
// today's, and the other way round.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_CAPI_OPTIONSTRUCTS_H
#define TFC_RUNTIME_SRC_CAPI_OPTIONSTRUCTS_H

#include "runtime/src/Error.h"
#include "tfc/runtime.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace tfc::rt {

/// More than any version of a struct will have: a struct_size beyond is a
/// number that nobody set.
constexpr uint64_t maxStructSize = 4096;

/// The name of an option struct, and its size in the first version of the
/// header that had it: the bytes up to the first field that came later.
template <typename T> struct OptionStruct;
template <> struct OptionStruct<tfc_decoding_options> {
  static constexpr const char *name = "tfc_decoding_options";
  static constexpr uint64_t firstSize = 120;
};
template <> struct OptionStruct<tfc_model_options> {
  static constexpr const char *name = "tfc_model_options";
  static constexpr uint64_t firstSize =
      offsetof(tfc_model_options, packed_path);
};
template <> struct OptionStruct<tfc_encode_options> {
  static constexpr const char *name = "tfc_encode_options";
  static constexpr uint64_t firstSize = 32;
};
template <> struct OptionStruct<tfc_generate_options> {
  static constexpr const char *name = "tfc_generate_options";
  static constexpr uint64_t firstSize =
      offsetof(tfc_generate_options, decoding);
};
template <> struct OptionStruct<tfc_session_options> {
  static constexpr const char *name = "tfc_session_options";
  static constexpr uint64_t firstSize = 16;
};
template <> struct OptionStruct<tfc_fork_options> {
  static constexpr const char *name = "tfc_fork_options";
  static constexpr uint64_t firstSize = 16;
};
template <> struct OptionStruct<tfc_request> {
  static constexpr const char *name = "tfc_request";
  static constexpr uint64_t firstSize = offsetof(tfc_request, decoding);
};

/// The caller's options in today's layout. What an older struct lacks is zero.
/// What a newer one has beyond must be zero: an option that this runtime does
/// not know is not passed over. Errors: InvalidArgument.
template <typename T> Result<T> readOptions(const T *options) {
  const char *name = OptionStruct<T>::name;
  uint64_t size = options ? options->struct_size : 0;
  if (!options) {
    return makeError(Code::InvalidArgument, "expected ", name, ", got null");
  }
  if (size < OptionStruct<T>::firstSize || size > maxStructSize) {
    return makeError(Code::InvalidArgument, "expected struct_size of ", name,
                     " from ", OptionStruct<T>::firstSize, " to ",
                     maxStructSize, " (sizeof the struct), got ", size);
  }
  const auto *bytes = reinterpret_cast<const unsigned char *>(options);
  for (uint64_t at = sizeof(T); at < size; ++at) {
    if (bytes[at] != 0) {
      return makeError(Code::InvalidArgument, "expected zeros beyond the ",
                       sizeof(T), " bytes of ", name,
                       " that this runtime knows (an option of a newer one), "
                       "got ",
                       unsigned(bytes[at]), " at byte ", at);
    }
  }
  T local{};
  std::memcpy(&local, options, std::min<uint64_t>(size, sizeof(T)));
  return local;
}

/// Writes `from` as far as the caller's struct goes; what a newer one has
/// beyond becomes zero. Errors: InvalidArgument.
template <typename T> Status writeResult(T from, T *to) {
  uint64_t size = to->struct_size;
  if (size < sizeof(size) || size > maxStructSize) {
    return makeError(Code::InvalidArgument, "expected struct_size from ",
                     sizeof(size), " to ", maxStructSize,
                     " (sizeof the struct), got ", size);
  }
  from.struct_size = size;
  uint64_t known = std::min<uint64_t>(size, sizeof(T));
  std::memcpy(to, &from, known);
  std::memset(reinterpret_cast<unsigned char *>(to) + known, 0, size - known);
  return {};
}

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_CAPI_OPTIONSTRUCTS_H
