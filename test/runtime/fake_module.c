/* A hand-written library that keeps the contract of abi.h: a toy transformer
 * whose outputs depend on tokens, positions, visible keys and cache contents.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * fake_checks.h checks what the host promises; the entry returns a status other
 * than 0 when a promise is broken.
 *
 * The model: x = embed[id] + position[pos] + (type + 1) / 2, an absent type
 * being -1; in each of two layers, x *= scale, y = mix x is cached, x += mean
 * of y over the visible keys; logits = embed x + bias. An encoder-decoder is
 * that twice, with the same weights and no types; in its decoder each layer
 * ends with x += mean of mix z, z being the encoder's states. */
#include "tfc/abi.h"

/* TFC_ENTRY_* of all its entries. */
#ifndef FAKE_FLAGS
#define FAKE_FLAGS 0
#endif
/* What its decoder begins with, -1 for none. */
#ifndef FAKE_START
#define FAKE_START 2
#endif
/* The token that follows a sequence's first, -1 for none. */
#ifndef FAKE_FORCED
#define FAKE_FORCED (-1)
#endif
/* The pad token, -1 for none. */
#ifndef FAKE_PAD
#define FAKE_PAD 0
#endif
/* Where positions come from, unless it is an encoder-decoder. */
#ifndef FAKE_FILL
#define FAKE_FILL TFC_FILL_POSITION
#endif
/* The tokens that it takes, of those that it gives: those below. */
#ifndef FAKE_TAKES
#define FAKE_TAKES VOCAB
#endif
/* The ABI version it claims. */
#ifndef FAKE_VERSION
#define FAKE_VERSION TFC_ABI_VERSION
#endif
/* The oldest host it talks to. */
#ifndef FAKE_NEEDS
#define FAKE_NEEDS 1
#endif
/* Bytes that it says a port has. */
#ifndef FAKE_PORT_SIZE
#define FAKE_PORT_SIZE sizeof(Port)
#endif
/* 1: its tables' elements end where the first version's did. */
#ifndef FAKE_OLDEST
#define FAKE_OLDEST 0
#endif
/* How many of its programs it lists. */
#ifndef FAKE_PROGRAMS
#define FAKE_PROGRAMS 3
#endif
/* Which program is the first that it lists. */
#ifndef FAKE_FIRST
#define FAKE_FIRST 0
#endif
/* 1: writes a float beyond its workspace, 2: beyond its first output. */
#ifndef FAKE_OVERRUN
#define FAKE_OVERRUN 0
#endif
/* Not 0: its encoder's scales are packed with the other sign, which "prepare"
 * turns around; 2: that fails instead, 3: it writes beyond its workspace. */
#ifndef FAKE_PREPARE
#define FAKE_PREPARE 0
#endif
/* What its entry returns. */
#ifndef FAKE_STATUS
#define FAKE_STATUS 0
#endif

/* The PTX of fake_kernels.c, where the library has a CUDA program too. */
#ifdef FAKE_PTX
#include "test/runtime/gpu/fake_launches.h"
#endif
/* 0, or a fault of its CUDA program: FAKE_FAULT_* of fake_launches.h. */
#ifndef FAKE_FAULT
#define FAKE_FAULT 0
#endif

#include "test/runtime/fake_step.h"

/* An element of a table as a newer library has it: behind what this host
 * knows is something more. Or as the oldest library has it, which is compiled
 * with the abi.h of that time. */
#if FAKE_OLDEST
#define NEWER(T)                                                               \
  struct {                                                                     \
    T known;                                                                   \
  }
#define ELEMENT(...)                                                           \
  {                                                                            \
    {                                                                          \
      __VA_ARGS__                                                              \
    }                                                                          \
  }
#else
#define NEWER(T)                                                               \
  struct {                                                                     \
    T known;                                                                   \
    uint64_t more;                                                             \
  }
#define ELEMENT(...) {{__VA_ARGS__}, 77}
#endif

/* ---- Weights --------------------------------------------------------------
 */

