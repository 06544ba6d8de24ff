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
 * R = rows wanted, B = sequences. Arrays are row-major and not padded.
 *
 * Structs grow at their end: a table says how large its elements are, what the
 * host lends begins with its size, and a field that is not there counts as
 * zero. So hosts and libraries of different versions work together; docs/abi.md
 * says which. */
#ifndef TFC_ABI_H
#define TFC_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TFC_ABI_VERSION 10u
/* The oldest version of a library that a host of this version runs. */
#define TFC_ABI_OLDEST 3u
#define TFC_MODULE_QUERY_SYMBOL "tfc_module_query"

/* ---- What the host lends ------------------------------------------------ */

/* One piece of parallel work: items [begin, end), done by `worker`, which is
 * below n_workers; no two running bodies have the same worker. */
typedef void (*tfc_body_fn)(void *arg, int64_t begin, int64_t end,
                            uint32_t worker);

/* What an entry returns: its own fault, or what the host told it. */
enum {
  TFC_STATUS_DONE = 0,
  TFC_STATUS_FAULT = 1,   /* of the compiled code */
  TFC_STATUS_STOPPED = 2, /* the host wants no more of this step */
  TFC_STATUS_DEVICE = 3   /* the device failed; the host has its message */
};

/* Kinds of numbers. */
enum {
  TFC_DTYPE_F32 = 0,
  TFC_DTYPE_F16 = 1,
  TFC_DTYPE_BF16 = 2,
  TFC_DTYPE_I32 = 3,
  /* Since version 6. Four bits are stored as bytes, in [-8, 7]. */
  TFC_DTYPE_I8 = 4,
  TFC_DTYPE_I4 = 5
};

/* A kernel of a device's program, to be run on a grid of blocks. Launches of a
 * step run in order, each after the one before has written its results; what
 * they compute is there when the entry has returned and the host has waited. */
typedef struct {
  uint32_t struct_size; /* of the library's version of this struct */
  uint32_t kernel;      /* number in the program's table */
  uint32_t grid[3];     /* blocks, each at least 1 */
  uint32_t n_args;
  /* Where the kernel's parameters lie, by value; read before launch returns. */
  void *const *args;
  uint64_t flags; /* TFC_LAUNCH_*; 0 where struct_size ends before it */
} tfc_launch_v0;

enum {
  /* The kernel waits by itself for the one in front of it (griddepcontrol), and
   * may begin before that has ended (programmatic stream serialization). A host
   * need not see to that. */
  TFC_LAUNCH_OVERLAPS = 1
};

typedef struct {
  uint32_t struct_size; /* of the host's version of this struct */
  uint32_t n_workers;   /* at least 1 */
  void *ctx;
  /* Runs body over [0, n), cut as the host likes; returns when all is done.
   * Anything but 0: not all of it was done, and the entry returns that status
   * at once. */
  int32_t (*parallel_for)(void *ctx, int64_t n, tfc_body_fn body, void *arg);
  /* Reports a named value, [rows, width] of TFC_DTYPE_* numbers, valid during
   * the call. Only libraries compiled with --taps call it; may be null. `layer`
   * counts from 0 in the layers that `id` names, and is -1 outside the
   * layers. */
  void (*tap)(void *ctx, const char *id, int64_t layer, uint32_t dtype,
              const void *data, int64_t rows, int64_t width);
  /* Of programs whose memory is a device's, which do not call parallel_for. As
   * there, anything but 0 is returned by the entry at once. Null for others. */
  int32_t (*launch)(void *ctx, const tfc_launch_v0 *launch);
  /* Since version 10, of libraries of ranks: adds up the `count` numbers that
   * each rank has at `values`, (rank 0 + rank 1) + ..., and leaves the sums in
   * their place at every rank. Called by the thread that runs the entry,
   * between two loops. As there, anything but 0 is returned by the entry at
   * once. Null for others. */
  int32_t (*reduce)(void *ctx, float *values, int64_t count);
} tfc_host_v0;

/* ---- One call of an entry ----------------------------------------------- */

/* Most caches that an entry has. */
enum { TFC_MAX_CACHES = 4 };

