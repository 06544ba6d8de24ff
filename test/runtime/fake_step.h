/* The toy transformer of fake_module.c, one function a part of a step: for the
 * library's own code, and for the kernels that fake_kernels.c makes of it.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef TFC_TEST_RUNTIME_FAKE_STEP_H
#define TFC_TEST_RUNTIME_FAKE_STEP_H

#include "tfc/abi.h"

/* 0: an encoder with heads; 1: a decoder with a language head; 2: a decoder
 * with a classification head; 3: an encoder-decoder with a language head; 4:
 * one that shifts its inputs, and takes logits at the last end token. */
#ifndef FAKE_KIND
#define FAKE_KIND 0
#endif
/* 1: no positions, and so no limit of them; not an encoder-decoder. */
#ifndef FAKE_ENDLESS
#define FAKE_ENDLESS 0
#endif
/* How many positions a token sees, itself included; 0: all. */
#ifndef FAKE_WINDOW
#define FAKE_WINDOW 0
#endif

/* 1: its head gives the columns alone that a step asks for. */
#ifndef FAKE_HEAD_ROWS
#define FAKE_HEAD_ROWS 0
#endif

/* 1: it finds the greatest logits of rows where a step asks for them. */
#ifndef FAKE_GREATEST
#define FAKE_GREATEST 0
#endif

enum { D = 4, VOCAB = 32, POSITIONS = 16, LAYERS = 2, BLOCK = 4, TILE = 2 };
enum {
  CROSS_BLOCK = 3,
  IS_PAIR = FAKE_KIND >= 3,
  HAS_DECODER = FAKE_KIND != 0
};

/* Packed layout: floats at these offsets. */
enum {
  EMBED = 0,
  POSITION = EMBED + VOCAB * D,
  SCALE = POSITION + POSITIONS * D,
  MIX = SCALE + LAYERS * D,
  BIAS = MIX + LAYERS * D * D,
  PACKED = BIAS + VOCAB
};

typedef struct {
  const tfc_step_v0 *step;
  int is_causal;
  float *state; /* [tokens, D] */
  float *sums;  /* [workers, D] */
  int layer;
  int32_t faults;
} Work;

static inline Work work_of(const tfc_step_v0 *step, int is_causal, int layer) {
  float *state = (float *)step->workspace;
  Work work = {step, is_causal, state, state + step->n_tokens * D, layer, 0};
  return work;
}

/* Outputs of every token. */
static inline void write_hidden(const Work *work, float *hidden,
                                int64_t n_hidden) {
  for (int64_t i = 0; i < n_hidden; ++i) {
    hidden[i] = work->state[i];
  }
}

static inline void write_start(const Work *work, float *start) {
  for (int64_t t = 0; t < work->step->n_tokens; ++t) {
    start[t] = work->state[t * D];
  }
}

static inline float *slot(Work *work, const tfc_sequence_v0 *q, int position) {
  int layers = work->is_causal ? LAYERS : 1;
  float *cache = (float *)work->step->caches[0];
  int64_t block = work->step->block_table[q->blocks_at[0] + position / BLOCK];
  if (block < 0) { /* it was given back */
    work->faults = 1;
    block = 0;
  }
  return cache +
         ((block * layers + work->layer % layers) * BLOCK + position % BLOCK) *
             D;
}

static inline float *cross_slot(const Work *work, const tfc_sequence_v0 *q,
                                int position) {
  float *cache = (float *)work->step->caches[1];
  int64_t block =
      work->step->block_table[q->blocks_at[1] + position / CROSS_BLOCK];
  return cache + ((block * LAYERS + work->layer) * CROSS_BLOCK +
                  position % CROSS_BLOCK) *
                     D;
}

/* y = mix x, of the work's layer. */
static inline void mix(const Work *work, const float *x, float *y) {
  const float *packed = (const float *)work->step->weights;
  for (int row = 0; row < D; ++row) {
    y[row] = 0;
    for (int d = 0; d < D; ++d) {
      y[row] += packed[MIX + (work->layer * D + row) * D + d] * x[d];
    }
  }
}

