// What the files of runtime.h's C API share: the model's handle, and readers of
// what several option structs have.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_CAPI_CAPIOPTIONS_H
#define TFC_RUNTIME_SRC_CAPI_CAPIOPTIONS_H

#include "runtime/src/capi/CapiGuard.h"
#include "runtime/src/capi/Info.h"
#include "runtime/src/capi/OptionStructs.h"

#include <memory>

struct tfc_model {
  explicit tfc_model(std::unique_ptr<tfc::rt::Model> loaded)
      : model(std::move(loaded)), ports(*model) {}
  std::shared_ptr<tfc::rt::Model> model;
  tfc::rt::PortTables ports;
};

namespace tfc::rt {

/// Null stays null.
inline std::shared_ptr<const Model> sharedModel(const tfc_model *model) {
  return model ? model->model : nullptr;
}

template <typename T> Status statusOf(const Result<T> &result) {
  return result ? Status() : Status(result.error());
}

/// A value that callers leave at zero until a version gives it a meaning.
inline Status checkReserved(uint32_t reserved) {
  return reserved == 0 ? Status()
                       : makeError(Code::InvalidArgument,
                                   "reserved: expected 0, got ", reserved);
}

/// A count in today's type; more than that is as good as no limit.
inline int64_t cappedCount(uint64_t count) {
  return static_cast<int64_t>(std::min<uint64_t>(count, INT64_MAX));
}

/// A pointer that callers leave null until a version gives it a meaning.
inline Status checkNext(const void *next) {
  return next ? makeError(Code::InvalidArgument, "next: expected null, got ",
                          "options of a newer runtime")
              : Status();
}

/// How tokens are chosen, as the caller says or, where that is null, not at
/// all.
inline Result<std::optional<tfc_decoding_options>>
readDecoding(const tfc_decoding_options *options) {
  if (!options) {
    return std::optional<tfc_decoding_options>();
  }
  auto given = readOptions(options);
  if (!given) {
    return std::move(given.error());
  }
  Status status = checkReserved(given->reserved);
  if (!status) {
    return std::move(status.error());
  }
  return std::optional<tfc_decoding_options>(*given);
}

/// The end tokens of options that have them, or nothing where they say that the
/// model's are meant.
template <typename T>
Result<std::optional<std::vector<int64_t>>> readEos(const T &options) {
  using Tokens = std::optional<std::vector<int64_t>>;
  if (options.n_eos != 0 && !options.eos) {
    return std::move(nullArgument().error());
  }
  if (!options.own_eos && (options.eos || options.n_eos != 0)) {
    return makeError(Code::InvalidArgument, "expected own_eos to be set (eos ",
                     "replaces the model's end tokens), got 0 and ",
                     options.n_eos, " end tokens");
  }
  if (!options.own_eos) {
    return Tokens();
  }
  return Tokens(std::vector<int64_t>(options.eos, options.eos + options.n_eos));
}

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_CAPI_CAPIOPTIONS_H
