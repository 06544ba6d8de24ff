/* Text in, text out by the C API: a tokenizer turns a text into tokens, the
 * model goes on from them, and a stream shows the new ones as text.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tfc/text.h>

static void check(tfc_error *error) {
  if (error) {
    fprintf(stderr, "%s\n", tfc_error_message(error));
    exit(1);
  }
}

/* Whole characters only: what may be half of one is held back. */
static int show_token(void *user, int64_t row, int64_t token, int finished) {
  const char *text;
  check(tfc_text_stream_push(user, token, &text, NULL));
  fputs(text, stdout);
  fflush(stdout);
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s MODEL.so FOLDER TEXT\n", argv[0]);
    return 2;
  }
  /* The folder has the weights, and tokenizer.json or a vocabulary. */
  tfc_model_options load = {sizeof(load), argv[1], argv[2]};
  tfc_model *model;
  check(tfc_model_load(&load, &model));
  tfc_tokenizer *tokenizer;
  check(tfc_tokenizer_load(argv[2], &tokenizer));

  tfc_tokenize_options encode = {sizeof(encode), argv[3], strlen(argv[3])};
  tfc_tokens *tokens;
  check(tfc_tokenizer_encode(tokenizer, &encode, &tokens));
  tfc_tokens_info of = {sizeof(of)};
  check(tfc_tokens_get_info(tokens, &of));
  for (uint64_t i = 0; i < of.n_tokens; ++i) {
    const char *token = tfc_tokenizer_token(tokenizer, of.ids[i]);
    printf("%lld %s [%lld, %lld)\n", (long long)of.ids[i], token ? token : "?",
           (long long)of.begins[i], (long long)of.ends[i]);
  }

  tfc_text_stream *stream;
  check(tfc_text_stream_create(tokenizer, /*skip_special=*/1, &stream));
  tfc_model_info info = {sizeof(info)};
  check(tfc_model_get_info(model, &info));
  const char *text;
  /* A decoder goes on: its first word is not the first of the text. */
  for (uint64_t i = 0; !strcmp(info.kind, "decoder") && i < of.n_tokens; ++i) {
    check(tfc_text_stream_push(stream, of.ids[i], &text, NULL));
  }
  tfc_tensor input = {
      "input_ids", TFC_I64, 2, {1, (int64_t)of.n_tokens}, of.ids};
  tfc_generate_options generate = {sizeof(generate), &input, 1};
  generate.max_new_tokens = 20;
  check(tfc_generate(model, &generate, show_token, stream, NULL));
  check(tfc_text_stream_finish(stream, &text, NULL));
  puts(text);

  tfc_text_stream_free(stream);
  tfc_tokens_free(tokens);
  tfc_tokenizer_free(tokenizer);
  tfc_model_free(model);
  return 0;
}
