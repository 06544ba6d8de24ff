/* abi.h as version 9 had it, without its comments: what a library of that
 * version was compiled with. It does not follow abi.h.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef TFC_ABI_H
#define TFC_ABI_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#define TFC_ABI_VERSION 9u
#define TFC_ABI_OLDEST 3u
#define TFC_MODULE_QUERY_SYMBOL "tfc_module_query"
typedef void (*tfc_body_fn)(void *arg, int64_t begin, int64_t end,
                            uint32_t worker);
enum {
  TFC_STATUS_DONE = 0,
  TFC_STATUS_FAULT = 1,
  TFC_STATUS_STOPPED = 2,
  TFC_STATUS_DEVICE = 3
};
enum {
  TFC_DTYPE_F32 = 0,
  TFC_DTYPE_F16 = 1,
  TFC_DTYPE_BF16 = 2,
  TFC_DTYPE_I32 = 3,
  TFC_DTYPE_I8 = 4,
  TFC_DTYPE_I4 = 5
};
typedef struct {
  uint32_t struct_size;
  uint32_t kernel;
  uint32_t grid[3];
  uint32_t n_args;
  void *const *args;
  uint64_t flags;
} tfc_launch_v0;
enum { TFC_LAUNCH_OVERLAPS = 1 };
typedef struct {
  uint32_t struct_size;
  uint32_t n_workers;
  void *ctx;
  int32_t (*parallel_for)(void *ctx, int64_t n, tfc_body_fn body, void *arg);
  void (*tap)(void *ctx, const char *id, int64_t layer, uint32_t dtype,
              const void *data, int64_t rows, int64_t width);
  int32_t (*launch)(void *ctx, const tfc_launch_v0 *launch);
} tfc_host_v0;
enum { TFC_MAX_CACHES = 4 };
typedef struct {
  int32_t first, count, past, keys;
  int32_t cross_count;
  uint32_t flags;
  int32_t adapter;
  int32_t reserved;
  int32_t blocks_at[TFC_MAX_CACHES];
} tfc_sequence_v0;
typedef struct {
  int32_t sequence, first_row;
  int32_t first_range, n_ranges;
} tfc_item_v0;
typedef struct {
  uint64_t struct_size;
  const void *weights;
  void *workspace;
  void *const *caches;
  const int32_t *block_table;
  int64_t n_tokens;
  const void *const *inputs;
  int64_t n_sequences;
  const tfc_sequence_v0 *sequences;
  int64_t n_items;
  const tfc_item_v0 *items;
  int64_t n_rows;
  const int32_t *rows;
  void *const *outputs;
  const tfc_host_v0 *host;
  const void *device_step;
  int64_t n_head_rows;
  const int32_t *head_rows;
  int64_t n_adapters;
  const void *const *adapters;
  int32_t *greatest;
} tfc_step_v0;
enum { TFC_GREATEST_NONE = -1, TFC_GREATEST_NAN = -2 };
typedef struct {
  uint32_t version, oldest;
  const char *name;
  const char *producer;
} tfc_module_header;
enum { TFC_ROWS_TOKENS = 0, TFC_ROWS_WANTED = 1 };
enum {
  TFC_FILL_REQUIRED = 0,
  TFC_FILL_ZERO = 1,
  TFC_FILL_ABSENT = 2,
  TFC_FILL_POSITION = 3,
  TFC_FILL_SHIFTED = 4,
  TFC_FILL_FROM_PAD = 5,
  TFC_FILL_FROM_MASK = 6,
  TFC_FILL_GIVEN = 7,
  TFC_FILL_UNSEEN = 8
};
enum {
  TFC_TAKE_ALL = 0,
  TFC_TAKE_FIRST = 1,
  TFC_TAKE_LAST_NONPAD = 2,
  TFC_TAKE_LAST_EOS = 3,
  TFC_TAKE_FIRST_VISIBLE = 4,
  TFC_TAKE_LAST_VISIBLE = 5,
  TFC_TAKE_FIRST_EOS = 6
};
enum { TFC_ENTRY_DISTANCES = 1, TFC_ENTRY_PREPARE = 2 };
enum {
  TFC_PORT_SQUEEZED = 1,
  TFC_PORT_HEAD_ROWS = 2,
  TFC_PORT_EMBEDS = 4,
  TFC_PORT_GREATEST = 8
};
typedef struct {
  const char *name;
  uint32_t dtype, rows, width, flags;
  uint32_t fill;
  uint32_t take;
  int64_t limit;
} tfc_port_v0;
enum { TFC_CACHE_SELF = 0, TFC_CACHE_CROSS = 1, TFC_CACHE_STATE = 2 };
typedef struct {
  uint32_t role;
  uint32_t dtype;
  uint32_t block_tokens, layers;
  uint64_t block_bytes, layer_bytes;
  int64_t window;
  uint32_t key_width, value_width;
} tfc_cache_v0;
typedef struct {
  const char *name;
  uint32_t n_inputs, n_outputs, n_caches;
  uint32_t query_rows;
  uint32_t flags;
  uint32_t reserved;
  const tfc_port_v0 *inputs, *outputs;
  const tfc_cache_v0 *caches;
  uint64_t (*workspace_bytes)(int64_t tokens, int64_t rows, int64_t sequences,
                              int64_t workers);
  int32_t (*run)(const tfc_step_v0 *step);
} tfc_entry_v0;
enum { TFC_PACK_ROUNDED = 1, TFC_PACK_NOT_FINITE = 2 };
typedef struct {
  const void *data;
  uint32_t dtype;
  uint32_t reserved;
} tfc_stored_v0;
typedef struct {
  uint32_t struct_size;
  uint32_t weight, layer;
  uint32_t n_sources;
  const tfc_stored_v0 *sources;
  void *packed;
  int64_t row_begin, row_end;
  double scale;
  const float *scales;
  const void *zeros;
} tfc_pack_v0;
enum {
  TFC_ISA_X86_64 = 0,
  TFC_ISA_CUDA = 1,
  TFC_ISA_AARCH64 = 2,
  TFC_ISA_RISCV64 = 3
};
enum { TFC_MEMORY_HOST = 0, TFC_MEMORY_DEVICE = 1 };
enum {
  TFC_FEATURE_X86_64_V2 = 1,
  TFC_FEATURE_X86_64_V3 = 2,
  TFC_FEATURE_X86_64_V4 = 4,
  TFC_FEATURE_FAST_AVX512_BF16 = 8,
  TFC_FEATURE_AVX_VNNI = 16,
  TFC_FEATURE_AVX512_VNNI = 32,
  TFC_FEATURE_AMX_BF16 = 64,
  TFC_FEATURE_AMX_INT8 = 128
};
enum {
  TFC_FEATURE_ARM_DOTPROD = 1,
  TFC_FEATURE_ARM_I8MM = 2,
  TFC_FEATURE_ARM_BF16 = 4,
  TFC_FEATURE_ARM_SVE2 = 8
};
enum {
  TFC_FEATURE_RISCV_V = 1,
  TFC_FEATURE_RISCV_ZVL256B = 2,
  TFC_FEATURE_RISCV_ZVL512B = 4
};
#define TFC_FEATURE_CUDA_CAPABILITY UINT64_C(0xffff)
#define TFC_FEATURE_CUDA_EXACT (UINT64_C(1) << 63)
typedef struct {
  const char *name;
  uint32_t block[3];
  uint32_t shared_bytes;
} tfc_kernel_v0;
enum { TFC_IMAGE_CUBIN = 0, TFC_IMAGE_PTX = 1 };
typedef struct {
  uint32_t kind;
  uint32_t arch;
  uint64_t bytes;
  const void *data;
} tfc_image_v0;
typedef struct {
  uint64_t offset, layer_stride, bytes;
} tfc_place_v0;
typedef struct {
  const char *name;
  uint32_t isa, memory;
  uint64_t features;
  uint32_t priority;
  uint32_t dtype;
  uint32_t n_entries, reserved;
  uint64_t packed_bytes;
  const char *layout_tag;
  int32_t (*pack)(const tfc_pack_v0 *pack);
  const tfc_entry_v0 *entries;
  uint32_t n_kernels, n_images, n_places, reserved_count;
  const tfc_kernel_v0 *kernels;
  const tfc_image_v0 *images;
  const tfc_place_v0 *places;
  uint64_t adapter_bytes;
  int32_t (*pack_adapter)(const tfc_pack_v0 *pack);
} tfc_program_v0;
enum {
  TFC_SOURCE_IN_OUT = 1,
  TFC_SOURCE_FILL_ZEROS = 2,
  TFC_SOURCE_STACKED = 4
};
typedef struct {
  const char *const *patterns;
  uint32_t n_patterns, flags;
  uint32_t rank;
  uint32_t dtypes;
  int64_t cols, first_row, stored_rows;
  int64_t row_step, stored_cols;
} tfc_source_v0;
enum { TFC_WEIGHT_TIED = 1, TFC_WEIGHT_ZEROS = 2, TFC_WEIGHT_FLOAT_ZEROS = 4 };
typedef struct {
  const char *name;
  const tfc_source_v0 *sources;
  uint32_t n_sources, flags;
  uint32_t first_layer, layer_step, layers, tied_to;
  int64_t rows, cols;
  uint32_t adapter_rank;
  uint32_t experts;
  uint32_t kept, group;
} tfc_weight_v0;
enum {
  TFC_KIND_ENCODER = 0,
  TFC_KIND_DECODER = 1,
  TFC_KIND_ENCODER_DECODER = 2
};
enum { TFC_EARLY_NO = 0, TFC_EARLY_YES = 1, TFC_EARLY_NEVER = 2 };
typedef struct {
  int64_t forced_bos, forced_eos;
  int64_t min_length, max_length;
  int64_t no_repeat_ngram;
  uint32_t num_beams;
  uint32_t early_stopping;
  uint32_t do_sample;
  uint32_t top_k;
  double temperature, top_p, min_p;
  double length_penalty, repetition_penalty;
  const int64_t *suppress, *begin_suppress;
  uint32_t n_suppress, n_begin_suppress;
} tfc_generation_v0;
typedef struct {
  uint32_t module, generation, weight, source;
  uint32_t program, entry, port, cache;
  uint32_t kernel, image, place, reserved;
} tfc_sizes_v0;
typedef struct {
  tfc_module_header header;
  tfc_sizes_v0 sizes;
  const char *spec_json;
  uint64_t spec_hash;
  uint32_t kind, n_weights, n_programs;
  uint32_t n_prefixes, n_eos, n_aliases;
  int64_t max_positions;
  int64_t pad;
  int64_t bos;
  int64_t decoder_start;
  const int64_t *eos;
  const char *const *prefixes;
  const char *const *aliases;
  const tfc_weight_v0 *weights;
  const tfc_program_v0 *programs;
  const tfc_generation_v0 *generation;
} tfc_module_v0;
typedef const tfc_module_header *(*tfc_module_query_fn)(uint32_t max_version);
#define TFC_FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define TFC_FNV_PRIME UINT64_C(0x100000001b3)
#define TFC_LIBRARY_END_MAGIC "TFC-FNV1"
typedef struct {
  char magic[8];
  uint64_t sum;
} tfc_library_end_v0;
#ifdef __cplusplus
}
#define TFC_ABI_ASSERT static_assert
#else
#define TFC_ABI_ASSERT _Static_assert
#endif
TFC_ABI_ASSERT(sizeof(tfc_host_v0) == 40, "tfc_host_v0");
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
TFC_ABI_ASSERT(sizeof(tfc_source_v0) == 64, "tfc_source_v0");
TFC_ABI_ASSERT(sizeof(tfc_weight_v0) == 72, "tfc_weight_v0");
TFC_ABI_ASSERT(sizeof(tfc_generation_v0) == 120, "tfc_generation_v0");
TFC_ABI_ASSERT(sizeof(tfc_sizes_v0) == 48, "tfc_sizes_v0");
TFC_ABI_ASSERT(sizeof(tfc_module_v0) == 192, "tfc_module_v0");
TFC_ABI_ASSERT(sizeof(tfc_library_end_v0) == 16, "tfc_library_end_v0");
#endif