/* A sequence of the step. Its new tokens are rows [first, first + count) of
 * every activation; they are written to its cache at positions
 * [past, past + count), block_tokens positions to a block. Its i-th block in
 * the entry's cache c is number step->block_table[blocks_at[c] + i] of that
 * cache. Blocks that lie behind a cache's window, as a whole, for every new
 * token are not looked at, whatever their number. Of a cache of states two
 * numbers stand there: the block that is read, -1 being a state of zeros, and
 * the one that is written.
 *
 * Query t of the sequence (0 <= t < count) sees the first
 *   min(keys, past + t + 1)  positions when attention is causal,
 *   keys                     positions when it is bidirectional;
 * normally keys = past + count. A smaller keys makes the tokens at and beyond
 * it spectators: they see, and nobody sees them, which is how a row is computed
 * for a token that the attention mask hides. keys is at least 1. */
typedef struct {
  int32_t first, count, past, keys;
  int32_t cross_count; /* positions in a cross cache; 0 without one */
  uint32_t flags;      /* 0 */
  int32_t adapter;     /* 0: none; i: step->adapters[i - 1] */
  int32_t reserved;
  int32_t blocks_at[TFC_MAX_CACHES];
} tfc_sequence_v0;

/* A work item of attention: query_rows tokens of `sequence` from first_row on
 * (relative to the sequence's first token), fewer at its end. Any order gives
 * the same bits; longest first keeps the workers busy. */
typedef struct {
  int32_t sequence, first_row;
  /* Stretches of keys that it reads; 0, 0: those that its sequence says. */
  int32_t first_range, n_ranges;
} tfc_item_v0;

/* Of a program whose memory is a device's, weights, workspace, caches,
 * block_table, sequences, items, rows and what inputs and outputs point at are
 * addresses of the device, which the entry passes on and never follows. This
 * struct, and the arrays caches, inputs and outputs themselves, are the host's;
 * device_step is a copy of all of them in the device's memory. */
typedef struct {
  uint64_t struct_size; /* of the host's version of this struct */
  const void *weights;  /* packed, aligned to 64 bytes; "prepare" writes */
  void *workspace;      /* workspace_bytes(...) bytes, aligned to 64 bytes */
  void *const *caches;  /* where block 0 of each of the entry's caches lies */
  const int32_t *block_table;
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
  /* This step where the program's memory is: itself on a CPU. host is null in a
   * device's copy. */
  const void *device_step;
  /* Since version 4, all 0 unless the library has a use for them. Outputs that
   * are TFC_PORT_HEAD_ROWS have these columns alone, in this order, once or
   * several times; 0: all of them. */
  int64_t n_head_rows;
  const int32_t *head_rows;
  int64_t n_adapters;
  const void *const *adapters; /* packed, aligned to 64 bytes */
  /* Since version 8. Of the output that is TFC_PORT_GREATEST, which is wanted
   * then, too: an int32_t a row, the first of the columns with its greatest
   * number, or a TFC_GREATEST_*. Null = not wanted, not computed. */
  int32_t *greatest;
} tfc_step_v0;

/* Of a row without a greatest number that may be told. */
enum {
  TFC_GREATEST_NONE = -1, /* all are minus infinity */
  TFC_GREATEST_NAN = -2   /* one is a NaN */
};

/* ---- What a library says of itself -------------------------------------- */

typedef struct {
  /* TFC_ABI_VERSION that it was built for, and that of the oldest host that it
   * needs. These stay the first fields. */
  uint32_t version, oldest;
  const char *name;     /* of the model, as in the spec */
  const char *producer; /* "tfc 0.1.0" */
} tfc_module_header;

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
  TFC_FILL_SHIFTED = 4,
  /* pad, plus the number of the row's ids up to the token's that are not the
   * pad token; pad alone at one that is. Of an encoder or an encoder-decoder;
   * what generates counts on by columns, from pad + 1 on. */
  TFC_FILL_FROM_PAD = 5,
  /* The number of unmasked tokens before it; -1 at a masked one, which only a
   * forward pass can ask for. */
  TFC_FILL_FROM_MASK = 6,
  /* Since version 7, of the input_ids of an encoder with TFC_PORT_EMBEDS, which
   * the caller never gives: 0 to limit - 1 (none where that is 0) in a row's
   * first columns, then -1 - r for each row r of that port in turn. */
  TFC_FILL_GIVEN = 7,
  /* Since version 8, of an encoder with TFC_ENTRY_DISTANCES, limit 2: 0. Tokens
   * for which it is 1 are seen by none, themselves included, and of each row
   * the caller leaves one at least that is 0. */
  TFC_FILL_UNSEEN = 8
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
  TFC_TAKE_LAST_EOS = 3,
  TFC_TAKE_FIRST_VISIBLE = 4, /* the first column that the mask leaves */
  TFC_TAKE_LAST_VISIBLE = 5,  /* the last one */
  /* Since version 7: the column of the first end token, which every row must
   * have. Of an entry that is alone. */
  TFC_TAKE_FIRST_EOS = 6
};

