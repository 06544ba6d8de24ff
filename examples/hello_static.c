/* Two models and the runtime in one static program: a file to be copied, with
 * the weights beside it.
 *   tfc compile encoder.json --emit=archive --symbol hello_encoder -o encoder.a
 *   tfc compile decoder.json --emit=archive --symbol hello_decoder -o decoder.a
 *   cc -static hello_static.c encoder.a decoder.a -ltfc_runtime -lstdc++ -lm \
 *      -o hello_static
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <tfc/runtime.h>

/* What the archives bring; only the runtime calls them. */
const void *hello_encoder(uint32_t max_version);
const void *hello_decoder(uint32_t max_version);

static void check(tfc_error *error) {
  if (error) {
    fprintf(stderr, "%s\n", tfc_error_message(error));
    exit(1);
  }
}

/* Runs a model on four tokens and prints the first number of each output. */
static void run(tfc_library_fn library, const char *weights) {
  tfc_model_options load = {sizeof(load)};
  load.library = library;
  load.weights_path = weights;
  tfc_model *model;
  check(tfc_model_load(&load, &model));
  tfc_model_info info = {sizeof(info)};
  check(tfc_model_get_info(model, &info));
  const int64_t ids[] = {7, 8, 9, 10};
  tfc_tensor input = {"input_ids", TFC_I64, 2, {1, 4}, ids};
  tfc_encode_options encode = {sizeof(encode), &input, 1};
  tfc_outputs *outputs;
  check(tfc_encode(model, &encode, &outputs));
  for (uint32_t i = 0; i < tfc_outputs_count(outputs); ++i) {
    const tfc_tensor *output = tfc_outputs_get(outputs, i);
    printf("%s of %s: %f\n", output->name, info.name,
           *(const float *)output->data);
  }
  tfc_outputs_free(outputs);
  tfc_model_free(model);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s ENCODER_WEIGHTS DECODER_WEIGHTS\n", argv[0]);
    return 2;
  }
  run(hello_encoder, argv[1]);
  run(hello_decoder, argv[2]);
  return 0;
}
