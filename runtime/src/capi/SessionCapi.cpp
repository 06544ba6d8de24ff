// The C API of sessions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/capi/CapiOptions.h"
#include "runtime/src/capi/ReadRequest.h"

#include <algorithm>

using namespace tfc::rt;

struct tfc_session {
  std::shared_ptr<Model> model; // longer than the session
  std::unique_ptr<Session> session;
};

extern "C" {

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
    Status status = checkNext(how.next);
    if (!status) {
      return status;
    }
    SessionOptions created;
    created.engine = {how.max_cache_bytes, {how.should_stop, how.stop_user}};
    created.maxStepTokens = cappedCount(how.max_step_tokens);
    created.maxDrafts = cappedCount(how.max_drafts);
    created.draft = sharedModel(how.draft);
    created.logits = {how.on_logits, how.logits_user};
    auto session = Session::create(*model->model, created);
    if (!session) {
      return std::move(session.error());
    }
    *out = new tfc_session{model->model, std::move(*session)};
    return {};
  });
}

void tfc_session_free(tfc_session *session) {
  // A step would go on in what is gone.
  if (session && !session->session->isBusy()) {
    delete session;
  }
}

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
    SessionState now = state.state();
    result.n_sequences = static_cast<uint64_t>(now.numSequences);
    result.n_paused = static_cast<uint64_t>(now.numPaused);
    result.faults = state.faults().data();
    result.n_faults = state.faults().size();
    result.waiting = state.leftOut().data();
    result.n_waiting = state.leftOut().size();
    result.prompts = state.echoes().data();
    result.n_prompts = state.echoes().size();
    result.n_held = static_cast<uint64_t>(now.numHeld);
    return writeResult(result, out);
  });
}

tfc_error *tfc_session_remove(tfc_session *session, tfc_sequence_id sequence) {
  return guard([&]() -> Status {
    return session ? session->session->remove(sequence) : nullArgument();
  });
}

tfc_error *tfc_session_pause(tfc_session *session, tfc_sequence_id sequence) {
  return guard([&]() -> Status {
    return session ? session->session->pause(sequence) : nullArgument();
  });
}

tfc_error *tfc_session_hold(tfc_session *session, tfc_sequence_id sequence) {
  return guard([&]() -> Status {
    return session ? session->session->hold(sequence) : nullArgument();
  });
}

tfc_error *tfc_session_resume(tfc_session *session, tfc_sequence_id sequence) {
  return guard([&]() -> Status {
    return session ? session->session->resume(sequence) : nullArgument();
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
    SessionState state = session->session->state();
    tfc_session_info result{};
    result.n_sequences = static_cast<uint64_t>(state.numSequences);
    result.cache_bytes = state.cache.used;
    result.max_cache_bytes = state.cache.most;
    result.n_paused = static_cast<uint64_t>(state.numPaused);
    result.n_held = static_cast<uint64_t>(state.numHeld);
    result.n_kept = static_cast<uint64_t>(state.numKept);
    result.drafted_tokens = state.drafts.drafted;
    result.accepted_tokens = state.drafts.accepted;
    return writeResult(result, info);
  });
}

} // extern "C"