/* An entry's flag: results depend on the distance of two tokens, not only on
 * the positions that an input gives (position bias, windows, slopes). The entry
 * takes neighbours of a sequence for neighbours in the caller's row, so the
 * host gives it no sequence from whose middle the attention mask takes tokens.
 */
enum {
  TFC_ENTRY_DISTANCES = 1,
  /* Since version 9. Of "prepare": what it writes to are weights. */
  TFC_ENTRY_PREPARE = 2
};

enum {
  TFC_PORT_SQUEEZED = 1, /* width 1, and the result drops that axis */
  /* Since version 4. An output whose columns are a vocabulary's rows, which
   * heeds step->head_rows. */
  TFC_PORT_HEAD_ROWS = 2,
  /* Since version 7. An input of TFC_DTYPE_F32, `width` columns: the rows that
   * tokens have in place of one of their table. A token whose id is -1 - r has
   * row r, and there is one row at least. */
  TFC_PORT_EMBEDS = 4,
  /* Since version 8. An output of rows WANTED, at most one of an entry, which
   * heeds step->greatest. Not with TFC_PORT_HEAD_ROWS. */
  TFC_PORT_GREATEST = 8
};

typedef struct {
  const char *name; /* Hugging Face's */
  uint32_t dtype, rows, width, flags;
  uint32_t fill; /* inputs: TFC_FILL_* */
  uint32_t take; /* outputs with TFC_ROWS_WANTED: TFC_TAKE_* */
  int64_t limit; /* inputs: every value is in [0, limit) */
} tfc_port_v0;

/* What a cache holds: the sequence's own keys and values, those of an
 * encoder-decoder's source, or, since version 4, what stands for all tokens
 * before: a block is a sequence's whole state, and block_tokens is 0. */
enum { TFC_CACHE_SELF = 0, TFC_CACHE_CROSS = 1, TFC_CACHE_STATE = 2 };

/* A cache is blocks, each of which holds block_tokens positions of all the
 * cache's layers, keys and values; what lies where inside is the program's own
 * business. An encoder's block is scratch: one layer, used by all layers in
 * turn. */
typedef struct {
  uint32_t role;  /* TFC_CACHE_* */
  uint32_t dtype; /* of keys and values */
  uint32_t block_tokens, layers;
  uint64_t block_bytes, layer_bytes;
  /* A token sees no further back than so many positions, itself included, in
   * any layer of the cache; 0: no limit. */
  int64_t window;
  /* Since version 4: the numbers of a position and layer that are keys, and
   * values; 0 values: they are the last of the keys. 0, 0: as many of each. */
  uint32_t key_width, value_width;
} tfc_cache_v0;

/* "encode" runs an encoder, "step" a decoder. An encoder-decoder has both:
 * "encode" writes each decoder layer's keys and values of the source into the
 * cross cache (past = 0, cross_count = count, from position 0), and "step"
 * reads them; the geometry of their cross caches is the same. Its outputs have
 * a row a token. Ports: input_ids and position_ids, decoder_input_ids and
 * decoder_position_ids.
 *
 * Since version 9 a program of the host's memory may have "prepare" as well,
 * which is TFC_ENTRY_PREPARE and has no ports and no caches. It computes packed
 * weights that no tensor stores from those that are packed: the host runs it
 * once when it has packed all of them, with a step of no tokens, before it
 * saves them and before any other entry. */
typedef struct {
  const char *name;
  uint32_t n_inputs, n_outputs, n_caches;
  uint32_t query_rows; /* of a work item of attention */
  uint32_t flags;      /* TFC_ENTRY_* */
  uint32_t reserved;
  const tfc_port_v0 *inputs, *outputs;
  const tfc_cache_v0 *caches; /* at most one of each role */
  /* Bytes for T tokens, R rows, B sequences and `workers` workers. */
  uint64_t (*workspace_bytes)(int64_t tokens, int64_t rows, int64_t sequences,
                              int64_t workers);
  /* TFC_STATUS_*. It checks nothing: the host has checked every value. */
  int32_t (*run)(const tfc_step_v0 *step);
} tfc_entry_v0;

/* What pack returns beside 0: it is packed, but stored values were rounded to
 * what the library keeps, which it was not compiled to do; or there is a NaN or
 * an infinity among them, and the library keeps integers. */