static const char *const embedNames[] = {"{p}embed.weight"};
static const char *const positionNames[] = {"{p}position.weight"};
static const char *const scaleNames[] = {"{p}layers.{i}.norm.weight"};
static const char *const mixNames[] = {"{p}layers.{i}.mix.weight",
                                       "{p}layers.{i}.fused.weight"};
static const char *const biasNames[] = {"head.bias"};
static const char *const headNames[] = {"head.weight"};

#define DTYPES (1 << TFC_DTYPE_F32 | 1 << TFC_DTYPE_F16 | 1 << TFC_DTYPE_BF16)
typedef NEWER(tfc_source_v0) Source;
static const Source embedSource =
    ELEMENT(embedNames, 1, 0, 2, DTYPES, D, 0, VOCAB);
static const Source positionSource =
    ELEMENT(positionNames, 1, 0, 2, DTYPES, D, 0, POSITIONS);
static const Source scaleSource = ELEMENT(scaleNames, 1, 0, 1, DTYPES, 1, 0, D);
/* The second of the three parts of a fused Conv1D. */
static const Source mixSource =
    ELEMENT(mixNames, 2, TFC_SOURCE_IN_OUT, 2, DTYPES, D, D, 3 * D);
static const Source biasSource =
    ELEMENT(biasNames, 1, TFC_SOURCE_FILL_ZEROS, 1, DTYPES, 1, 0, VOCAB);
static const Source headSource =
    ELEMENT(headNames, 1, 0, 2, DTYPES, D, 0, VOCAB);
#define WEIGHT(name, flags, layers, tied_to, rows, cols)                       \
  ELEMENT(#name, &name##Source.known, 1, flags, 0, 1, layers, tied_to, rows,   \
          cols)
static const NEWER(tfc_weight_v0) weights[] = {
    WEIGHT(embed, 0, 1, 0, VOCAB, D),
    WEIGHT(position, 0, 1, 0, POSITIONS, D),
    WEIGHT(scale, 0, LAYERS, 0, D, 1),
    WEIGHT(mix, 0, LAYERS, 0, D, D),
    WEIGHT(bias, 0, 1, 0, VOCAB, 1),
    WEIGHT(head, TFC_WEIGHT_TIED, 1, 0, VOCAB, D),
};
static const int packedAt[] = {EMBED, POSITION, SCALE, MIX, BIAS};

static float half_to_float(uint16_t bits) {
  float value = (float)(bits & 1023);
  int exponent = bits >> 10 & 31;
  if (exponent > 0) {
    value += 1024.0F;
  }
  for (int e = exponent ? exponent : 1; e > 25; --e) {
    value *= 2.0F;
  }
  for (int e = exponent ? exponent : 1; e < 25; ++e) {
    value *= 0.5F;
  }
  return bits & 0x8000 ? -value : value;
}

static float load(const tfc_pack_v0 *pack, int64_t index) {
  const uint8_t *bytes = (const uint8_t *)pack->sources->data;
  union {
    uint32_t bits;
    float value;
  } word = {0};
  if (pack->sources->dtype == TFC_DTYPE_F32) {
    for (int i = 0; i < 4; ++i) {
      word.bits |= (uint32_t)bytes[4 * index + i] << 8 * i;
    }
    return word.value;
  }
  uint16_t half = (uint16_t)(bytes[2 * index] | bytes[2 * index + 1] << 8);
  if (pack->sources->dtype == TFC_DTYPE_F16) {
    return half_to_float(half);
  }
  word.bits = (uint32_t)half << 16;
  return word.value;
}

