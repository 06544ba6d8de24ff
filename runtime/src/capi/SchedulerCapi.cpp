// The C API of tfc/scheduler.h.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/capi/CapiOptions.h"
#include "runtime/src/capi/Outputs.h"
#include "runtime/src/capi/ReadRequest.h"
#include "runtime/src/choose/Decoding.h"
#include "runtime/src/serve/Scheduler.h"

#include <algorithm>

using namespace tfc::rt;

struct tfc_scheduler {
  std::unique_ptr<Scheduler> scheduler;
};

namespace tfc::rt {

template <> struct OptionStruct<tfc_scheduler_options> {
  static constexpr const char *name = "tfc_scheduler_options";
  static constexpr uint64_t firstSize =
      offsetof(tfc_scheduler_options, max_drafts);
};
template <> struct OptionStruct<tfc_job_options> {
  static constexpr const char *name = "tfc_job_options";
  static constexpr uint64_t firstSize = sizeof(tfc_job_options);
};
template <> struct OptionStruct<tfc_encode_job> {
  static constexpr const char *name = "tfc_encode_job";
  static constexpr uint64_t firstSize = offsetof(tfc_encode_job, n_unseen);
};

} // namespace tfc::rt

namespace {

constexpr int32_t mostPriority = 1000;

Status checkPriority(int32_t priority) {
  return priority >= -mostPriority && priority <= mostPriority
             ? Status()
             : makeError(Code::InvalidArgument, "priority: expected -1000 to ",
                         "1000, got ", priority);
}

Status checkFlag(const char *name, uint32_t value) {
  return value <= 1 ? Status()
                    : makeError(Code::InvalidArgument, name,
                                ": expected 0 or 1, got ", value);
}

Result<SchedulerOptions> readScheduler(const tfc_scheduler_options *options) {
  tfc_scheduler_options how{};
  if (options) {
    auto given = readOptions(options);
    if (!given) {
      return std::move(given.error());
    }
    how = *given;
  }
  Faults faults;
  faults.add(checkNext(how.next));
  faults.add(checkFlag("no_prefix_cache", how.no_prefix_cache));
  faults.add(checkFlag("no_thread", how.no_thread));
  if (faults.any()) {
    return faults.take().error();
  }
  SchedulerOptions read;
  read.core.session.engine.maxCacheBytes = how.max_cache_bytes;
  read.core.session.maxStepTokens =
      how.max_step_tokens == 0 ? 256 : cappedCount(how.max_step_tokens);
  read.core.session.maxDrafts = cappedCount(how.max_drafts);
  read.core.session.draft = sharedModel(how.draft);
  read.core.remembers = how.no_prefix_cache == 0;
  if (how.max_batch_tokens != 0) {
    read.core.maxBatchTokens = how.max_batch_tokens;
  }
  if (how.max_queue_tokens != 0) {
    read.maxQueueTokens = how.max_queue_tokens;
  }
  read.hasThread = how.no_thread == 0;
  return read;
}

struct ReadJob {
  Prompt prompt;
  RequestOptions options;
  std::optional<BeamOptions> beams;
};

/// What a search has not, and how many of its sequences are answers.
Status checkBeams(const tfc_request &request, const RequestOptions &extras,
                  const tfc_decoding_options &how) {
  Faults faults;
  bool hasMore = request.n_logprobs != 0 || request.echo != 0 ||
                 !extras.stops.empty() || !extras.bias.empty() ||
                 !extras.headRows.empty();
  if (hasMore) {
    faults.add(makeError(Code::Unsupported, "request: expected no n_logprobs, ",
                         "echo, stops, logit_bias and head_rows beside beams, ",
                         "got some"));
  }
  if (how.num_return_sequences > 1 || extras.numAnswers > how.num_beams) {
    faults.add(makeError(Code::InvalidArgument, "n: expected at most ",
                         how.num_beams, " (num_beams; num_return_sequences 1)",
                         ", got ", extras.numAnswers, " and ",
                         how.num_return_sequences));
  }
  return faults.take();
}

Result<ReadJob> readJob(const Session &session, const tfc_request *request) {
  auto given = readOptions(request);
  if (!given) {
    return std::move(given.error());
  }
  if (given->keep != 0 || given->prefix != 0) {
    return makeError(Code::InvalidArgument,
                     "request: expected keep and prefix "
                     "to be 0 (the scheduler's own), got ",
                     given->keep, " and ", given->prefix);
  }
  auto extras = readExtras(*given);
  auto decoding = readDecoding(given->decoding);
  Faults faults;
  faults.add(statusOf(extras));
  faults.add(statusOf(decoding));
  if (faults.any()) {
    return faults.take().error();
  }
  extras->decoding = *decoding ? &**decoding : nullptr;
  extras->hasBeams = *decoding && (*decoding)->num_beams > 1;
  if (extras->hasBeams) {
    Status status = checkBeams(*given, *extras, **decoding);
    if (!status) {
      return std::move(status.error());
    }
  }
  auto prompt =
      session.prepare({given->tokens, given->n_tokens},
                      {given->decoder_tokens, given->n_decoder_tokens},
                      given->max_new_tokens, *extras);
  if (!prompt) {
    return std::move(prompt.error());
  }
  std::optional<BeamOptions> beams;
  if (extras->hasBeams) {
    beams = makeBeamOptions(**decoding, prompt->eos,
                            prompt->choice.promptLength, prompt->maxNewTokens);
  }
  extras->decoding = nullptr;
  return ReadJob{std::move(*prompt), std::move(*extras), std::move(beams)};
}

/// Errors: those of Session::bytesOfBeams, of Scheduler::submit; Unsupported
/// (masks).
Result<uint64_t> submitBeams(Scheduler &to, const JobWishes &wishes,
                             ReadJob read) {
  if (wishes.isMasked) {
    return makeError(Code::Unsupported,
                     "needs_mask: expected 0 beside beams, got 1");
  }
  auto bytes = to.session()->bytesOfBeams(read.prompt, read.beams->numBeams);
  if (!bytes) {
    return std::move(bytes.error());
  }
  return to.submit(wishes,
                   BeamJob{std::move(read.prompt), std::move(*read.beams),
                           read.options.numAnswers, *bytes});
}

Result<std::vector<std::vector<int64_t>>> readLists(const tfc_token_list *lists,
                                                    uint64_t count) {
  std::vector<std::vector<int64_t>> read;
  for (uint64_t i = 0; i < count; ++i) {
    if (lists[i].n_tokens < 0 || (lists[i].n_tokens != 0 && !lists[i].tokens)) {
      return makeError(Code::InvalidArgument, "text ", i,
                       ": expected tokens, got null or ", lists[i].n_tokens);
    }
    read.emplace_back(lists[i].tokens, lists[i].tokens + lists[i].n_tokens);
  }
  return read;
}

Result<TextBatch> readTexts(const tfc_encode_job &given) {
  bool hasNull = (given.n_texts != 0 && !given.texts) ||
                 (given.n_outputs != 0 && !given.outputs);
  for (uint32_t i = 0; !hasNull && i < given.n_outputs; ++i) {
    hasNull = !given.outputs[i];
  }
  if (hasNull) {
    return std::move(nullArgument().error());
  }
  if (given.n_texts == 0) {
    return makeError(Code::InvalidArgument,
                     "texts: expected at least 1, got none");
  }
  TextBatch batch;
  auto texts = readLists(given.texts, given.n_texts);
  if (!texts) {
    return std::move(texts.error());
  }
  batch.texts = std::move(*texts);
  if (given.type_ids) {
    auto types = readLists(given.type_ids, given.n_texts);
    if (!types) {
      return std::move(types.error());
    }
    batch.types = std::move(*types);
  }
  if (given.n_unseen) {
    batch.unseen.assign(given.n_unseen, given.n_unseen + given.n_texts);
  }
  batch.outputs.assign(given.outputs, given.outputs + given.n_outputs);
  return batch;
}

} // namespace