enum { TFC_PACK_ROUNDED = 1, TFC_PACK_NOT_FINITE = 2 };

/* A stored tensor, as in its file: not aligned. */
typedef struct {
  const void *data;
  uint32_t dtype; /* F32, F16 or BF16; since version 6 what the weight is kept
                   * in too, where that is I8 or I4 */
  uint32_t reserved;
} tfc_stored_v0;

/* Rows [row_begin, row_end) of one (weight, layer) to pack: `sources` are the
 * whole tensors that the weight's sources name, `packed` is the start of the
 * whole packed area. Calls for different rows may run at the same time. */
typedef struct {
  uint32_t struct_size;   /* of the host's version of this struct */
  uint32_t weight, layer; /* indices: of the weight table, from 0 */
  uint32_t n_sources;
  const tfc_stored_v0 *sources;
  void *packed;
  int64_t row_begin, row_end; /* of the weight's rows */
  /* Since version 4, of pack_adapter: what the product of both is times. */
  double scale;
  /* Since version 6, of a source of I8 or I4, whose data is not the whole
   * tensor but these rows alone, [rows, cols] bytes: an integer is itself minus
   * its zero point, times its scale. Both are [rows, groups], a number for each
   * of the weight's groups of columns, or where it has none for each row. The
   * zero points are int8_t in [-8, 7], and 0 where the weight is not
   * TFC_WEIGHT_ZEROS. Where it is TFC_WEIGHT_FLOAT_ZEROS they are float: an
   * integer is itself plus 8, times its scale, minus its zero. */
  const float *scales;
  const void *zeros;
} tfc_pack_v0;

/* What a program's instructions are. Hosts pass over those that they do not
 * know. */
enum {
  TFC_ISA_X86_64 = 0,
  TFC_ISA_CUDA = 1,
  TFC_ISA_AARCH64 = 2,
  TFC_ISA_RISCV64 = 3
};

/* Where a program's pointers point. */
enum { TFC_MEMORY_HOST = 0, TFC_MEMORY_DEVICE = 1 };

/* What a program of x86-64 needs: bits of its microarchitecture levels, each of
 * which has those before it, and of what a machine is fast at. A host does not
 * take a program with a bit that it does not know. */
enum {
  TFC_FEATURE_X86_64_V2 = 1,
  TFC_FEATURE_X86_64_V3 = 2,
  TFC_FEATURE_X86_64_V4 = 4,
  /* Products of pairs of bf16 (AVX512_BF16), at twice the rate of f32. */
  TFC_FEATURE_FAST_AVX512_BF16 = 8,
  /* Products of four bytes at once, in vectors of 256 or 512 bits. */
  TFC_FEATURE_AVX_VNNI = 16,
  TFC_FEATURE_AVX512_VNNI = 32,
  /* Products of tiles (AMX), of bf16 and of bytes; the host asks its system for
   * their registers. */
  TFC_FEATURE_AMX_BF16 = 64,
  TFC_FEATURE_AMX_INT8 = 128
};

/* What a program of aarch64 needs beyond ARMv8.0-A: bits of their own, which
 * mean this where `isa` says so. 0: any 64-bit Arm. */
enum {
  TFC_FEATURE_ARM_DOTPROD = 1, /* products of four bytes at once */
  TFC_FEATURE_ARM_I8MM = 2,    /* products of matrices of bytes */
  TFC_FEATURE_ARM_BF16 = 4,    /* products of bf16, of pairs and of matrices */
  TFC_FEATURE_ARM_SVE2 = 8
};

/* What a program of riscv64 needs beyond RV64GC: bits of their own, too. The
 * vector extension, version 1.0, and the fewest bits of its registers. */
enum {
  TFC_FEATURE_RISCV_V = 1,       /* 128 */
  TFC_FEATURE_RISCV_ZVL256B = 2, /* 256 */
  TFC_FEATURE_RISCV_ZVL512B = 4  /* 512 */
};

/* What a CUDA program needs: the compute capability, 10 x major + minor, at
 * least, or exactly that one. */
#define TFC_FEATURE_CUDA_CAPABILITY UINT64_C(0xffff)
#define TFC_FEATURE_CUDA_EXACT (UINT64_C(1) << 63)

/* A function that a device runs. */
typedef struct {
  const char *name;  /* in the program's images */
  uint32_t block[3]; /* threads of a block */
  uint32_t shared_bytes;
} tfc_kernel_v0;