static int32_t pack_weight(const tfc_pack_v0 *pack) {
  const tfc_weight_v0 *weight = &weights[pack->weight].known;
  const tfc_source_v0 *source = weight->sources;
  if (pack->struct_size < sizeof(tfc_pack_v0) || pack->weight > 4 ||
      pack->layer >= weight->layers || pack->n_sources != 1 ||
      pack->row_begin < 0 || pack->row_end > weight->rows) {
    return 1;
  }
  float *to = (float *)pack->packed + packedAt[pack->weight] +
              pack->layer * weight->rows * weight->cols;
  for (int64_t row = pack->row_begin; row < pack->row_end; ++row) {
    for (int64_t col = 0; col < weight->cols; ++col) {
      int64_t stored = source->first_row + row;
      int64_t at = source->flags & TFC_SOURCE_IN_OUT
                       ? col * source->stored_rows + stored
                       : stored * weight->cols + col;
      float value = load(pack, at);
      int turns = FAKE_PREPARE && packedAt[pack->weight] == SCALE;
      to[row * weight->cols + col] = turns ? -value : value;
    }
  }
  return 0;
}

#include "test/runtime/fake_checks.h"

/* ---- One step -------------------------------------------------------------
 */

static void attend(void *arg, int64_t begin, int64_t end, uint32_t worker) {
  Work *work = (Work *)arg;
  if (worker >= work->step->host->n_workers) {
    work->faults = 1;
    return;
  }
  for (int64_t i = begin; i < end; ++i) {
    attend_item(work, i, worker);
  }
}

static int32_t run_encode(const tfc_step_v0 *step);
static int32_t run_step(const tfc_step_v0 *step);

static uint64_t workspace_bytes(int64_t tokens, int64_t rows, int64_t sequences,
                                int64_t workers) {
  return (uint64_t)(tokens + workers) * D * sizeof(float);
}

/* ---- The tables -----------------------------------------------------------
 */

typedef NEWER(tfc_port_v0) Port;
#define INPUT(name, fill, limit)                                               \
  ELEMENT(name, TFC_DTYPE_I32, TFC_ROWS_TOKENS, 1, 0, fill, 0, limit)
#define OUTPUT(name, rows, width, flags, take)                                 \
  ELEMENT(name, TFC_DTYPE_F32, rows, width, flags, 0, take, 0)
static const Port inputs[] = {
    INPUT("input_ids", TFC_FILL_REQUIRED, FAKE_TAKES),
    INPUT("token_type_ids", HAS_DECODER ? TFC_FILL_ABSENT : TFC_FILL_ZERO, 3),
    INPUT("position_ids", FAKE_FILL, POSITIONS),
};
static const Port source_inputs[] = {
    INPUT("input_ids", TFC_FILL_REQUIRED, VOCAB),
    INPUT("position_ids", TFC_FILL_POSITION, POSITIONS),
};
static const Port target_inputs[] = {
    INPUT("decoder_input_ids",
          FAKE_KIND == 4 ? TFC_FILL_SHIFTED : TFC_FILL_REQUIRED, VOCAB),
    INPUT("decoder_position_ids", TFC_FILL_POSITION, POSITIONS),
};
enum {
  TAKE = FAKE_KIND == 0                     ? TFC_TAKE_FIRST
         : FAKE_KIND == 1 || FAKE_KIND == 3 ? TFC_TAKE_ALL
         : FAKE_KIND == 2                   ? TFC_TAKE_LAST_NONPAD
                                            : TFC_TAKE_LAST_EOS
};
#if FAKE_HEAD_ROWS
#define HEAD_FLAGS TFC_PORT_HEAD_ROWS
#elif FAKE_GREATEST
#define HEAD_FLAGS TFC_PORT_GREATEST
#else
#define HEAD_FLAGS 0
#endif
static const Port outputs[] = {
    OUTPUT("last_hidden_state", TFC_ROWS_TOKENS, D, 0, 0),
    OUTPUT("logits", TFC_ROWS_WANTED, VOCAB, HEAD_FLAGS, TAKE),
    OUTPUT("start_logits", TFC_ROWS_TOKENS, 1, TFC_PORT_SQUEEZED, 0),
};
static const Port source_outputs[] = {
    OUTPUT("encoder_last_hidden_state", TFC_ROWS_TOKENS, D, 0, 0),
};

typedef NEWER(tfc_cache_v0) Cache;
#define ROW_BYTES (D * sizeof(float))
#define CACHE(role, tokens, layers, window)                                    \
  ELEMENT(role, TFC_DTYPE_F32, tokens, layers,                                 \
          (layers) * (tokens) * ROW_BYTES, (tokens) * ROW_BYTES, window)
