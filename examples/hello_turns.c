/* Two turns of a talk: three answers to the first prompt, which is computed
 * once; the likeliest of them stays; and the next turn computes only what is
 * new in it.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tfc/runtime.h>

enum { ANSWERS = 3, LENGTH = 4, PROMPT = 5 };

static void check(tfc_error *error) {
  if (error) {
    fprintf(stderr, "%s\n", tfc_error_message(error));
    exit(1);
  }
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s MODEL.so WEIGHTS\n", argv[0]);
    return 2;
  }
  tfc_model_options load = {sizeof(load), argv[1], argv[2]};
  tfc_model *model;
  check(tfc_model_load(&load, &model));
  tfc_session *session;
  check(tfc_session_create(model, NULL, &session));

  /* Draws, since three times the likeliest answer would be the same one. What
   * an answer has said already is less likely to come again. */
  tfc_decoding_options draws = {sizeof(draws)};
  check(tfc_decoding_init(model, &draws));
  draws.num_beams = 1;
  draws.do_sample = 1;
  draws.presence_penalty = 0.5;
  int64_t tokens[2 * PROMPT + LENGTH] = {7, 8, 9, 10, 11};
  tfc_request request = {sizeof(request), tokens, PROMPT, LENGTH};
  request.own_eos = 1;
  request.decoding = &draws;
  request.n_logprobs = 1;
  request.n = ANSWERS;
  request.keep = 1;
  tfc_sequence_id first;
  check(tfc_session_add(session, &request, &first));

  int64_t written[ANSWERS][LENGTH];
  int count[ANSWERS] = {0};
  float score[ANSWERS] = {0};
  tfc_step_result result = {sizeof(result)};
  do {
    check(tfc_session_step(session, &result));
    for (uint64_t i = 0; i < result.n_tokens; ++i) {
      /* The answers are sequences with numbers that follow each other. */
      uint64_t answer = result.tokens[i].sequence - first;
      written[answer][count[answer]++] = result.tokens[i].token;
      score[answer] += result.logprobs[i].chosen;
    }
  } while (result.n_sequences > 0);
  int best = 0;
  for (int i = 0; i < ANSWERS; ++i) {
    printf("answer %d: %.2f\n", i + 1, score[i]);
    best = score[i] > score[best] ? i : best;
  }

  /* All have ended, and their caches are kept: of the best one for the next
   * turn, the others are given back. */
  for (int i = 0; i < ANSWERS; ++i) {
    if (i != best) {
      check(tfc_session_remove(session, first + (uint64_t)i));
    }
  }
  memcpy(tokens + PROMPT, written[best], sizeof(written[best]));
  const int64_t more[] = {3, 4};
  memcpy(tokens + PROMPT + LENGTH, more, sizeof(more));
  request.n_tokens = PROMPT + LENGTH + 2;
  request.n = 1;
  request.keep = 0;
  /* What the prompt begins with is there; the session compares it. */
  request.prefix = first + (uint64_t)best;
  tfc_sequence_id next;
  check(tfc_session_add(session, &request, &next));
  printf("next turn:");
  do {
    check(tfc_session_step(session, &result));
    for (uint64_t i = 0; i < result.n_tokens; ++i) {
      printf(" %lld", (long long)result.tokens[i].token);
    }
  } while (result.n_sequences > 0);
  check(tfc_session_remove(session, first + (uint64_t)best));
  tfc_session_info info = {sizeof(info)};
  check(tfc_session_get_info(session, &info));
  printf("\n%llu bytes of cache\n", (unsigned long long)info.cache_bytes);
  tfc_session_free(session);
  tfc_model_free(model);
  return 0;
}