/* Forms of a device's code: a binary for one architecture, or text that the
 * driver compiles. */
enum { TFC_IMAGE_CUBIN = 0, TFC_IMAGE_PTX = 1 };

/* All kernels of a program in one form. PTX ends with a null byte, which bytes
 * counts. */
typedef struct {
  uint32_t kind; /* TFC_IMAGE_* */
  uint32_t arch; /* compute capability that it was made for, as above */
  uint64_t bytes;
  const void *data;
} tfc_image_v0;

/* Where a weight lies, packed: layer i has `bytes` bytes from
 * offset + i x layer_stride on, and nothing else lies there. Of a weight of
 * experts those are all experts of the layer. */
typedef struct {
  uint64_t offset, layer_stride, bytes;
} tfc_place_v0;

/* The model's code for one kind of machine. */
typedef struct {
  const char *name; /* "x86-64-v3" */
  uint32_t isa, memory;
  uint64_t features; /* all of them are needed */
  uint32_t priority; /* of those that the machine runs, the highest is taken */
  uint32_t dtype;    /* what its products multiply */
  uint32_t n_entries, reserved;
  uint64_t packed_bytes;
  const char *layout_tag; /* of the packed weights; equal tags, equal bytes */
  int32_t (*pack)(const tfc_pack_v0 *pack); /* 0, TFC_PACK_* */
  const tfc_entry_v0 *entries;
  /* Of a program whose memory is a device's; none of others. pack is the
   * host's code all the same: it writes to the host's memory, from where the
   * host copies the places, one for each weight of the library. */
  uint32_t n_kernels, n_images, n_places, reserved_count;
  const tfc_kernel_v0 *kernels;
  const tfc_image_v0 *images; /* the host takes the first that loads */
  const tfc_place_v0 *places;
  /* Since version 4, of a library that takes adapters: bytes of one, packed,
   * and the function that packs it. Its sources are A [rank, cols] and
   * B [rows, rank] of the weight; the weight is used as W + scale x B A. */
  uint64_t adapter_bytes;
  int32_t (*pack_adapter)(const tfc_pack_v0 *pack);
} tfc_program_v0;

enum {
  TFC_SOURCE_IN_OUT = 1,     /* stored [in, out] (Conv1D), used as [out, in] */
  TFC_SOURCE_FILL_ZEROS = 2, /* zeros when no tensor has one of its names */
  /* Since version 5, of a weight of experts: a layer's are in one tensor, one
   * after the other, an axis in front of the others. */
  TFC_SOURCE_STACKED = 4,
  /* Since version 10: rank 0 has it, of the others it is zeros, as of a weight
   * that no tensor stores. */
  TFC_SOURCE_FIRST_RANK = 8
};

/* Where a parameter, or a part of it, is stored: the tensor named by the first
 * pattern that exists, with {p} = the file set's prefix, {i} = the layer's
 * number and {e} = the expert's. The stored tensor has the shape
 *   [stored_rows, cols], or [cols, stored_rows] with IN_OUT,
 * or [stored_rows] when rank is 1 (then cols = 1), axes of length 1 in front
 * being ignored; what is read are its rows from first_row on. Since version 6
 * the experts of a STACKED matrix may lie one below the other instead, [experts
 * x stored_rows, cols] or with IN_OUT [experts x cols, stored_rows]. */
typedef struct {
  const char *const *patterns;
  uint32_t n_patterns, flags; /* flags: TFC_SOURCE_* */
  uint32_t rank;
  uint32_t dtypes; /* bits 1 << TFC_DTYPE_*: those that pack reads */
  int64_t cols, first_row, stored_rows;
  /* Since version 6. Rows are so far apart, those between being others'; 0: 1.
   * The stored tensor has so many columns, of which the first `cols` are read;
   * 0: cols. */
  int64_t row_step, stored_cols;
  /* Since version 10, of a library of ranks: of `rank_parts` parts (0: 1) rank
   * r has number r x rank_parts / ranks. What is said above is where part 0 is;
   * each part is so many stored rows, or columns, behind the one before. What
   * `pack` is given are the stored tensor's bytes from so far on as the rank's
   * part is behind part 0. */
  int64_t rank_parts, rank_rows, rank_cols;
} tfc_source_v0;