static const Cache scratch[] = {
    CACHE(TFC_CACHE_SELF, BLOCK, 1, 0),
    CACHE(TFC_CACHE_CROSS, CROSS_BLOCK, LAYERS, 0),
};
static const Cache kept[] = {
    CACHE(TFC_CACHE_SELF, BLOCK, LAYERS, FAKE_WINDOW),
    CACHE(TFC_CACHE_CROSS, CROSS_BLOCK, LAYERS, 0),
};

typedef NEWER(tfc_entry_v0) Entry;
enum { N_INPUTS = FAKE_ENDLESS ? 2 : 3 };
static const Entry encoder[] = {
    ELEMENT("encode", N_INPUTS, 3, 1, TILE, FAKE_FLAGS, 0, &inputs->known,
            &outputs->known, &scratch->known, workspace_bytes, run_encode),
};
#if FAKE_PREPARE
static int32_t run_prepare(const tfc_step_v0 *step);
static uint64_t prepare_bytes(int64_t tokens, int64_t rows, int64_t sequences,
                              int64_t workers) {
  return (uint64_t)(tokens + rows + sequences + workers) * sizeof(float);
}
static const Entry preparer[] = {
    ELEMENT("encode", N_INPUTS, 3, 1, TILE, FAKE_FLAGS, 0, &inputs->known,
            &outputs->known, &scratch->known, workspace_bytes, run_encode),
    ELEMENT("prepare", 0, 0, 0, 1, TFC_ENTRY_PREPARE, 0, 0, 0, 0, prepare_bytes,
            run_prepare),
};
#endif
static const Entry decoder[] = {
    ELEMENT("step", N_INPUTS, 3, 1, TILE, FAKE_FLAGS, 0, &inputs->known,
            &outputs->known, &kept->known, workspace_bytes, run_step),
};
static const Entry pair[] = {
    ELEMENT("encode", 2, 1, 2, TILE, FAKE_FLAGS, 0, &source_inputs->known,
            &source_outputs->known, &scratch->known, workspace_bytes,
            run_encode),
    ELEMENT("step", 2, 3, 2, TILE, FAKE_FLAGS, 0, &target_inputs->known,
            &outputs->known, &kept->known, workspace_bytes, run_step),
};
#if FAKE_PREPARE
#define ENTRIES preparer
enum { N_ENTRIES = 2 };
#else
#define ENTRIES (IS_PAIR ? pair : HAS_DECODER ? decoder : encoder)
enum { N_ENTRIES = IS_PAIR ? 2 : 1 };
#endif

static int32_t run(const tfc_step_v0 *step, const tfc_entry_v0 *entry,
                   int is_causal) {
  int32_t fault = check_sequences(step, entry, is_causal);
  fault = fault ? fault : check_items(step, is_causal);
  fault = fault ? fault : check_values(step, entry);
  fault = fault ? fault : FAKE_STATUS;
  if (fault) {
    return fault;
  }
  Work work = work_of(step, is_causal, 0);
  embed(step, work.state);
  const tfc_host_v0 *host = step->host;
  /* Every worker's, whether it will come or not. */
  int64_t n_sums = host->n_workers * D + (FAKE_OVERRUN == 1);
  for (int64_t i = 0; i < n_sums; ++i) {
    work.sums[i] = 0;
  }
  for (work.layer = 0; work.layer < LAYERS; ++work.layer) {
    write_cache(&work);
    int32_t status =
        host->parallel_for(host->ctx, step->n_items, attend, &work);
    if (status) {
      return status;
    }
/* FAKE_TAPS: the state after every layer is reported. */
#ifdef FAKE_TAPS
    host->tap(host->ctx, "layers.out", work.layer, TFC_DTYPE_F32, work.state,
              step->n_tokens, D);
#endif
  }
  if (IS_PAIR && !is_causal) {
    write_cross(&work);
  }
  float *hidden = (float *)step->outputs[0];
  int64_t n_hidden = step->n_tokens * D + (FAKE_OVERRUN == 2);
  if (hidden) {
    write_hidden(&work, hidden, n_hidden);
  }
  if (entry->n_outputs > 2 && step->outputs[2]) {
    write_start(&work, (float *)step->outputs[2]);
  }
  if (entry->n_outputs > 1 && step->outputs[1]) {
    write_logits(step, work.state, (float *)step->outputs[1]);
  }
  return work.faults ? 5 : 0;
}

