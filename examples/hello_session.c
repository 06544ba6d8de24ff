/* A session: several texts that advance together, as a server runs them. Three
 * requests with different wishes, a prompt that goes in by pieces, a second
 * answer to the same prompt, a pause, and Ctrl-C that stops it all.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <tfc/runtime.h>

static void check(tfc_error *error) {
  if (error) {
    fprintf(stderr, "%s\n", tfc_error_message(error));
    exit(1);
  }
}

static volatile sig_atomic_t interrupted;

static void interrupt(int number) { interrupted = 1; }

/* Asked several times in every layer: how soon a step stops. */
static int should_stop(void *user) { return interrupted; }

/* Told how far the load is; what stops a step ends the load, too. */
static int progress(void *user, uint64_t done, uint64_t total) {
  return interrupted;
}

/* May change what a token is chosen from. Here: never token 0. */
static void forbid_padding(void *user, tfc_sequence_id sequence, float *logits,
                           int64_t n) {
  logits[0] = -1e9F;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s MODEL.so WEIGHTS\n", argv[0]);
    return 2;
  }
  signal(SIGINT, interrupt);
  tfc_model_options load = {sizeof(load), argv[1], argv[2]};
  load.progress = progress;
  tfc_model *model;
  check(tfc_model_load(&load, &model));

  /* A long prompt takes at most 4 tokens of a step, so that nobody else waits
   * for it. */
  tfc_session_options options = {sizeof(options)};
  options.max_step_tokens = 4;
  options.should_stop = should_stop;
  options.on_logits = forbid_padding;
  tfc_session *session;
  check(tfc_session_create(model, &options, &session));
  /* The session keeps what it needs of the model. */
  tfc_model_free(model);

  /* The first request ends early when it has written 5 6, ... */
  const int64_t prompt[] = {7, 8, 9, 10, 11, 12, 13}, five_six[] = {5, 6};
  tfc_token_list stop = {five_six, 2};
  tfc_request request = {sizeof(request), prompt, 7, 5};
  request.stops = &stop;
  request.n_stops = 1;
  tfc_sequence_id first;
  check(tfc_session_add(session, &request, &first));

  /* ... the second one wants to know how likely its tokens are, and likes token
   * 9 less than the model does. */
  tfc_logit_bias bias = {9, -2.0F};
  request = (tfc_request){sizeof(request), prompt, 3, 4};
  request.n_logprobs = 1;
  request.logit_bias = &bias;
  request.n_logit_bias = 1;
  tfc_sequence_id second;
  check(tfc_session_add(session, &request, &second));

  tfc_sequence_id fork = 0, paused = 0;
  tfc_step_result result = {sizeof(result)};
  do {
    tfc_error *error = tfc_session_step(session, &result);
    /* A step later it goes on, with the tokens that it would have had. */
    if (paused) {
      check(tfc_session_resume(session, paused));
      paused = 0;
    }
    if (tfc_error_code(error) == TFC_CANCELLED) {
      tfc_error_free(error);
      break;
    }
    check(error);
    for (uint64_t i = 0; i < result.n_tokens; ++i) {
      const tfc_new_token *token = &result.tokens[i];
      printf("%llu: %lld", (unsigned long long)token->sequence,
             (long long)token->token);
      if (result.logprobs && result.logprobs[i].n) {
        printf(" (%.2f, best %.2f)", result.logprobs[i].chosen,
               result.logprobs[i].values[0]);
      }
      printf("%s\n", token->state == TFC_RUNNING ? "" : ", the last");
    }
    /* A second answer, drawn, once the first prompt is in: it is not computed
     * again, and its keys and values are not copied. */
    if (!fork && result.n_tokens && result.tokens[0].sequence == first &&
        result.tokens[0].state == TFC_RUNNING) {
      tfc_fork_options how = {sizeof(how)};
      check(tfc_session_fork(session, first, &how, &fork));
      /* To make room for it, as one would when tfc_session_step says EXHAUSTED,
       * the second request gives its part of the cache back. */
      check(tfc_session_pause(session, second));
      paused = second;
    }
  } while (result.n_sequences > 0);

  tfc_session_info info = {sizeof(info)};
  check(tfc_session_get_info(session, &info));
  printf("%llu sequences, %llu of %s bytes of cache\n",
         (unsigned long long)info.n_sequences,
         (unsigned long long)info.cache_bytes,
         info.max_cache_bytes ? "many" : "no");
  tfc_session_free(session);
  return 0;
}
