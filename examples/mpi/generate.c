/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Several processes that share a model, each with a part of every matrix of its
 * layers; MPI brings together what they have to add.
 *
 *   mpirun -n 2 generate MODEL.so WEIGHTS
 *
 * MODEL.so is of as many ranks as there are processes (`tfc compile
 * --ranks=2`), or of one. The first process prints the tokens; all have the
 * same. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <tfc/runtime.h>

/* A rank that cannot go on ends the others, which would wait for it. */
static void check(tfc_error *error) {
  if (error) {
    fprintf(stderr, "%s\n", tfc_error_message(error));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

struct ranks {
  int count;
  float *all; /* what they have, one behind the other */
  int64_t room;
};

/* Adds up what the ranks have, in their order. MPI_Allreduce may choose another
 * order, by its own measure of sizes and machines, and with it other bits. */
static int reduce(void *user, float *values, int64_t count) {
  struct ranks *ranks = user;
  if (count > ranks->room) {
    float *larger = realloc(ranks->all, sizeof(float) * count * ranks->count);
    if (!larger) {
      return 1;
    }
    ranks->all = larger;
    ranks->room = count;
  }
  int code = MPI_Allgather(values, (int)count, MPI_FLOAT, ranks->all,
                           (int)count, MPI_FLOAT, MPI_COMM_WORLD);
  for (int64_t i = 0; code == MPI_SUCCESS && i < count; ++i) {
    values[i] = ranks->all[i];
    for (int rank = 1; rank < ranks->count; ++rank) {
      values[i] += ranks->all[rank * count + i];
    }
  }
  return code;
}

static int print_token(void *user, int64_t row, int64_t token, int finished) {
  if (*(int *)user == 0) {
    printf("%lld%c", (long long)token, finished ? '\n' : ' ');
  }
  return 0;
}

int main(int argc, char **argv) {
  int provided, rank;
  struct ranks ranks = {0};
  /* The runtime's threads call nothing of MPI: reduce is called by this one. */
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.count);
  if (argc != 3) {
    fprintf(stderr, "usage: %s MODEL.so WEIGHTS\n", argv[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  tfc_model_options load = {sizeof(load), argv[1], argv[2]};
  if (ranks.count > 1) {
    load.rank = (uint32_t)rank;
    load.reduce = reduce;
    load.reduce_user = &ranks;
  }
  tfc_model *model;
  check(tfc_model_load(&load, &model));
  const int64_t ids[] = {7, 8, 9, 10};
  tfc_tensor input = {"input_ids", TFC_I64, 2, {1, 4}, ids};
  tfc_generate_options generate = {sizeof(generate), &input, 1};
  generate.max_new_tokens = 20;
  check(tfc_generate(model, &generate, print_token, &rank, NULL));
  tfc_model_free(model);
  free(ranks.all);
  MPI_Finalize();
  return 0;
}
