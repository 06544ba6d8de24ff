/* The whole API in one page; hello_explained.c is the same with every line
 * explained.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <tfc/runtime.h>

static void check(tfc_error *error) {
  if (error) {
    fprintf(stderr, "%s\n", tfc_error_message(error));
    exit(1);
  }
}

static int print_token(void *user, int64_t row, int64_t token, int finished) {
  printf("%lld%c", (long long)token, finished ? '\n' : ' ');
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s MODEL.so WEIGHTS\n", argv[0]);
    return 2;
  }
  tfc_model_options load = {sizeof(load), argv[1], argv[2]};
  tfc_model *model;
  check(tfc_model_load(&load, &model));
  tfc_model_info info = {sizeof(info)};
  check(tfc_model_get_info(model, &info));
  const int64_t ids[] = {7, 8, 9, 10};
  tfc_tensor input = {"input_ids", TFC_I64, 2, {1, 4}, ids};
  tfc_encode_options encode = {sizeof(encode), &input, 1};
  tfc_outputs *outputs;
  check(tfc_encode(model, &encode, &outputs));
  const tfc_tensor *first = tfc_outputs_get(outputs, 0);
  printf("%s of %s: %f\n", first->name, info.name, *(const float *)first->data);
  tfc_outputs_free(outputs);
  if (info.can_generate) {
    tfc_generate_options generate = {sizeof(generate), &input, 1};
    generate.max_new_tokens = 5;
    check(tfc_generate(model, &generate, print_token, NULL, NULL));
  }
  tfc_model_free(model);
  return 0;
}
