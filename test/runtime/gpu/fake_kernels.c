/* Kernels of the toy transformer, compiled to PTX: the parts of a step that
 * fake_step.h has, most of them by a single thread.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "test/runtime/fake_step.h"

#define KERNEL(name)                                                           \
  __attribute__((device_kernel)) void name(const tfc_step_v0 *step,            \
                                           int32_t is_causal, int32_t layer);  \
  __attribute__((device_kernel)) void name(const tfc_step_v0 *step,            \
                                           int32_t is_causal, int32_t layer)

KERNEL(fake_embed) { embed(step, (float *)step->workspace); }

KERNEL(fake_write_cache) {
  Work work = work_of(step, is_causal, layer);
  write_cache(&work);
}

/* A thread an item, whose number is the worker's. */
KERNEL(fake_attend) {
  uint32_t item =
      __nvvm_read_ptx_sreg_ctaid_x() * 4 + __nvvm_read_ptx_sreg_tid_x();
  Work work = work_of(step, is_causal, layer);
  if (item < step->n_items) {
    attend_item(&work, item, item);
  }
}

KERNEL(fake_write_cross) {
  Work work = work_of(step, is_causal, layer);
  write_cross(&work);
}

KERNEL(fake_write_hidden) {
  Work work = work_of(step, is_causal, layer);
  write_hidden(&work, (float *)step->outputs[0], step->n_tokens * D);
}

KERNEL(fake_write_start) {
  Work work = work_of(step, is_causal, layer);
  write_start(&work, (float *)step->outputs[2]);
}

KERNEL(fake_write_logits) {
  write_logits(step, (const float *)step->workspace, (float *)step->outputs[1]);
}

/* Writes behind the workspace. */
KERNEL(fake_stray) { ((volatile float *)step->workspace)[1 << 10] = 1; }

/* The first float behind what fake_module.c asks for. */
#define BEHIND (step->n_tokens + step->n_items) * D

KERNEL(fake_behind) { ((volatile float *)step->workspace)[BEHIND] = 1; }

KERNEL(fake_read_behind) { (void)((volatile float *)step->workspace)[BEHIND]; }

KERNEL(fake_behind_logits) {
  ((volatile float *)step->outputs[1])[step->n_rows * VOCAB] = 1;
}
