/* The runtime's C API for servers: jobs that come at any time, answered
 * together. The conventions are those of tfc/runtime.h.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A scheduler owns a session, a queue and a thread. Jobs go in from any thread,
 * what comes of them goes out by one, as a list of events. An answer never
 * depends on who else asks: its tokens, their log-probabilities and its end
 * are those of tfc_session_add alone, and a vector is that of tfc_encode.
 *
 * Who goes first: the greater priority, then the older job. Jobs wait until the
 * cache has room for them; one with a greater priority that comes later goes
 * in first. When those that run need more room than there is, beginnings that
 * are only remembered give way first, then the last in that order is preempted:
 * it gives its cache back, waits at its old place, and goes on with the tokens
 * that it would have had. The first in that order is never preempted, so each
 * job ends unless there is always one with a greater priority.
 *
 * No function of this header may be called in a child of fork with its
 * parent's scheduler, whose thread is not there. */
#ifndef TFC_SCHEDULER_H
#define TFC_SCHEDULER_H

#include "tfc/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tfc_scheduler tfc_scheduler;
typedef uint64_t tfc_job; /* never 0, never used twice in a scheduler */

/* ---- Making one ---------------------------------------------------------- */

typedef struct {
  uint64_t struct_size;
  uint64_t max_cache_bytes; /* as in tfc_session_options */
  /* As in tfc_session_options, but 0: 256. What a long prompt holds up others
   * by. */
  uint64_t max_step_tokens;
  /* Tokens of one encode, of one text or more; 0: 1024. A longer text goes
   * alone. */
  uint64_t max_batch_tokens;
  /* Tokens of jobs that have not begun, together; 0: 2^20. Beyond it a job is
   * refused with EXHAUSTED, unless nobody waits. */
  uint64_t max_queue_tokens;
  /* 0: what has been computed of a text is remembered as long as there is room,
   * for jobs with the same salt that begin alike; 1: it is not. */
  uint32_t no_prefix_cache;
  /* 1: no thread; the caller steps it with tfc_scheduler_run. */
  uint32_t no_thread;
  const void *next;       /* null */
  uint64_t max_drafts;    /* as in tfc_session_options */
  const tfc_model *draft; /* the same */
} tfc_scheduler_options;

/* Makes a scheduler for a model of any kind: one that generates takes
 * tfc_scheduler_submit, any takes tfc_scheduler_submit_encode. options may be
 * null. The model's handle may be freed before the scheduler. Errors: as
 * tfc_session_create where the model generates; EXHAUSTED (no thread). Any. */
TFC_API tfc_error *tfc_scheduler_create(const tfc_model *model,
                                        const tfc_scheduler_options *options,
                                        tfc_scheduler **out);

/* Ends the step that runs, joins the thread and frees all jobs, of which no
 * event comes; null is allowed. No other call may run, tfc_scheduler_wait
 * neither. One. */
TFC_API void tfc_scheduler_free(tfc_scheduler *scheduler);

/* ---- Jobs ---------------------------------------------------------------- */

typedef struct {
  uint64_t struct_size;
  /* What is asked; its `keep` and `prefix` must be 0, which are the
   * scheduler's. Answer i of its `n` has events with index i. With a decoding
   * of more than one beam it is the search of tfc_generate for this prompt
   * without padding, and answer i its i-th best sequence; n is num_beams at
   * most, and num_return_sequences 1. Searches run one at a time, a step of one
   * beside each step of the others, in a cache of their own, beside
   * max_cache_bytes and not larger; their tokens come when they are over. They
   * have no n_logprobs, echo, stops, logit_bias, head_rows and needs_mask:
   * UNSUPPORTED. */
  const tfc_request *request;
  int32_t priority; /* -1000 to 1000, the greater goes first */
  /* 1: each token waits until tfc_scheduler_set_mask says which may come. */
  uint32_t needs_mask;
  /* Whose beginnings may be shared: only those of jobs with an equal salt. A
   * tenant's own number keeps others from seeing by the time it takes whether
   * somebody asked the same. */
  uint64_t salt;
  /* Microseconds after the submission at which the job is EXPIRED if it has not
   * begun by then; if it has not ended by then. 0: never. Seen between two
   * steps. */
  uint64_t queue_deadline_us, deadline_us;
  const void *next; /* null */
} tfc_job_options;

/* Adds a job; what `options` points at is copied. Errors: as tfc_session_add,
 * of which EXHAUSTED also when too many tokens wait (message: "queue");
 * CANCELLED (tfc_scheduler_drain was called). An answer that outgrows the whole
 * cache ends with FAILED. Any. */
