/* The contract between a compiled model library and the host that runs it.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A schema: plain C structs, read-only data and two kinds of function pointer.
 * The compiler writes these structs into the library, the runtime reads them;
 * both include this file. A library exports one symbol, tfc_module_query,
 * imports nothing, and allocates nothing: all memory and all threads are lent
 * by the host for the length of one call.
 *
 * Words: T = tokens of a step (the new tokens of all its sequences together),
 * R = rows wanted, B = sequences. Arrays are row-major and not padded. An
 * incompatible change raises TFC_ABI_VERSION; see docs/abi.md. */
#ifndef TFC_ABI_H
#define TFC_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TFC_ABI_VERSION 2u
#define TFC_MODULE_QUERY_SYMBOL "tfc_module_query"

/* ---- What the host lends ------------------------------------------------ */

/* One piece of parallel work: items [begin, end), done by `worker`, which is
 * below n_workers; no two running bodies have the same worker. */
typedef void (*tfc_body_fn)(void *arg, int64_t begin, int64_t end,
                            uint32_t worker);

typedef struct {
  void *ctx;
  uint32_t n_workers; /* at least 1 */
  uint32_t reserved;
  /* Runs body over [0, n), cut as the host likes; returns when all is done. */
  void (*parallel_for)(void *ctx, int64_t n, tfc_body_fn body, void *arg);
  /* Reports a named value, [rows, width] f32, valid during the call. Only
   * libraries compiled with --taps call it; may be null. `layer` counts from 0
   * in the consecutive layers that `id` names, and is -1 outside the layers. */
  void (*tap)(void *ctx, const char *id, int64_t layer, const void *data,
              int64_t rows, int64_t width);
} tfc_host_v0;

/* ---- One call of an entry ----------------------------------------------- */

/* A sequence of the step. Its new tokens are rows [first, first + count) of
 * every activation; they are written to its cache at positions
 * [past, past + count), block_tokens positions to a block, blocks[i] being the
 * i-th block of the sequence.
 *
 * Query t of the sequence (0 <= t < count) sees the first
 *   min(keys, past + t + 1)  positions when attention is causal,
 *   keys                     positions when it is bidirectional;
 * normally keys = past + count. A smaller keys makes the tokens at and beyond
 * it spectators: they see, and nobody sees them, which is how a row is computed
 * for a token that the attention mask hides. keys is at least 1. */
typedef struct {
  int32_t first, count, past, keys;
  /* Positions in cross_blocks; 0 without cross-attention. */
  int32_t cross_count;
  int32_t reserved;
  const int32_t *blocks, *cross_blocks;
} tfc_sequence_v0;

/* A work item of attention: query_rows tokens of `sequence` from first_row on
 * (relative to the sequence's first token), fewer at its end. Any order gives
 * the same bits; longest first keeps the workers busy. */
typedef struct {
  int32_t sequence, first_row;
} tfc_item_v0;

typedef struct {
  const void *weights; /* packed, aligned to 64 bytes */
  void *workspace;     /* workspace_bytes(...) bytes, aligned to 64 bytes */
  void *self_cache, *cross_cache;
  int64_t n_tokens;
  const void *const *inputs; /* one array a port, in the entry's order */
  int64_t n_sequences;
  const tfc_sequence_v0 *sequences;
  int64_t n_items; /* every token of every sequence is in exactly one item */
  const tfc_item_v0 *items;
  int64_t n_rows;       /* R */
  const int32_t *rows;  /* which tokens (0 <= row < T) the WANTED outputs get */
  void *const *outputs; /* one array a port; null = not wanted, not computed */
  const tfc_host_v0 *host;
} tfc_step_v0;

/* ---- What a library says of itself -------------------------------------- */

typedef struct {
  /* TFC_ABI_VERSION it was built for; stays the first field. */
  uint32_t version;
  uint32_t reserved;
  const char *name;     /* of the model, as in the spec */
  const char *producer; /* "tfc 0.1.0" */
} tfc_module_header;

enum {
  TFC_DTYPE_F32 = 0,
  TFC_DTYPE_F16 = 1,
  TFC_DTYPE_BF16 = 2,
  TFC_DTYPE_I32 = 3
};

/* How many rows an array of a port has. */
enum { TFC_ROWS_TOKENS = 0, TFC_ROWS_WANTED = 1 };

/* Where the values of an input come from when the caller gives none. */
enum {
  TFC_FILL_REQUIRED = 0, /* the caller must give them */
  TFC_FILL_ZERO = 1,
  TFC_FILL_ABSENT = 2, /* -1: the embedding adds nothing */
  /* The token's column; but when a decoder without an encoder generates, the
   * number of unmasked tokens before it. */
  TFC_FILL_POSITION = 3,
  /* Of an encoder-decoder's decoder_input_ids: the row of input_ids one column
   * to the right, behind decoder_start. In generation decoder_start alone. */
  TFC_FILL_SHIFTED = 4
};