extern "C" {

tfc_error *tfc_scheduler_create(const tfc_model *model,
                                const tfc_scheduler_options *options,
                                tfc_scheduler **out) {
  return guard([&]() -> Status {
    auto how = readScheduler(options);
    if (!how) {
      return std::move(how.error());
    }
    if (!model || !out) {
      return nullArgument();
    }
    auto made = Scheduler::create(model->model, *how);
    if (!made) {
      return std::move(made.error());
    }
    *out = new tfc_scheduler{std::move(*made)};
    return {};
  });
}

void tfc_scheduler_free(tfc_scheduler *scheduler) { delete scheduler; }

tfc_error *tfc_scheduler_submit(tfc_scheduler *scheduler,
                                const tfc_job_options *options, tfc_job *out) {
  return guard([&]() -> Status {
    auto given = readOptions(options);
    if (!given) {
      return std::move(given.error());
    }
    if (!scheduler || !out) {
      return nullArgument();
    }
    Scheduler &to = *scheduler->scheduler;
    if (!to.session()) {
      return cannotGenerate(to.model());
    }
    Faults faults;
    faults.add(checkFlag("needs_mask", given->needs_mask));
    faults.add(checkNext(given->next));
    faults.add(checkPriority(given->priority));
    auto read = readJob(*to.session(), given->request);
    faults.add(statusOf(read));
    if (faults.any()) {
      return faults.take();
    }
    JobWishes wishes{given->priority, given->salt, given->queue_deadline_us,
                     given->deadline_us, given->needs_mask != 0};
    auto job = read->beams
                   ? submitBeams(to, wishes, std::move(*read))
                   : to.submit(wishes, std::move(read->prompt), read->options);
    if (!job) {
      return std::move(job.error());
    }
    *out = *job;
    return {};
  });
}

tfc_error *tfc_scheduler_submit_encode(tfc_scheduler *scheduler,
                                       const tfc_encode_job *options,
                                       tfc_job *out) {
  return guard([&]() -> Status {
    auto given = readOptions(options);
    if (!given) {
      return std::move(given.error());
    }
    if (!scheduler || !out) {
      return nullArgument();
    }
    Scheduler &to = *scheduler->scheduler;
    Faults faults;
    faults.add(checkNext(given->next));
    faults.add(checkPriority(given->priority));
    auto texts = readTexts(*given);
    faults.add(texts ? checkTexts(to.model(), *texts) : statusOf(texts));
    if (faults.any()) {
      return faults.take();
    }
    auto job = to.submit({given->priority, 0, given->queue_deadline_us,
                          given->deadline_us, false},
                         std::move(*texts));
    if (!job) {
      return std::move(job.error());
    }
    *out = *job;
    return {};
  });
}

tfc_error *tfc_scheduler_cancel(tfc_scheduler *scheduler, tfc_job job) {
  return guard([&]() -> Status {
    return scheduler ? scheduler->scheduler->cancel(job) : nullArgument();
  });
}

tfc_error *tfc_scheduler_set_mask(tfc_scheduler *scheduler, tfc_job job,
                                  uint32_t index, uint64_t position,
                                  const uint32_t *bits, uint64_t n_words) {
  return guard([&]() -> Status {
    if (!scheduler || !bits) {
      return nullArgument();
    }
    uint64_t most = scheduler->scheduler->numMaskWords();
    if (n_words == 0) {
      return makeError(Code::InvalidArgument,
                       "n_words: expected at least 1, got 0");
    }
    return scheduler->scheduler->setMask(
        {job, index, position, {bits, bits + std::min(n_words, most)}});
  });
}

tfc_error *tfc_scheduler_drain(tfc_scheduler *scheduler, uint64_t deadline_us) {
  return guard([&]() -> Status {
    if (!scheduler) {
      return nullArgument();
    }
    scheduler->scheduler->drain(deadline_us);
    return {};
  });
}

tfc_error *tfc_scheduler_wait(tfc_scheduler *scheduler, uint64_t timeout_us,
                              tfc_job_events *out) {
  return guard([&]() -> Status {
    if (!scheduler || !out) {
      return nullArgument();
    }
    auto events = scheduler->scheduler->wait(timeout_us);
    return events ? writeResult(*events, out)
                  : Status(std::move(events.error()));
  });
}

tfc_error *tfc_scheduler_run(tfc_scheduler *scheduler, uint64_t now_us,
                             tfc_job_events *out) {
  return guard([&]() -> Status {
    if (!scheduler || !out) {
      return nullArgument();
    }
    auto events = scheduler->scheduler->run(now_us);
    return events ? writeResult(*events, out)
                  : Status(std::move(events.error()));
  });
}

tfc_error *tfc_scheduler_take_outputs(tfc_scheduler *scheduler, tfc_job job,
                                      tfc_outputs **out) {
  return guard([&]() -> Status {
    if (!scheduler || !out) {
      return nullArgument();
    }
    auto results = scheduler->scheduler->takeOutputs(job);
    if (!results) {
      return std::move(results.error());
    }
    *out = new tfc_outputs(std::move(*results));
    return {};
  });
}

tfc_error *tfc_scheduler_get_stats(const tfc_scheduler *scheduler,
                                   tfc_scheduler_stats *out) {
  return guard([&]() -> Status {
    return scheduler && out ? writeResult(scheduler->scheduler->stats(), out)
                            : nullArgument();
  });
}

} // extern "C"