TFC_API tfc_error *tfc_scheduler_submit(tfc_scheduler *scheduler,
                                        const tfc_job_options *options,
                                        tfc_job *out);

typedef struct {
  uint64_t struct_size;
  const tfc_token_list *texts; /* token ids, each at least one, no padding */
  uint64_t n_texts;            /* at least 1 */
  /* token_type_ids: a list a text, as long as the text; null: not given. */
  const tfc_token_list *type_ids;
  /* Names of the wanted outputs; null: all. Others are not computed. */
  const char *const *outputs;
  uint32_t n_outputs;
  int32_t priority;           /* as in tfc_job_options */
  uint64_t queue_deadline_us; /* the same */
  uint64_t deadline_us;       /* the same */
  const void *next;           /* null */
  /* Of each text, how many of its last tokens see the others, and are seen by
   * none, not by themselves either: masked tokens with rows of the outputs that
   * have one a token (late interaction's [MASK]s behind a query). Fewer than
   * the text's tokens; of an encoder alone. Null: none. */
  const uint64_t *n_unseen;
} tfc_encode_job;

/* Adds texts to be encoded. They run with those of other jobs that wait, in
 * steps of at most max_batch_tokens. The result is that of tfc_encode for
 * these texts padded on the right, once all of them are done:
 * tfc_scheduler_take_outputs. Errors: INVALID_ARGUMENT (ids out of range, an
 * empty text, types of another length, texts longer than the model's
 * positions, an output that the model has not), EXHAUSTED (too many tokens
 * wait), CANCELLED (draining). Any. */
TFC_API tfc_error *tfc_scheduler_submit_encode(tfc_scheduler *scheduler,
                                               const tfc_encode_job *options,
                                               tfc_job *out);

/* Ends a job before its end, all of its answers. A step that runs goes on; each
 * answer that has not ended gets DONE with CANCELLED, and nothing else. Of an
 * encode job that has ended the result goes. Errors: NOT_FOUND (no such job, or
 * its last event was made). Any. */
TFC_API tfc_error *tfc_scheduler_cancel(tfc_scheduler *scheduler, tfc_job job);

/* Of a job with needs_mask: which tokens may come as number `position` (from 0)
 * of the new ones of answer `index`; a grammar, for instance. Bit i % 32 of
 * bits[i / 32] is token i's; tokens without a bit may not come. It goes behind
 * logit_bias and before all other rules, and log-probabilities are those
 * without it. No token that may come is the job's fault: FAILED.
 *
 * An answer begins when those of its job have each the mask of token 0, and
 * after each token it waits for the next one's, with its cache, while others go
 * on; deadlines end it all the same, and so a job whose masks never come should
 * have one. It has n answers that wait for masks of their own. A mask for
 * another position than the next, or a second one for it, is passed over.
 * Errors: NOT_FOUND (no such job, or its last event was made),
 * INVALID_ARGUMENT (no words). Any. */
TFC_API tfc_error *tfc_scheduler_set_mask(tfc_scheduler *scheduler, tfc_job job,
                                          uint32_t index, uint64_t position,
                                          const uint32_t *bits,
                                          uint64_t n_words);

/* Refuses new jobs from now on. Those that are there go on, for deadline_us
 * microseconds at most (0: as long as they need), then they are CANCELLED. When
 * tfc_scheduler_stats says n_jobs 0 all events have been made. Any. */
TFC_API tfc_error *tfc_scheduler_drain(tfc_scheduler *scheduler,
                                       uint64_t deadline_us);

/* ---- Events -------------------------------------------------------------- */

typedef enum {
  TFC_JOB_TOKENS = 1, /* new tokens of an answer, in order, each once */
  TFC_JOB_PROMPT = 2, /* log-probabilities of the prompt (request.echo) */
  TFC_JOB_DONE = 3    /* the last event of an answer, or of an encode job */
} tfc_job_event_kind;

typedef enum {
  TFC_FINISH_ENDED = 1,     /* with an end token */
  TFC_FINISH_LENGTH = 2,    /* max_new_tokens */
  TFC_FINISH_STOPPED = 3,   /* with one of its stops */
  TFC_FINISH_FAILED = 4,    /* code and message say why */
  TFC_FINISH_CANCELLED = 5, /* tfc_scheduler_cancel, or a drain's deadline */
  TFC_FINISH_EXPIRED = 6,   /* a deadline */
  TFC_FINISH_ENCODED = 7    /* tfc_scheduler_take_outputs has the result */
} tfc_finish;

