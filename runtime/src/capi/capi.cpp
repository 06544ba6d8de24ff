// The C API of tfc/runtime.h but for sessions: the border that no exception
// crosses.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/capi/CapiOptions.h"
#include "runtime/src/capi/Outputs.h"
#include "runtime/src/session/Generate.h"

#include <algorithm>
#include <cstring>

using namespace tfc::rt;

namespace {

std::string orEmpty(const char *text) { return text ? text : ""; }

Result<LoadOptions> readLoad(const tfc_model_options &given) {
  Faults faults;
  faults.add(checkReserved(given.reserved | given.reserved2 | given.reserved3 |
                           given.reserved4));
  faults.add(checkNext(given.next));
  bool hasWeights =
      given.weights_path || given.n_weights_paths != 0 || given.packed_path;
  bool hasNull = (given.n_weights_paths != 0 && !given.weights_paths) ||
                 !hasWeights || !(given.library_path || given.library);
  for (uint32_t i = 0; !hasNull && i < given.n_weights_paths; ++i) {
    hasNull = !given.weights_paths[i];
  }
  if (hasNull) {
    faults.add(nullArgument());
  }
  if (given.library && given.library_path) {
    faults.add(makeError(Code::InvalidArgument, "expected library_path or ",
                         "library (of a linked model), got both"));
  }
  if (faults.any()) {
    return faults.take().error();
  }
  LoadOptions options;
  options.libraryPath = orEmpty(given.library_path);
  options.library = given.library;
  options.weightsPath = orEmpty(given.weights_path);
  options.moreWeights.assign(given.weights_paths,
                             given.weights_paths + given.n_weights_paths);
  options.program = orEmpty(given.program);
  options.threads = given.threads;
  if (given.tap) {
    options.tap = [tap = given.tap,
                   user = given.tap_user](const TappedValue &value) {
      tap(user, value.id, value.layer, value.rows, value.width, value.data);
      return false;
    };
  }
  options.packedPath = orEmpty(given.packed_path);
  options.sharesPacked = given.share_packed != 0;
  options.progress = given.progress;
  options.progressUser = given.progress_user;
  options.parallelFor = given.parallel_for;
  options.parallelUser = given.parallel_user;
  options.rank = given.rank;
  options.reduce = given.reduce;
  options.reduceUser = given.reduce_user;
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
    auto how = readLoad(*given);
    if (!how) {
      return std::move(how.error());
    }
    if (!out) {
      return nullArgument();
    }
    auto model = Model::load(*how);
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
    if (!model || !out || (given->n_outputs != 0 && !given->outputs) ||
        (given->n_head_rows != 0 && !given->head_rows)) {
      return nullArgument();
    }
    std::vector<std::string> names;
    for (uint32_t i = 0; given->outputs && i < given->n_outputs; ++i) {
      names.push_back(orEmpty(given->outputs[i]));
    }
    // A callback may give the handle up.
    std::shared_ptr<Model> kept = model->model;
    std::vector<int64_t> headRows(given->head_rows,
                                  given->head_rows + given->n_head_rows);
    auto results = runForward(*kept, given->inputs, given->n_inputs, names,
                              {given->should_stop, given->stop_user}, headRows);
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
    how.maxDrafts = cappedCount(given->max_drafts);
    how.draft = sharedModel(given->draft);
    how.eos = std::move(*eos);
    if (on_token) {
      how.onToken = [=](int64_t row, int64_t token, bool finished) {
        return on_token(user, row, token, finished) == 0;
      };
    }
    std::shared_ptr<Model> kept = model->model;
    auto results = runGenerate(*kept, given->inputs, given->n_inputs, how);
    if (!results) {
      return std::move(results.error());
    }
    if (out) {
      *out = new tfc_outputs(std::move(*results));
    }
    return {};
  });
}

} // extern "C"