/* Which rows a forward pass asks for; all WANTED outputs of an entry agree. */
enum {
  TFC_TAKE_ALL = 0,   /* every token */
  TFC_TAKE_FIRST = 1, /* the first column of each sequence */
  /* The last column whose id is not the pad token; the last column when the
   * model has no pad token. */
  TFC_TAKE_LAST_NONPAD = 2,
  /* The column, in the model's input_ids, of the last end token; every row must
   * have one, and all rows equally many. In an encoder-decoder the rows taken
   * are the decoder's. */
  TFC_TAKE_LAST_EOS = 3
};

/* An entry's flag: results depend on the distance of two tokens, not only on
 * the positions that an input gives (position bias, windows). The entry takes
 * neighbours of a sequence for neighbours in the caller's row, so the host
 * gives it no sequence from whose middle the attention mask takes tokens. */
enum { TFC_ENTRY_DISTANCES = 1 };

enum { TFC_PORT_SQUEEZED = 1 }; /* width 1, and the result drops that axis */

typedef struct {
  const char *name; /* Hugging Face's */
  uint32_t dtype, rows, width, flags;
  uint32_t fill; /* inputs: TFC_FILL_* */
  uint32_t take; /* outputs with TFC_ROWS_WANTED: TFC_TAKE_* */
  int64_t limit; /* inputs: every value is in [0, limit) */
} tfc_port_v0;

/* Bytes of a cache block, which holds block_tokens positions of all layers,
 * keys and values; what lies where inside is the program's own business.
 * layers = 0: the entry has no such cache. An encoder's block is scratch: one
 * layer, used by all layers in turn. */
typedef struct {
  uint32_t block_tokens, layers;
  uint64_t block_bytes, layer_bytes;
} tfc_cache_desc_v0;

/* "encode" runs an encoder, "step" a decoder. An encoder-decoder has both:
 * "encode" writes each decoder layer's keys and values of the source into
 * cross_blocks (past = 0, cross_count = count, from position 0), and "step"
 * reads them; the geometry of their `cross` is the same. Its outputs have a row
 * a token. Ports: input_ids and position_ids, decoder_input_ids and
 * decoder_position_ids. */
typedef struct {
  const char *name;
  uint32_t n_inputs, n_outputs;
  const tfc_port_v0 *inputs, *outputs;
  tfc_cache_desc_v0 self, cross;
  uint32_t query_rows, flags; /* flags: TFC_ENTRY_* */
  /* Bytes for T tokens, R rows, B sequences and `workers` workers. */
  uint64_t (*workspace_bytes)(int64_t tokens, int64_t rows, int64_t sequences,
                              int64_t workers);
  /* 0 on success. It checks nothing: the host has checked every value. */
  int32_t (*run)(const tfc_step_v0 *step);
} tfc_entry_v0;

/* What pack returns beside 0: it is packed, but stored values were rounded to
 * what the library keeps, which it was not compiled to do. */
enum { TFC_PACK_ROUNDED = 1 };

/* One (weight, layer) to pack: `source` is the stored tensor as in the file
 * (not aligned), `packed` the start of the whole packed area. Calls for
 * different (weight, layer) may run at the same time. */
typedef struct {
  uint32_t weight, layer; /* indices: of the weight table, from 0 */
  uint32_t dtype;         /* of the source: F32, F16 or BF16 */
  uint32_t reserved;
  const void *source;
  void *packed;
} tfc_pack_v0;

enum { TFC_PROGRAM_CPU = 0, TFC_PROGRAM_CUDA = 1 };

/* Instruction sets a CPU program needs: x86-64 microarchitecture levels. */
enum {
  TFC_FEATURE_X86_64_V2 = 1,
  TFC_FEATURE_X86_64_V3 = 2,
  TFC_FEATURE_X86_64_V4 = 4
};

/* One instruction set or GPU. */
typedef struct {
  uint32_t kind, n_entries;
  uint64_t features;      /* all of them are needed */
  const char *name;       /* "x86-64-v3" */
  const char *layout_tag; /* of the packed weights; equal tags, equal bytes */
  uint64_t packed_bytes;
  int32_t (*pack)(const tfc_pack_v0 *pack); /* 0, TFC_PACK_* */
  const tfc_entry_v0 *entries;
} tfc_program_v0;

enum {
  TFC_WEIGHT_IN_OUT = 1,     /* stored [in, out] (Conv1D), used as [out, in] */
  TFC_WEIGHT_FILL_ZEROS = 2, /* zeros when no tensor has one of its names */
  TFC_WEIGHT_TIED = 4 /* not packed: if stored, it must equal weight tied_to */
};

/* A parameter: where it is stored. Its layer i (0 <= i < layers) is the tensor
 * named by the first pattern that exists, with {p} = the file set's prefix and
 * {i} = first_layer + i. The stored tensor has the shape
 *   [stored_rows, cols], or [cols, stored_rows] with IN_OUT,
 * or [stored_rows] when rank is 1 (then cols = 1), axes of length 1 in front
 * being ignored; the parameter is its rows [first_row, first_row + rows). */