typedef struct {
  tfc_job job;
  uint32_t index; /* of the answer; of an encode job 0 */
  uint32_t kind;  /* tfc_job_event_kind */
  /* Of TOKENS: tfc_job_events.tokens [first, first + count), and logprobs
   * alike. Of PROMPT: logprobs [first, first + count), of the prompt's tokens
   * from number `at` on. */
  uint64_t first, count;
  uint64_t at;     /* of TOKENS: how many new ones there were before */
  uint32_t finish; /* of DONE: tfc_finish */
  uint32_t code;   /* of DONE with FAILED: tfc_code, otherwise 0 */
  /* Of DONE. Tokens of the prompt (of an encode job of all texts; of an
   * encoder-decoder its source's); of those, not computed because they
   * were remembered when the answer began; new ones; and how often it was
   * preempted. */
  uint64_t prompt_tokens, cached_tokens, new_tokens, preemptions;
  /* Of DONE, microseconds: until it began, and from there to the end. */
  uint64_t queue_us, run_us;
  const char *message; /* of DONE with FAILED, otherwise null */
} tfc_job_event;

typedef struct {
  uint64_t struct_size;
  /* Those of a job in the order in which they happened. */
  const tfc_job_event *events;
  uint64_t n_events;
  const int64_t *tokens; /* that events point at */
  uint64_t n_tokens;
  /* A tfc_logprobs a token, in number 0 to n_tokens those of `tokens`, behind
   * them those of prompts; n is 0 and `chosen` 0 where no one asked. Null when
   * no event asked. */
  const tfc_logprobs *logprobs;
  uint64_t n_logprobs;
} tfc_job_events;

/* Waits for events, timeout_us microseconds at most, 0: not at all; no event:
 * the time is over. Everything in them is valid until the next wait or run of
 * the scheduler. Who takes long gets longer lists; nothing is lost. Errors:
 * INVALID_ARGUMENT (made with no_thread); INTERNAL, EXHAUSTED (the thread has
 * ended, for the reason given: the device is gone, no memory; all events
 * before have been given, no other will come). One. */
TFC_API tfc_error *tfc_scheduler_wait(tfc_scheduler *scheduler,
                                      uint64_t timeout_us, tfc_job_events *out);

/* Without a thread: makes one step of everything that has work, at a time of
 * the caller's clock, which never goes back, and gives the events. Jobs
 * submitted since the last run came at now_us. No event and n_jobs 0: there is
 * nothing to do. Errors: INVALID_ARGUMENT (made without no_thread), as
 * tfc_scheduler_wait. One. */
TFC_API tfc_error *tfc_scheduler_run(tfc_scheduler *scheduler, uint64_t now_us,
                                     tfc_job_events *out);

/* The result of an encode job, after its DONE with ENCODED; once; to be freed
 * with tfc_outputs_free. What nobody takes goes with the scheduler. Errors:
 * NOT_FOUND. Any. */
TFC_API tfc_error *tfc_scheduler_take_outputs(tfc_scheduler *scheduler,
                                              tfc_job job, tfc_outputs **out);

/* ---- Counters ------------------------------------------------------------ */

typedef struct {
  uint64_t struct_size;
  uint64_t n_jobs; /* that have not ended */
  /* Answers and encode jobs: that have not begun, or were preempted; that run.
   */
  uint64_t n_waiting, n_running;
  uint64_t queue_tokens; /* of those that have not begun */
  /* Of keys and values: bytes that running answers have; that are only
   * remembered, which can be had at once; and the most there can be. */
  uint64_t cache_bytes, remembered_bytes, max_cache_bytes;
  /* Since the beginning. */
  uint64_t n_steps, n_encodes;
  uint64_t prompt_tokens;              /* of answers that began */
  uint64_t cached_tokens;              /* of those, not computed */
  uint64_t new_tokens;                 /* generated */
  uint64_t encoded_tokens;             /* of encode jobs */
  uint64_t n_preemptions, n_evictions; /* answers; remembered beginnings */
  uint64_t n_finished[8]; /* by tfc_finish, answers and encode jobs */
  uint64_t drafted_tokens, accepted_tokens; /* as in tfc_session_info */
  /* Of the decoder's keys and values: tokens of a block, and how many blocks
   * there can be. 0 where the model does not generate. */
  uint64_t block_tokens, max_blocks;
} tfc_scheduler_stats;

/* Errors: INVALID_ARGUMENT. Any. */
TFC_API tfc_error *tfc_scheduler_get_stats(const tfc_scheduler *scheduler,
                                           tfc_scheduler_stats *out);

#ifdef __cplusplus
}
#endif

#endif /* TFC_SCHEDULER_H */
