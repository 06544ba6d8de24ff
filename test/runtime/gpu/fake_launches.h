/* The CUDA program of fake_module.c: its tables, and the host's half of a step,
 * which launches the kernels of fake_kernels.c and follows no pointer of the
 * device's.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef TFC_TEST_RUNTIME_GPU_FAKE_LAUNCHES_H
#define TFC_TEST_RUNTIME_GPU_FAKE_LAUNCHES_H

#include "test/runtime/fake_step.h"

/* What may be wrong with a step: a kernel writes where there is nothing; the
 * host follows a device's pointer; there is no such kernel. */
enum { FAKE_FAULT_STRAY = 1, FAKE_FAULT_FOLLOW = 2, FAKE_FAULT_NUMBER = 3 };
/* A kernel does the same to the first bytes behind what it was lent: writes
 * them behind the workspace, reads them there, or writes them behind logits. */
enum {
  FAKE_FAULT_BEHIND = 4,
  FAKE_FAULT_READ_BEHIND = 5,
  FAKE_FAULT_OUTPUT = 6
};

enum {
  EMBED_KERNEL,
  CACHE_KERNEL,
  ATTEND_KERNEL,
  CROSS_KERNEL,
  HIDDEN_KERNEL,
  START_KERNEL,
  LOGITS_KERNEL,
  STRAY_KERNEL,
  BEHIND_KERNEL,
  READ_BEHIND_KERNEL,
  OUTPUT_KERNEL,
  N_KERNELS
};

/* Elements of the tables. */
#define FAKE_KERNELS(E)                                                        \
  E("fake_embed", {1, 1, 1}, 0), E("fake_write_cache", {1, 1, 1}, 0),          \
      E("fake_attend", {4, 1, 1}, 0), E("fake_write_cross", {1, 1, 1}, 0),     \
      E("fake_write_hidden", {1, 1, 1}, 0),                                    \
      E("fake_write_start", {1, 1, 1}, 0),                                     \
      E("fake_write_logits", {1, 1, 1}, 0), E("fake_stray", {1, 1, 1}, 0),     \
      E("fake_behind", {1, 1, 1}, 0), E("fake_read_behind", {1, 1, 1}, 0),     \
      E("fake_behind_logits", {1, 1, 1}, 0)

/* No machine's binary, so that hosts fall back to the text. */
static const char fake_cubin[] = "\177ELF, but of no machine";
static const char fake_ptx[] = {
#include FAKE_PTX
    0};
#define FAKE_IMAGES(E)                                                         \
  E(TFC_IMAGE_CUBIN, 80, sizeof(fake_cubin), fake_cubin),                      \
      E(TFC_IMAGE_PTX, 80, sizeof(fake_ptx), fake_ptx)

static int32_t launch_kernel(const tfc_step_v0 *step, uint32_t kernel,
                             int64_t blocks, int32_t is_causal, int32_t layer) {
  const tfc_step_v0 *device_step = (const tfc_step_v0 *)step->device_step;
  void *args[] = {(void *)&device_step, &is_causal, &layer};
  tfc_launch_v0 launch = {sizeof(launch), kernel, {(uint32_t)blocks, 1, 1}, 3,
                          args,           0};
  return step->host->launch(step->host->ctx, &launch);
}

/* Stops at the first launch that is not DONE, as compiled code does. */
#define LAUNCH(kernel, blocks)                                                 \
  do {                                                                         \
    int32_t status = launch_kernel(step, kernel, blocks, is_causal, layer);    \
    if (status) {                                                              \
      return status;                                                           \
    }                                                                          \
  } while (0)

static int32_t launch_step(const tfc_step_v0 *step, const tfc_entry_v0 *entry,
                           int32_t is_causal, int32_t fault) {
  int32_t layer = 0;
  if (step->host->n_workers != (uint32_t)step->n_items) {
    return 9;
  }
  if (fault == FAKE_FAULT_FOLLOW) {
    return *(volatile const int32_t *)step->inputs[0];
  }
  LAUNCH(EMBED_KERNEL, 1);
  for (; layer < LAYERS; ++layer) {
    LAUNCH(CACHE_KERNEL, 1);
    LAUNCH(ATTEND_KERNEL, (step->n_items + 3) / 4);
  }
  if (fault) {
    LAUNCH(fault == FAKE_FAULT_STRAY         ? STRAY_KERNEL
           : fault == FAKE_FAULT_BEHIND      ? BEHIND_KERNEL
           : fault == FAKE_FAULT_READ_BEHIND ? READ_BEHIND_KERNEL
           : fault == FAKE_FAULT_OUTPUT      ? OUTPUT_KERNEL
                                             : N_KERNELS,
           1);
  }
  if (entry->n_caches > 1 && !is_causal && entry->n_outputs == 1) {
    LAUNCH(CROSS_KERNEL, 1);
  }
  if (step->outputs[0]) {
    LAUNCH(HIDDEN_KERNEL, 1);
  }
  if (entry->n_outputs > 2 && step->outputs[2]) {
    LAUNCH(START_KERNEL, 1);
  }
  if (entry->n_outputs > 1 && step->outputs[1]) {
    LAUNCH(LOGITS_KERNEL, 1);
  }
  return 0;
}

#endif