enum {
  TFC_WEIGHT_TIED = 1, /* not packed: if stored, it must equal weight tied_to */
  /* Since version 6. Of a weight that is kept as integers of four bits: its
   * groups have zero points, or zeros that are floats. */
  TFC_WEIGHT_ZEROS = 2,
  TFC_WEIGHT_FLOAT_ZEROS = 4,
  /* Since version 10. Of such a weight: its scales, and zeros that are floats,
   * are kept in 16 bits. pack returns TFC_PACK_ROUNDED, whatever it was
   * compiled to do, where those of a source of I4, or of a group that is
   * rounded, are not held by them. */
  TFC_WEIGHT_HALF_SCALES = 8
};

/* A parameter. The number of its layer i (0 <= i < layers) is
 * first_layer + i x layer_step. Where it has experts, i counts those of all
 * layers: it is of expert i % experts, and the layer's number is
 * first_layer + i / experts x layer_step. */
typedef struct {
  const char *name; /* canonical, as in the spec */
  const tfc_source_v0 *sources;
  uint32_t n_sources, flags; /* flags: TFC_WEIGHT_* */
  uint32_t first_layer, layer_step, layers, tied_to;
  int64_t rows, cols;
  /* Since version 4: the greatest rank that an adapter of it may have; 0: it
   * takes none. */
  uint32_t adapter_rank;
  /* Since version 5: of a layer; 0: it is none of experts. */
  uint32_t experts;
  /* Since version 6, where its integers can be packed as they are: what they
   * are kept in, I8 or I4, and how many columns a group has; of I8 0: all of a
   * row. 0, 0: floats. */
  uint32_t kept, group;
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
  /* Since version 7. Tokens that never come, and those that are not the first
   * new one. */
  const int64_t *suppress, *begin_suppress;
  uint32_t n_suppress, n_begin_suppress;
} tfc_generation_v0;

/* Bytes of an element of each table of a library: what lies from one to the
 * next, and how much of it the library knows. */
typedef struct {
  uint32_t module, generation, weight, source;
  uint32_t program, entry, port, cache;
  uint32_t kernel, image, place, reserved;
} tfc_sizes_v0;

typedef struct {
  tfc_module_header header;
  tfc_sizes_v0 sizes;
  const char *spec_json; /* the canonical spec, without spaces */
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
  /* Since version 10: how many processes, or threads, share the model, each
   * with this library and parts of the weights of its own; 0: one, with all. */
  uint32_t ranks, reserved;
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

TFC_ABI_ASSERT(sizeof(tfc_host_v0) == 48, "tfc_host_v0");
TFC_ABI_ASSERT(sizeof(tfc_launch_v0) == 40, "tfc_launch_v0");
TFC_ABI_ASSERT(sizeof(tfc_kernel_v0) == 24, "tfc_kernel_v0");
TFC_ABI_ASSERT(sizeof(tfc_image_v0) == 24, "tfc_image_v0");
TFC_ABI_ASSERT(sizeof(tfc_place_v0) == 24, "tfc_place_v0");
TFC_ABI_ASSERT(sizeof(tfc_sequence_v0) == 48, "tfc_sequence_v0");
TFC_ABI_ASSERT(sizeof(tfc_item_v0) == 16, "tfc_item_v0");
TFC_ABI_ASSERT(sizeof(tfc_step_v0) == 168, "tfc_step_v0");
TFC_ABI_ASSERT(sizeof(tfc_port_v0) == 40, "tfc_port_v0");
TFC_ABI_ASSERT(sizeof(tfc_cache_v0) == 48, "tfc_cache_v0");
TFC_ABI_ASSERT(sizeof(tfc_entry_v0) == 72, "tfc_entry_v0");
TFC_ABI_ASSERT(sizeof(tfc_stored_v0) == 16, "tfc_stored_v0");
TFC_ABI_ASSERT(sizeof(tfc_pack_v0) == 72, "tfc_pack_v0");
TFC_ABI_ASSERT(sizeof(tfc_program_v0) == 128, "tfc_program_v0");
TFC_ABI_ASSERT(sizeof(tfc_source_v0) == 88, "tfc_source_v0");
TFC_ABI_ASSERT(sizeof(tfc_weight_v0) == 72, "tfc_weight_v0");
TFC_ABI_ASSERT(sizeof(tfc_generation_v0) == 120, "tfc_generation_v0");
TFC_ABI_ASSERT(sizeof(tfc_sizes_v0) == 48, "tfc_sizes_v0");
TFC_ABI_ASSERT(sizeof(tfc_module_v0) == 200, "tfc_module_v0");
TFC_ABI_ASSERT(sizeof(tfc_library_end_v0) == 16, "tfc_library_end_v0");

#endif /* TFC_ABI_H */
