// The C API of tfc/runtime.h: the border that no exception crosses.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/CapiGuard.h"
#include "runtime/src/Generate.h"
#include "runtime/src/Info.h"
#include "runtime/src/OptionStructs.h"
#include "runtime/src/Session.h"

#include <algorithm>
#include <cstring>

using namespace tfc::rt;

struct tfc_model {
  explicit tfc_model(std::unique_ptr<Model> loaded)
      : model(std::move(loaded)), ports(*model) {}
  std::shared_ptr<Model> model;
  PortTables ports;
};

struct tfc_session {
  std::shared_ptr<Model> model; // longer than the session
  std::unique_ptr<Session> session;
};

struct tfc_outputs {
  explicit tfc_outputs(std::vector<OutputTensor> results)
      : owned(std::move(results)) {
    for (const OutputTensor &from : owned) {
      tfc_tensor view{};
      view.name = from.name.c_str();
      view.dtype = from.dtype;
      view.rank = static_cast<uint32_t>(from.shape.size());
      std::copy(from.shape.begin(), from.shape.end(), view.shape);
      view.data = from.dtype == TFC_F32
                      ? static_cast<const void *>(from.floats.data())
                      : from.ints.data();
      views.push_back(view);
    }
  }
  std::vector<OutputTensor> owned;
  std::vector<tfc_tensor> views;
};

namespace {

std::string orEmpty(const char *text) { return text ? text : ""; }

template <typename T> Status statusOf(const Result<T> &result) {
  return result ? Status() : Status(result.error());
}

/// A value that callers leave at zero until a version gives it a meaning.
Status checkReserved(uint32_t reserved) {
  return reserved == 0 ? Status()
                       : makeError(Code::InvalidArgument,
                                   "reserved: expected 0, got ", reserved);
}

/// How tokens are chosen, as the caller says or, where that is null, not at
/// all.
Result<std::optional<tfc_decoding_options>>
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

constexpr uint32_t mostLogProbabilities = 1024;

/// What a request asks for beside the tokens, without its decoding.
Result<RequestOptions> readExtras(const tfc_request &given) {
  RequestOptions options;
  bool hasNull = (given.n_decoder_tokens != 0 && !given.decoder_tokens) ||
                 (given.n_stops != 0 && !given.stops) ||
                 (given.n_logit_bias != 0 && !given.logit_bias);
  if (hasNull) {
    return std::move(nullArgument().error());
  }
  Faults faults;
  for (uint32_t i = 0; i < given.n_stops; ++i) {
    const tfc_token_list &stop = given.stops[i];
    if (!stop.tokens || stop.n_tokens < 1) {
      faults.add(makeError(Code::InvalidArgument, "stops: expected at least 1 ",
                           "token in number ", i, ", got ", stop.n_tokens));
      continue;
    }
    options.stops.emplace_back(stop.tokens, stop.tokens + stop.n_tokens);
  }
  for (uint64_t i = 0; i < given.n_logit_bias; ++i) {
    const tfc_logit_bias &bias = given.logit_bias[i];
    faults.add(checkReserved(bias.reserved));
    options.bias.emplace_back(bias.token, bias.bias);
  }
  if (given.n_logprobs > mostLogProbabilities) {
    faults.add(makeError(Code::InvalidArgument, "n_logprobs: expected at most ",
                         mostLogProbabilities, ", got ", given.n_logprobs));
  }
  options.numLogProbabilities = given.n_logprobs;
  auto eos = readEos(given);
  faults.add(statusOf(eos));
  if (faults.any()) {
    return std::move(faults.take().error());
  }
  options.eos = std::move(*eos);
  return options;
}

} // namespace

