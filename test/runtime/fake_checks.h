/* What abi.h lets an entry rely on, checked; for fake_module.c, which says what
 * TILE and NEWER are. Each check returns 0, or the status of its fault.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef TFC_TEST_RUNTIME_FAKECHECKS_H
#define TFC_TEST_RUNTIME_FAKECHECKS_H

#include "tfc/abi.h"

/* An encoder writes as many cross positions as it has tokens, a decoder reads
 * some, other entries know none. */
static int check_cross(const tfc_sequence_v0 *q, const tfc_entry_v0 *entry,
                       int is_causal) {
  if (entry->n_caches == 1) {
    return q->cross_count == 0;
  }
  return is_causal ? q->cross_count >= 1
                   : q->cross_count == q->count && q->past == 0;
}

static int32_t check_sequences(const tfc_step_v0 *step,
                               const tfc_entry_v0 *entry, int is_causal) {
  int64_t next = 0;
  if (step->struct_size < sizeof(tfc_step_v0) || !step->block_table ||
      step->host->struct_size < sizeof(tfc_host_v0)) {
    return 2;
  }
  for (int64_t s = 0; s < step->n_sequences; ++s) {
    const tfc_sequence_v0 *q = &step->sequences[s];
    if (q->first != next || q->count < 1 || q->past < 0 || q->keys < 1 ||
        q->keys > q->past + q->count || q->flags || q->adapter || q->reserved ||
        !check_cross(q, entry, is_causal)) {
      return 2;
    }
    next += q->count;
  }
  return next == step->n_tokens ? 0 : 2;
}

/* Every token in one item, the most expensive items first. */
static int32_t check_items(const tfc_step_v0 *step, int is_causal) {
  int64_t covered = 0, last = INT64_MAX;
  for (int64_t i = 0; i < step->n_items; ++i) {
    const tfc_item_v0 *item = &step->items[i];
    const tfc_sequence_v0 *q = &step->sequences[item->sequence];
    if (item->first_row % TILE || item->first_row >= q->count ||
        item->n_ranges) {
      return 3;
    }
    int64_t count = q->count - item->first_row;
    count = count < TILE ? count : TILE;
    int64_t seen = q->past + item->first_row + count;
    int64_t keys = is_causal && seen < q->keys ? seen : q->keys;
    int64_t cost = count * (keys + q->cross_count);
    if (cost > last) {
      return 3;
    }
    last = cost;
    covered += count;
  }
  return covered == step->n_tokens ? 0 : 3;
}

/* Of a table of the library's own, whose elements are longer than the host's.
 */
static const tfc_port_v0 *port_at(const tfc_port_v0 *ports, uint32_t index) {
  return &((const NEWER(tfc_port_v0) *)ports)[index].known;
}

static int32_t check_values(const tfc_step_v0 *step,
                            const tfc_entry_v0 *entry) {
  for (uint32_t p = 0; p < entry->n_inputs; ++p) {
    const int32_t *values = (const int32_t *)step->inputs[p];
    const tfc_port_v0 *port = port_at(entry->inputs, p);
    int32_t low = port->fill == TFC_FILL_ABSENT ? -1 : 0;
    for (int64_t t = 0; t < step->n_tokens; ++t) {
      if (values[t] < low || values[t] >= port->limit) {
        return 4;
      }
    }
  }
  for (int64_t r = 0; r < step->n_rows; ++r) {
    if (step->rows[r] < 0 || step->rows[r] >= step->n_tokens) {
      return 4;
    }
  }
  uintptr_t addresses = (uintptr_t)step->weights | (uintptr_t)step->workspace;
  return addresses % 64 ? 4 : 0;
}

#endif /* TFC_TEST_RUNTIME_FAKECHECKS_H */