static int32_t run_encode(const tfc_step_v0 *step) {
  return run(step, IS_PAIR ? &pair[0].known : &encoder[0].known, 0);
}

static int32_t run_step(const tfc_step_v0 *step) {
  return run(step, IS_PAIR ? &pair[1].known : &decoder[0].known, 1);
}

#if FAKE_PREPARE
static void turn(void *arg, int64_t begin, int64_t end, uint32_t worker) {
  const tfc_step_v0 *step = (const tfc_step_v0 *)arg;
  float *packed = (float *)(uintptr_t)step->weights;
  for (int64_t i = begin; i < end; ++i) {
    packed[SCALE + i] = -packed[SCALE + i];
  }
  ((float *)step->workspace)[worker] = (float)begin;
}

/* A step of nothing, with all that an entry may count on. */
static int32_t run_prepare(const tfc_step_v0 *step) {
  const tfc_host_v0 *host = step->host;
  if (step->struct_size < sizeof(tfc_step_v0) ||
      host->struct_size < sizeof(tfc_host_v0) || host->n_workers < 1 ||
      step->device_step != step || step->n_tokens || step->n_sequences ||
      step->n_items || step->n_rows || step->n_head_rows || step->n_adapters ||
      step->greatest || (uintptr_t)step->weights % 64 ||
      (uintptr_t)step->workspace % 64) {
    return 6;
  }
  if (FAKE_PREPARE == 2) {
    return 7;
  }
  if (FAKE_PREPARE == 3) {
    ((float *)step->workspace)[host->n_workers] = 1.0F;
  }
  return host->parallel_for(host->ctx, (int64_t)LAYERS * D, turn,
                            (void *)(uintptr_t)step);
}
#endif

/* Of the machine that this is compiled for; its lowest three features. */
#if defined(__aarch64__)
#define HOST_ISA 2 /* TFC_ISA_AARCH64, which the oldest abi.h has not */
#elif defined(__riscv)
#define HOST_ISA 3 /* TFC_ISA_RISCV64, likewise */
#else
#define HOST_ISA TFC_ISA_X86_64
#endif
#define PROGRAM(name, features, priority)                                      \
  ELEMENT(name, HOST_ISA, TFC_MEMORY_HOST, features, priority, TFC_DTYPE_F32,  \
          N_ENTRIES, 0, PACKED * sizeof(float), "plain-f32", pack_weight,      \
          &ENTRIES->known, 0, 0, 0, 0, 0, 0, 0)
#ifdef FAKE_PTX
static const NEWER(tfc_kernel_v0) kernels[] = {FAKE_KERNELS(ELEMENT)};
static const NEWER(tfc_image_v0) images[] = {FAKE_IMAGES(ELEMENT)};
/* Of the weights that are packed, in the order of the table; head is tied. */
#define PLACE(at, end, layers)                                                 \
  ELEMENT(at * sizeof(float), ((end) - (at)) / (layers) * sizeof(float),       \
          ((end) - (at)) / (layers) * sizeof(float))