typedef struct {
  const char *name; /* canonical, as in the spec */
  const char *const *patterns;
  uint32_t n_patterns, flags;
  uint32_t first_layer, layers, rank, tied_to;
  int64_t rows, cols, first_row, stored_rows;
} tfc_weight_v0;

enum {
  TFC_KIND_ENCODER = 0,
  TFC_KIND_DECODER = 1,
  TFC_KIND_ENCODER_DECODER = 2
};

enum { TFC_EARLY_NO = 0, TFC_EARLY_YES = 1, TFC_EARLY_NEVER = 2 };

/* What generation does unless the caller says otherwise: the model's
 * generation_config, in Hugging Face's words. Lengths count the decoder's
 * sequence, prompt included. */
typedef struct {
  int64_t forced_bos, forced_eos; /* token ids; -1: none */
  int64_t min_length, max_length; /* 0: none */
  int64_t no_repeat_ngram;        /* 0: off */
  uint32_t num_beams;             /* at least 1 */
  uint32_t early_stopping;        /* TFC_EARLY_* */
  uint32_t do_sample;
  uint32_t top_k; /* 0: off; read when sampling, as the next three */
  double temperature, top_p, min_p;
  double length_penalty, repetition_penalty;
} tfc_generation_v0;

typedef struct {
  tfc_module_header header;
  const char *spec_json; /* the canonical spec */
  uint64_t spec_hash;    /* FNV-1a of it */
  uint32_t kind, n_weights, n_programs;
  uint32_t n_prefixes, n_eos, n_aliases;
  int64_t max_positions; /* longest sequence, tokens; 0 = no limit */
  int64_t pad;           /* token id, -1 = none; so the next two */
  int64_t bos;
  int64_t decoder_start; /* first token of an encoder-decoder's decoder */
  const int64_t *eos;
  /* What {p} may stand for: the first for which some tensor exists that a
   * pattern with {p} names at its first layer. */
  const char *const *prefixes;
  /* 2 * n_aliases strings: suffixes of tensor names, tried both ways. */
  const char *const *aliases;
  const tfc_weight_v0 *weights;
  const tfc_program_v0 *programs;
  const tfc_generation_v0 *generation;
} tfc_module_v0;

/* The only exported symbol. Returns a tfc_module_v0 that lives as long as the
 * library, or null when the library needs a host newer than max_version. A host
 * reads `version` before anything else. */
typedef const tfc_module_header *(*tfc_module_query_fn)(uint32_t max_version);

/* ---- The end of the file ------------------------------------------------- */

/* 64-bit FNV-1a: begin with the basis; for each byte, xor it and multiply by
 * the prime. */
#define TFC_FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define TFC_FNV_PRIME UINT64_C(0x100000001b3)
#define TFC_LIBRARY_END_MAGIC "TFC-FNV1"

/* The last bytes of a library's file, behind everything that is loaded: its
 * checksum, with which a damaged file is told from a good one before any of its
 * code runs. Little-endian. A file without them is loaded unchecked. */
typedef struct {
  char magic[8]; /* TFC_LIBRARY_END_MAGIC, without its null byte */
  uint64_t sum;  /* FNV-1a of all bytes before this struct */
} tfc_library_end_v0;

#ifdef __cplusplus
}
#define TFC_ABI_ASSERT static_assert
#else
#define TFC_ABI_ASSERT _Static_assert
#endif

TFC_ABI_ASSERT(sizeof(tfc_host_v0) == 32, "tfc_host_v0");
TFC_ABI_ASSERT(sizeof(tfc_sequence_v0) == 40, "tfc_sequence_v0");
TFC_ABI_ASSERT(sizeof(tfc_item_v0) == 8, "tfc_item_v0");
TFC_ABI_ASSERT(sizeof(tfc_step_v0) == 112, "tfc_step_v0");
TFC_ABI_ASSERT(sizeof(tfc_port_v0) == 40, "tfc_port_v0");
TFC_ABI_ASSERT(sizeof(tfc_cache_desc_v0) == 24, "tfc_cache_desc_v0");
TFC_ABI_ASSERT(sizeof(tfc_entry_v0) == 104, "tfc_entry_v0");
TFC_ABI_ASSERT(sizeof(tfc_pack_v0) == 32, "tfc_pack_v0");
TFC_ABI_ASSERT(sizeof(tfc_program_v0) == 56, "tfc_program_v0");
TFC_ABI_ASSERT(sizeof(tfc_weight_v0) == 72, "tfc_weight_v0");
TFC_ABI_ASSERT(sizeof(tfc_generation_v0) == 96, "tfc_generation_v0");
TFC_ABI_ASSERT(sizeof(tfc_module_v0) == 144, "tfc_module_v0");
TFC_ABI_ASSERT(sizeof(tfc_library_end_v0) == 16, "tfc_library_end_v0");

#endif /* TFC_ABI_H */