extern "C" {

tfc_code tfc_error_code(const tfc_error *error) {
  return static_cast<tfc_code>(error ? static_cast<int>(error->error.code) : 0);
}

const char *tfc_error_message(const tfc_error *error) {
  return error ? error->error.message.c_str() : "";
}

void tfc_error_free(tfc_error *error) {
  if (error != outOfMemory()) {
    delete error;
  }
}

const char *tfc_version(void) { return TFC_VERSION; }

uint32_t tfc_abi_version(void) { return TFC_ABI_VERSION; }

tfc_error *tfc_model_load(const tfc_model_options *options, tfc_model **out) {
  return guard([&]() -> Status {
    auto given = readOptions(options);
    if (!given) {
      return std::move(given.error());
    }
    Status status = checkReserved(given->reserved | given->reserved2);
    if (!status) {
      return status;
    }
    bool hasWeights = given->weights_path || given->packed_path;
    if (!hasWeights || !given->library_path || !out) {
      return nullArgument();
    }
    auto model = Model::load(
        {given->library_path, orEmpty(given->weights_path),
         orEmpty(given->program), given->threads, given->tap, given->tap_user,
         orEmpty(given->packed_path), given->share_packed != 0});
    if (!model) {
      return std::move(model.error());
    }
    *out = new tfc_model(std::move(*model));
    return {};
  });
}

void tfc_model_free(tfc_model *model) { delete model; }

void tfc_model_trim(const tfc_model *model) {
  if (model) {
    model->model->trim();
  }
}

tfc_error *tfc_model_get_info(const tfc_model *model, tfc_model_info *info) {
  return guard([&]() -> Status {
    return model && info
               ? writeResult(describe(*model->model, model->ports), info)
               : nullArgument();
  });
}

tfc_error *tfc_decoding_init(const tfc_model *model,
                             tfc_decoding_options *decoding) {
  return guard([&]() -> Status {
    return model && decoding ? writeResult(model->ports.decoding, decoding)
                             : nullArgument();
  });
}

uint32_t tfc_outputs_count(const tfc_outputs *outputs) {
  return outputs ? static_cast<uint32_t>(outputs->views.size()) : 0;
}

const tfc_tensor *tfc_outputs_get(const tfc_outputs *outputs, uint32_t index) {
  return index < tfc_outputs_count(outputs) ? &outputs->views[index] : nullptr;
}

const tfc_tensor *tfc_outputs_find(const tfc_outputs *outputs,
                                   const char *name) {
  for (uint32_t i = 0; name && i < tfc_outputs_count(outputs); ++i) {
    if (std::strcmp(outputs->views[i].name, name) == 0) {
      return &outputs->views[i];
    }
  }
  return nullptr;
}

void tfc_outputs_free(tfc_outputs *outputs) { delete outputs; }

tfc_error *tfc_encode(const tfc_model *model, const tfc_encode_options *options,
                      tfc_outputs **out) {
  return guard([&]() -> Status {
    auto given = readOptions(options);
    if (!given) {
      return std::move(given.error());
    }
    if (!model || !out || (given->n_outputs != 0 && !given->outputs)) {
      return nullArgument();
    }
    std::vector<std::string> names;
    for (uint32_t i = 0; given->outputs && i < given->n_outputs; ++i) {
      names.push_back(orEmpty(given->outputs[i]));
    }
    auto results = runForward(*model->model, given->inputs, given->n_inputs,
                              names, {given->should_stop, given->stop_user});
    if (!results) {
      return std::move(results.error());
    }
    *out = new tfc_outputs(std::move(*results));
    return {};
  });
}

tfc_error *tfc_generate(const tfc_model *model,
                        const tfc_generate_options *options,
                        tfc_token_fn on_token, void *user, tfc_outputs **out) {
  return guard([&]() -> Status {
    auto given = readOptions(options);
    if (!given) {
      return std::move(given.error());
    }
    if (!model) {
      return nullArgument();
    }
    auto eos = readEos(*given);
    auto decoding = readDecoding(given->decoding);
    Faults faults;
    faults.add(checkReserved(given->reserved));
    faults.add(statusOf(eos));
    faults.add(statusOf(decoding));
    if (faults.any()) {
      return faults.take();
    }
    GenerateOptions how;
    how.maxNewTokens = given->max_new_tokens;
    how.engine = {given->max_cache_bytes,
                  {given->should_stop, given->stop_user}};
    how.decoding = *decoding;
    how.eos = std::move(*eos);
    if (on_token) {
      how.onToken = [=](int64_t row, int64_t token, bool finished) {
        return on_token(user, row, token, finished) == 0;
      };
    }
    auto results =
        runGenerate(*model->model, given->inputs, given->n_inputs, how);
    if (!results) {
      return std::move(results.error());
    }
    if (out) {
      *out = new tfc_outputs(std::move(*results));
    }
    return {};
  });
}

tfc_error *tfc_session_create(const tfc_model *model,
                              const tfc_session_options *options,
                              tfc_session **out) {
  return guard([&]() -> Status {
    if (!model || !out) {
      return nullArgument();
    }
    tfc_session_options how{};
    if (options) {
      auto given = readOptions(options);
      if (!given) {
        return std::move(given.error());
      }
      how = *given;
    }
    SessionOptions created;
    created.engine = {how.max_cache_bytes, {how.should_stop, how.stop_user}};
    created.maxStepTokens = static_cast<int64_t>(
        std::min<uint64_t>(how.max_step_tokens, INT64_MAX));
    created.logits = {how.on_logits, how.logits_user};
    auto session = Session::create(*model->model, created);
    if (!session) {
      return std::move(session.error());
    }
    *out = new tfc_session{model->model, std::move(*session)};
    return {};
  });
}

void tfc_session_free(tfc_session *session) { delete session; }

tfc_error *tfc_session_add(tfc_session *session, const tfc_request *request,
                           tfc_sequence_id *out) {
  return guard([&]() -> Status {
    auto given = readOptions(request);
    if (!given) {
      return std::move(given.error());
    }
    if (!session || !out) {
      return nullArgument();
    }
    auto extras = readExtras(*given);
    auto decoding = readDecoding(given->decoding);
    Faults faults;
    faults.add(statusOf(extras));
    faults.add(statusOf(decoding));
    if (faults.any()) {
      return faults.take();
    }
    extras->decoding = *decoding ? &**decoding : nullptr;
    auto id =
        session->session->add({given->tokens, given->n_tokens},
                              {given->decoder_tokens, given->n_decoder_tokens},
                              given->max_new_tokens, *extras);
    if (!id) {
      return std::move(id.error());
    }
    *out = *id;
    return {};
  });
}

tfc_error *tfc_session_step(tfc_session *session, tfc_step_result *out) {
  return guard([&]() -> Status {
    if (!session || !out) {
      return nullArgument();
    }
    Status status = session->session->step();
    if (!status) {
      return status;
    }
    const Session &state = *session->session;
    const auto &tokens = state.newTokens();
    const auto &logprobs = state.logProbabilities();
    tfc_step_result result{};
    result.tokens = tokens.data();
    result.n_tokens = tokens.size();
    result.logprobs = logprobs.empty() ? nullptr : logprobs.data();
    result.n_sequences = static_cast<uint64_t>(state.numSequences());
    return writeResult(result, out);
  });
}

tfc_error *tfc_session_remove(tfc_session *session, tfc_sequence_id sequence) {
  return guard([&]() -> Status {
    return session ? session->session->remove(sequence) : nullArgument();
  });
}

tfc_error *tfc_session_fork(tfc_session *session, tfc_sequence_id sequence,
                            const tfc_fork_options *options,
                            tfc_sequence_id *out) {
  return guard([&]() -> Status {
    if (!session || !out) {
      return nullArgument();
    }
    tfc_fork_options how{};
    if (options) {
      auto given = readOptions(options);
      if (!given) {
        return std::move(given.error());
      }
      how = *given;
    }
    auto decoding = readDecoding(how.decoding);
    if (!decoding) {
      return std::move(decoding.error());
    }
    auto id =
        session->session->fork(sequence, *decoding ? &**decoding : nullptr);
    if (!id) {
      return std::move(id.error());
    }
    *out = *id;
    return {};
  });
}

tfc_error *tfc_session_get_info(const tfc_session *session,
                                tfc_session_info *info) {
  return guard([&]() -> Status {
    if (!session || !info) {
      return nullArgument();
    }
    const Session &state = *session->session;
    tfc_session_info result{};
    result.n_sequences = static_cast<uint64_t>(state.numSequences());
    for (const BlockCache *cache : {&state.cache(), &state.crossCache()}) {
      result.cache_bytes += cache->usedBytes();
      result.max_cache_bytes += cache->capacityBytes();
    }
    if (uint64_t limit = state.cacheLimit()) {
      result.max_cache_bytes = limit;
    }
    return writeResult(result, info);
  });
}

} // extern "C"