static const NEWER(tfc_place_v0) places[] = {
    PLACE(EMBED, POSITION, 1), PLACE(POSITION, SCALE, 1),
    PLACE(SCALE, MIX, LAYERS), PLACE(MIX, BIAS, LAYERS),
    PLACE(BIAS, PACKED, 1),    ELEMENT(0, 0, 0),
};
static int32_t cuda_encode(const tfc_step_v0 *step) {
  return launch_step(step, IS_PAIR ? &pair[0].known : &encoder[0].known, 0,
                     FAKE_FAULT);
}
static int32_t cuda_step(const tfc_step_v0 *step) {
  return launch_step(step, IS_PAIR ? &pair[1].known : &decoder[0].known, 1,
                     FAKE_FAULT);
}
static const Entry cuda_encoder[] = {
    ELEMENT("encode", N_INPUTS, 3, 1, TILE, FAKE_FLAGS, 0, &inputs->known,
            &outputs->known, &scratch->known, workspace_bytes, cuda_encode),
};
static const Entry cuda_decoder[] = {
    ELEMENT("step", N_INPUTS, 3, 1, TILE, FAKE_FLAGS, 0, &inputs->known,
            &outputs->known, &kept->known, workspace_bytes, cuda_step),
};
static const Entry cuda_pair[] = {
    ELEMENT("encode", 2, 1, 2, TILE, FAKE_FLAGS, 0, &source_inputs->known,
            &source_outputs->known, &scratch->known, workspace_bytes,
            cuda_encode),
    ELEMENT("step", 2, 3, 2, TILE, FAKE_FLAGS, 0, &target_inputs->known,
            &outputs->known, &kept->known, workspace_bytes, cuda_step),
};
#define CUDA_ENTRIES                                                           \
  (IS_PAIR ? cuda_pair : HAS_DECODER ? cuda_decoder : cuda_encoder)
#define CUDA_PROGRAMS                                                          \
  ELEMENT("fake-sm_80", TFC_ISA_CUDA, TFC_MEMORY_DEVICE, 80, 10,               \
          TFC_DTYPE_F32, N_ENTRIES, 0, PACKED * sizeof(float), "plain-f32",    \
          pack_weight, &CUDA_ENTRIES->known, N_KERNELS, 2, 6, 0,               \
          &kernels->known, &images->known, &places->known),
#else
#define CUDA_PROGRAMS
#endif
static const NEWER(tfc_program_v0) programs[] = {
    PROGRAM("plain", 0, 0),
    CUDA_PROGRAMS PROGRAM("one feature", 1, 1),
    PROGRAM("future", (uint64_t)1 << 40, 2),
    PROGRAM("two features", 3, 3),
    PROGRAM("three features", 7, 4),
};
static const char *const prefixes[] = {"", "model."};
static const char *const aliases[] = {".weight", ".gamma"};
static const int64_t eos[] = {3, 5};

static const NEWER(tfc_generation_v0) generation = ELEMENT(FAKE_FORCED, -1, 0,
                                                           0, 0, 1,
                                                           TFC_EARLY_NO, 0, 50,
                                                           1, 1, 0, 1, 1);

static const NEWER(tfc_module_v0) module =
    ELEMENT({FAKE_VERSION, FAKE_NEEDS, "fake", "hand"},
            {sizeof(module), sizeof(generation), sizeof(weights[0]),
             sizeof(Source), sizeof(programs[0]), sizeof(Entry), FAKE_PORT_SIZE,
             sizeof(Cache), sizeof(NEWER(tfc_kernel_v0)),
             sizeof(NEWER(tfc_image_v0)), sizeof(NEWER(tfc_place_v0)), 0},
            "{\"name\":\"fake\"}", 1234,
            IS_PAIR       ? TFC_KIND_ENCODER_DECODER
            : HAS_DECODER ? TFC_KIND_DECODER
                          : TFC_KIND_ENCODER,
            sizeof(weights) / sizeof(weights[0]), FAKE_PROGRAMS, 2,
            HAS_DECODER ? 2 : 0, 1, FAKE_ENDLESS ? 0 : POSITIONS, FAKE_PAD, 1,
            IS_PAIR ? FAKE_START : -1, eos, prefixes, aliases, &weights->known,
            &programs[FAKE_FIRST].known, &generation.known);

const tfc_module_header *tfc_module_query(uint32_t max_version);

const tfc_module_header *tfc_module_query(uint32_t max_version) {
  return max_version < FAKE_NEEDS ? 0 : &module.known.header;
}
