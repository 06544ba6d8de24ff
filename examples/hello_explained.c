/* hello_terse.c with every line explained: loads a compiled model, runs it once
 * over four tokens, and, if it is a language model, lets it go on writing.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* printf; exit and the null pointer. */
#include <stdio.h>
#include <stdlib.h>

/* The only header of the runtime that a program needs. Link with
 * -ltfc_runtime; the compiled model is opened at run time, not linked. */
#include <tfc/runtime.h>

/* Every function that can fail returns null or an error object. The message
 * has one line for each fault, so a checkpoint that lacks ten tensors says so
 * ten times. A program that goes on after an error frees it with
 * tfc_error_free; this one ends. */
static void check(tfc_error *error) {
  if (error) {
    fprintf(stderr, "%s\n", tfc_error_message(error));
    exit(1);
  }
}

/* Called for every new token while the model generates: `user` is the pointer
 * that was given to tfc_generate, `row` the prompt of the batch that the token
 * belongs to, and `finished` is nonzero with the row's last token. Returning
 * anything but 0 would stop the generation. */
static int print_token(void *user, int64_t row, int64_t token, int finished) {
  printf("%lld%c", (long long)token, finished ? '\n' : ' ');
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s MODEL.so WEIGHTS\n", argv[0]);
    return 2;
  }

  /* Option structs begin with their own size, so that a program goes on working
   * with a later runtime whose struct has more fields. Fields that are not
   * named here are zero, which always means the default: the best program of
   * the library for this CPU, and all threads this process may use. A program
   * that has threads of its own lends them as `parallel_for`, one that shows
   * how far the load is sets `progress`, and weights that lie in several places
   * are named by `weights_paths`. */
  tfc_model_options load = {sizeof(load), argv[1], argv[2]};

  /* Opens the library, maps the weight files, checks every tensor against the
   * model's table and packs them into the layout of the compiled kernels. The
   * files may be F32, F16 or BF16, in one file or in shards. */
  tfc_model *model;
  check(tfc_model_load(&load, &model));

  /* What the model is: its name, its inputs and outputs, its limits. The
   * pointers in it belong to the model. */
  tfc_model_info info = {sizeof(info)};
  check(tfc_model_get_info(model, &info));

  /* Token ids come from the model's tokenizer; these four are made up. A batch
   * is a tensor [rows, columns], here one row. Rows of different lengths are
   * padded and get a second tensor, "attention_mask", with 1 for tokens and 0
   * for padding; padding costs nothing. */
  const int64_t ids[] = {7, 8, 9, 10};
  tfc_tensor input = {"input_ids", TFC_I64, 2, {1, 4}, ids};

  /* One forward pass, the same as calling the Hugging Face model: outputs have
   * its names and shapes and are float32. */
  tfc_encode_options encode = {sizeof(encode), &input, 1};
  tfc_outputs *outputs;
  check(tfc_encode(model, &encode, &outputs));

  /* Outputs can be asked for by index, as here, or by name with
   * tfc_outputs_find. The tensor and its data belong to `outputs`. */
  const tfc_tensor *first = tfc_outputs_get(outputs, 0);
  printf("%s of %s: %f\n", first->name, info.name, *(const float *)first->data);
  tfc_outputs_free(outputs);

  /* The model keeps the memory that a batch of this size needs for the next
   * one. Who has had a large one, and expects no other, gives it back. */
  tfc_model_trim(model);

  /* Only a model with a language head can continue a text. Tokens are chosen as
   * the model's generation_config says; another way would begin with
   * tfc_decoding_init. It ends with one of the model's end tokens or after
   * max_new_tokens. The whole sequences could be had as a tensor, through the
   * last argument. A server, whose prompts arrive one by one, would use
   * tfc_session_create, tfc_session_add and tfc_session_step instead:
   * hello_session.c. */
  if (info.can_generate) {
    tfc_generate_options generate = {sizeof(generate), &input, 1};
    generate.max_new_tokens = 5;
    check(tfc_generate(model, &generate, print_token, NULL, NULL));
  }

  /* Outputs are the caller's, and live as long as he wants; the model may go
   * before them. */
  tfc_model_free(model);
  return 0;
}