/* What the decoder's layers read, from the encoder's last states. */
static inline void write_cross(Work *work) {
  for (work->layer = 0; work->layer < LAYERS; ++work->layer) {
    for (int64_t s = 0; s < work->step->n_sequences; ++s) {
      const tfc_sequence_v0 *q = &work->step->sequences[s];
      for (int t = 0; t < q->count; ++t) {
        mix(work, work->state + (q->first + t) * D, cross_slot(work, q, t));
      }
    }
  }
}

static inline void write_cache(Work *work) {
  const float *packed = (const float *)work->step->weights;
  for (int64_t s = 0; s < work->step->n_sequences; ++s) {
    const tfc_sequence_v0 *q = &work->step->sequences[s];
    for (int t = 0; t < q->count; ++t) {
      float *x = work->state + (q->first + t) * D;
      float *y = slot(work, q, q->past + t);
      for (int d = 0; d < D; ++d) {
        x[d] *= packed[SCALE + work->layer * D + d];
      }
      mix(work, x, y);
    }
  }
}

/* What the item's queries see, with the scratch of a worker. */
static inline void attend_item(Work *work, int64_t i, uint32_t worker) {
  float *sum = work->sums + worker * D;
  const tfc_item_v0 *item = &work->step->items[i];
  const tfc_sequence_v0 *q = &work->step->sequences[item->sequence];
  for (int t = item->first_row; t < item->first_row + TILE && t < q->count;
       ++t) {
    int seen = q->past + t + 1;
    int keys = work->is_causal && seen < q->keys ? seen : q->keys;
    int first = FAKE_WINDOW && seen > FAKE_WINDOW ? seen - FAKE_WINDOW : 0;
    for (int d = 0; d < D; ++d) {
      sum[d] = 0;
      for (int k = first; k < keys; ++k) {
        sum[d] += slot(work, q, k)[d];
      }
    }
    for (int d = 0; d < D; ++d) {
      work->state[(q->first + t) * D + d] += sum[d] / (float)(keys - first);
    }
    for (int d = 0; d < D && work->is_causal && q->cross_count; ++d) {
      sum[d] = 0;
      for (int k = 0; k < q->cross_count; ++k) {
        sum[d] += cross_slot(work, q, k)[d];
      }
      work->state[(q->first + t) * D + d] += sum[d] / (float)q->cross_count;
    }
  }
}

static inline void embed(const tfc_step_v0 *step, float *state) {
  const float *packed = (const float *)step->weights;
  const int32_t *ids = (const int32_t *)step->inputs[0];
  const int32_t *types = IS_PAIR ? 0 : (const int32_t *)step->inputs[1];
  const int32_t *positions =
      FAKE_ENDLESS ? 0 : (const int32_t *)step->inputs[IS_PAIR ? 1 : 2];
  for (int64_t t = 0; t < step->n_tokens; ++t) {
    for (int d = 0; d < D; ++d) {
      state[t * D + d] =
          packed[EMBED + ids[t] * D + d] +
          (positions ? packed[POSITION + positions[t] * D + d] : 0) +
          (types ? 0.5F * (float)(types[t] + 1) : 0);
    }
  }
}

static inline void write_logits(const tfc_step_v0 *step, const float *state,
                                float *out) {
  const float *packed = (const float *)step->weights;
  int64_t columns = VOCAB;
  const int32_t *asked = 0;
#if FAKE_HEAD_ROWS
  if (step->n_head_rows) {
    columns = step->n_head_rows;
    asked = step->head_rows;
  }
#endif
  for (int64_t r = 0; r < step->n_rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      int64_t v = asked ? asked[c] : c;
      float sum = packed[BIAS + v];
      for (int d = 0; d < D; ++d) {
        sum += packed[EMBED + v * D + d] * state[step->rows[r] * D + d];
      }
      out[r * columns + c] = sum;
    }
  }
#if FAKE_GREATEST
  for (int64_t r = 0; step->greatest && r < step->n_rows; ++r) {
    const float *row = out + r * VOCAB;
    int32_t best = TFC_GREATEST_NONE;
    for (int32_t v = 0; v < VOCAB && best != TFC_GREATEST_NAN; ++v) {
      if (row[v] != row[v]) {
        best = TFC_GREATEST_NAN;
      } else if (best < 0 ? row[v] > -__builtin_inff() : row[v] > row[best]) {
        best = v;
      }
    }
    step->greatest[r] = best;
  }
#endif
}

#endif
