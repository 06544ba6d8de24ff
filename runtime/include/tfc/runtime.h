/* The runtime's C API: load a compiled model, run it, generate with it.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Conventions
 *  - A function that can fail returns a tfc_error*: null is success. The caller
 *    frees an error with tfc_error_free. Out-parameters come last and are
 *    written on success only.
 *  - Option and information structs begin with struct_size, which the caller
 *    sets to sizeof the struct it was compiled with; the rest of an option
 *    struct is zero unless wanted otherwise. What a runtime does not know, a
 *    value beyond its own struct or in a reserved field, is INVALID_ARGUMENT:
 *    no option is passed over.
 *  - Elements of arrays (tfc_tensor, tfc_new_token, ...) never grow: what is
 * new comes in arrays beside them.
 *  - Strings are UTF-8 and end with a null byte. Inputs are only read during
 *    the call.
 *  - Thread classes. "Any": may be called from any thread at any time. "One":
 *    one thread at a time for the same handle.
 *  - Callbacks (should_stop, progress, tap, parallel_for, reduce, on_logits,
 * on_token) must return: not throw, not jump out (longjmp), not end their
 * thread, for compiled code, which nothing passes through, may lie beneath
 * them. What C++ throws in one is INVALID_ARGUMENT with its text; the rest is
 *    undefined. Who cancels a thread (pthread_cancel) that is inside a call
 *    ends it behind the call.
 *  - What may be called while another call runs: beside a step of the same
 *    session (of functions without a session, beside any call with the same
 *    model), from another thread; within it, from a callback of that step;
 *    and from a callback of any other call. "refused" is INVALID_ARGUMENT, and
 *    nothing has happened; "nothing": it does nothing, the session is still
 *    there. Calls that run keep the model that they have.
 *
 *      function               beside    within    in other callbacks
 *      tfc_session_step       refused   refused   yes
 *      tfc_session_fork       refused   refused   yes
 *      tfc_session_free       nothing   nothing   yes
 *      tfc_session_add        yes       yes       yes
 *      tfc_session_remove     yes       yes       yes
 *      tfc_session_pause      yes       yes       yes
 *      tfc_session_hold       yes       yes       yes
 *      tfc_session_resume     yes       yes       yes
 *      tfc_session_get_info   yes       yes       yes
 *      tfc_session_create     yes       yes       yes
 *      tfc_encode             yes       yes       yes
 *      tfc_generate           yes       yes       yes
 *      tfc_model_load         yes       yes       yes
 *      tfc_model_free         yes       yes       yes
 *      tfc_model_trim         yes       yes       yes
 *      tfc_model_get_info     yes       yes       yes
 *      tfc_decoding_init      yes       yes       yes
 *      tfc_outputs_*          yes       yes       yes
 *      tfc_error_*            yes       yes       yes
 *      tfc_version            yes       yes       yes
 *      tfc_abi_version        yes       yes       yes
 *      tfc_tokenizer_*        yes       yes       yes
 *      tfc_tokens_*           yes       yes       yes
 *      tfc_text_*             yes       yes       yes
 *
 *  - A child of fork may use what its parent made, unless another thread was
 *    inside a call then.
 *  - Nothing prints, aborts or throws. */
#ifndef TFC_RUNTIME_H
#define TFC_RUNTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TFC_API __attribute__((visibility("default")))
#else
#define TFC_API
#endif

typedef struct tfc_error tfc_error;
typedef struct tfc_model tfc_model;     /* immutable, shared by threads */
typedef struct tfc_session tfc_session; /* sequences that advance together */
typedef struct tfc_outputs tfc_outputs; /* immutable results of one call */

/* ---- Errors -------------------------------------------------------------- */

typedef enum {
  TFC_INVALID_ARGUMENT = 1, /* a value the caller or an input file gave */
  TFC_NOT_FOUND = 2,        /* a file, tensor, symbol or id */
  TFC_INCOMPATIBLE = 3, /* library, weights and machine do not fit together */
  TFC_EXHAUSTED = 4,    /* memory or cache blocks ran out */
  TFC_UNSUPPORTED = 5,  /* this model cannot do it */
  TFC_INTERNAL = 6,     /* a fault of tfc; please report */
  TFC_IO = 7, /* a file that the system cannot read or write: permission, a full
                 disk, a device that fails */
  TFC_CANCELLED = 8 /* the caller's should_stop said so */
} tfc_code;

/* The kind of fault; 0 when error is null. Any. */
TFC_API tfc_code tfc_error_code(const tfc_error *error);
/* What is wrong, one line a fault, lines divided by '\n'; after 50 of them the
 * number of the others. Lives as long as the error; "" when error is null. Any.
 */
TFC_API const char *tfc_error_message(const tfc_error *error);
/* Frees an error; null is allowed. Any. */
TFC_API void tfc_error_free(tfc_error *error);

/* ---- Versions ------------------------------------------------------------ */

/* "0.1.0"; static. Any. */
TFC_API const char *tfc_version(void);
/* The version of abi.h that libraries must have been compiled for. Any. */
TFC_API uint32_t tfc_abi_version(void);

/* ---- How tokens are chosen ----------------------------------------------- */

/* Hugging Face's words, and its meanings. Begin with the model's own, from
 * tfc_decoding_init, and change what is wanted: zeros are not neutral. Lengths
 * count the prompt of a decoder, padding included. Numbers are computed with as
 * floats. */
typedef struct {
  uint64_t struct_size;
  int64_t forced_bos, forced_eos; /* token ids, -1: none: the second token of a
                                     sequence; the last of the longest ones */
  int64_t min_length;             /* no end token before; 0: none */
  int64_t min_new_tokens;         /* the same without the prompt, and instead of
                                     min_length; 0: not given */
  int64_t no_repeat_ngram;        /* n-grams of this size come once; 0: off */
  double repetition_penalty;      /* more than 0; 1: off */
  /* Beam search; 1 beam: the likeliest token, or a drawn one. */
  uint32_t num_beams;            /* 1 to 1024 */
  uint32_t num_return_sequences; /* 1 to 1024; of beams at most all, of the
                                    likeliest tokens 1 */
  uint32_t early_stopping;       /* 0: no, 1: yes, 2: "never" */
  /* Draws: of top_k tokens, 0: of all; of the likeliest ones with top_p
   * together, 1: of all; of those at least min_p times as likely as the
   * likeliest, 0: of all. */
  uint32_t do_sample;
  uint32_t top_k, reserved;
  double length_penalty;
  double temperature, top_p, min_p;
  /* Equal seeds draw equal texts, whatever else is in the batch and however
   * many threads there are. */
  uint64_t seed;
  /* Taken from the logits of tokens that are among the sequence's new ones,
   * behind repetition_penalty: presence_penalty once, frequency_penalty as
   * often as the token is there. 0: off; below 0 the token is wanted more. */
  double presence_penalty, frequency_penalty;
  /* Tokens that never come, and those that do not come first behind the prompt;
   * the model's own live as long as the model. */
  const int64_t *suppress, *begin_suppress;
  uint32_t n_suppress, n_begin_suppress;
  /* Whisper's rule of times, behind all others: tokens from timestamp_begin on
   * are times, in their order, and the one before it, which says that there are
   * none, does not come. A text begins with a time, at most
   * max_initial_timestamp behind the first one (-1: any). Times come in pairs,
   * the end of one part and the begin of the next, or one before the end token;
   * they never go back, and only the second of a pair may be the one before.
   * Where all times together are likelier than every other token, one of them
   * comes. Tokens below the least end token are text. 0: off. */
  int64_t timestamp_begin, max_initial_timestamp;
} tfc_decoding_options;

/* Asked during a call, from the thread that makes it, several times in every
 * layer of the model: nonzero stops the call, which returns CANCELLED. It may
 * look at what another thread writes. */
typedef int (*tfc_stop_fn)(void *user);

/* ---- Models -------------------------------------------------------------- */

/* Receives a named value, [rows, width] f32, valid during the call only. Called
 * during steps of libraries compiled with --taps, from the thread that runs the
 * step; layer counts from 0 in the layers that id names, and is -1 outside the
 * layers. A value of a device is copied for it, which waits for the device. */
typedef void (*tfc_tap_fn)(void *user, const char *id, int64_t layer,
                           int64_t rows, int64_t width, const float *data);

/* Told how far tfc_model_load is: bytes read, summed, packed and written, of
 * those expected, which may become more. Called from the thread that loads,
 * between two tensors or pieces of some megabytes that it does itself; the last
 * time with done equal to total. Nonzero ends the load, which returns
 * CANCELLED; packed weights are written whole or not at all. */
typedef int (*tfc_progress_fn)(void *user, uint64_t done, uint64_t total);

/* A part of a loop: items [begin, end), done by a worker. */
typedef void (*tfc_loop_fn)(void *arg, int64_t begin, int64_t end,
                            uint32_t worker);

/* Runs a loop on threads of the caller: calls body(arg, begin, end, worker) for
 * ranges that together have each item of [0, n) once, and returns when all
 * calls have returned. Workers are below tfc_model_options.threads, and no two
 * calls that run at the same time for one loop have the same. The thread that
 * calls may take part; several threads may call at once, each with a loop of
 * its own, and no body runs another loop. Threads have the default floating
 * point environment (rounding, denormals). */
typedef void (*tfc_parallel_for_fn)(void *user, int64_t n, tfc_loop_fn body,
                                    void *arg);

/* Of a library of ranks (`tfc compile --ranks`): adds up the `count` numbers
 * that each rank has at `values`, (rank 0 + rank 1) + ..., and leaves the sums
 * in their place at every rank, the same bits at each; returns when they are
 * there. Anything but 0 ends the call of the model with INVALID_ARGUMENT.
 * Called from the thread that makes the call, between two loops, equally often
 * and with equal counts at every rank: all of them make the same calls in the
 * same order, one at a time, with the same options, or they wait for each other
 * for ever. */
typedef int (*tfc_reduce_fn)(void *user, float *values, int64_t count);

/* A compiled model that is linked into the program: the function that
 * `tfc compile --emit=archive` names, to be declared by the program, as
 *   const void *tfc_model_tiny_bert(uint32_t max_version);
 * Only the runtime calls it. */
typedef const void *(*tfc_library_fn)(uint32_t max_version);

typedef struct {
  uint64_t struct_size;
  const char *library_path; /* of the compiled model */
  const char *weights_path; /* a Hugging Face folder, .safetensors or .gguf */
  /* A program's name, "cpu" or "cuda" for the best one of that kind, "cuda:1"
   * for that on the device with number 1; null: the best one for this machine,
   * a GPU's before the CPU's. Without a number the device is the one whose
   * number the environment's TFC_DEVICE is, or 0. A process may have models on
   * several devices. */
  const char *program;
  uint32_t threads; /* 0: as many as affinity mask and CPU quota allow */
  uint32_t reserved;
  tfc_tap_fn tap; /* may be null */
  void *tap_user;
  /* A file of packed weights, or null. If it exists it is read, which is faster
   * than packing, and weights_path may be null; otherwise it is written, whole
   * or not at all, and by any number of processes at once. It serves one model,
   * one program and one checkpoint: another one is an error, as is a damaged
   * file. One that the system cannot write (a full disk, a folder that
   * is read-only) is none, for the model is complete:
   * tfc_model_info.packed_fault says why. */
  const char *packed_path;
  /* 1: the file is mapped instead of read, so that processes which do that have
   * one copy of the weights together. From then on nobody may change it until
   * all of them are gone: a change is a change of the model, and a file that
   * shrinks a signal. Replacing it by another file is no change. */
  uint32_t share_packed;
  uint32_t reserved2;
  /* More folders and files of the same checkpoint, beside weights_path or
   * instead of it: their tensors are one set, in which no name is twice. */
  const char *const *weights_paths;
  uint32_t n_weights_paths;
  uint32_t reserved3;
  tfc_progress_fn progress; /* may be null */
  void *progress_user;
  /* Runs all loops of the model, in whatever call, instead of threads of the
   * runtime; `threads` is then how many workers it has, at least 1. A loop that
   * is not run as said is INVALID_ARGUMENT where that can be seen: items or
   * workers that are not there, items that are missing. It lives as long as the
   * model and its sessions. May be null. */
  tfc_parallel_for_fn parallel_for;
  void *parallel_user;
  const void *next; /* null */
  /* Instead of library_path, a model that is linked into the program. */
  tfc_library_fn library;
  /* Of a library of ranks, which of them this is, from 0; it takes its own part
   * of the weights, and packed_path is a file of its own. reduce, which others
   * have null, adds up what ranks have; it lives as long as the model and its
   * sessions. */
  uint32_t rank;
  uint32_t reserved4;
  tfc_reduce_fn reduce;
  void *reduce_user;
} tfc_model_options;

/* Loads a library, finds its weights and packs them. The weight files are not
 * needed afterwards, nor, unless it is shared, is a file of packed weights.
 * Free the model with tfc_model_free; its sessions may live longer. Errors:
 * NOT_FOUND (files, tensors, program), INCOMPATIBLE (not a library of this ABI
 * version, CPU features missing, tensors of other shapes, packed weights of
 * something else), INVALID_ARGUMENT (malformed files), IO (files that are there
 * and cannot be read), EXHAUSTED, CANCELLED. One line a tensor. Any. */
TFC_API tfc_error *tfc_model_load(const tfc_model_options *options,
                                  tfc_model **out);

/* Gives a model up; null is allowed. Its memory is free when its last session
 * and the last call with it are, too. One. */
TFC_API void tfc_model_free(tfc_model *model);

/* Gives back the memory that a model keeps between calls of tfc_encode, as much
 * as its largest batches needed, outputs included; the next call takes what it
 * needs anew. Null is allowed. Any. */
TFC_API void tfc_model_trim(const tfc_model *model);

typedef struct {
  const char *name; /* Hugging Face's */
  uint32_t rank;    /* 2: [batch, length] or [batch, width]; 3: [batch, length,
                       width] */
  int32_t required; /* inputs: must be given */
  int64_t width;    /* 1 for inputs of rank 2 */
  /* Inputs: values are in [0, limit). Of an input of rank 3, which is F32: how
   * many tokens of the model's own come in front of its rows; outputs and
   * attention_mask have columns for these too. */
  int64_t limit;
} tfc_port_info;

typedef struct {
  uint64_t struct_size;
  const char *name;     /* of the model */
  const char *kind;     /* "encoder", "decoder" or "encoder-decoder" */
  const char *producer; /* compiler and version */
  const char *program;  /* in use: "x86-64-v3" */
  const char *spec;     /* the model's canonical spec, JSON */
  uint64_t spec_hash;
  int64_t max_positions; /* longest sequence in tokens; 0: no limit */
  int64_t pad, bos;      /* token ids; -1: none */
  const int64_t *eos;
  uint32_t n_eos;
  int32_t can_generate;
  const tfc_port_info *inputs, *outputs; /* of tfc_encode */
  uint32_t n_inputs, n_outputs;
  uint32_t threads;
  uint32_t reserved;
  uint64_t weight_bytes;          /* packed, in memory */
  uint64_t cache_bytes_per_token; /* of one sequence, rounded up; 0: no cache */
  /* What generation does by default, in the runtime's own version of the
   * struct: to be read, not to be copied (tfc_decoding_init does that). */
  const tfc_decoding_options *decoding;
  /* Of an encoder-decoder, the same for the source; 0 without. */
  uint64_t cross_bytes_per_token;
  /* Why packed_path was not written, one line; null when it was, or when there
   * was no need to. */
  const char *packed_fault;
} tfc_model_info;

/* Describes a model. What the pointers point at lives as long as the model.
 * Errors: INVALID_ARGUMENT. Any. */
TFC_API tfc_error *tfc_model_get_info(const tfc_model *model,
                                      tfc_model_info *info);

/* Writes what generation with this model does by default; decoding->struct_size
 * says how much of it. Errors: INVALID_ARGUMENT. Any. */
TFC_API tfc_error *tfc_decoding_init(const tfc_model *model,
                                     tfc_decoding_options *decoding);

/* ---- Tensors ------------------------------------------------------------- */

typedef enum { TFC_F32 = 0, TFC_I32 = 1, TFC_I64 = 2 } tfc_dtype;

/* A dense row-major array. `data` of inputs need not be aligned. */
typedef struct {
  const char *name;
  uint32_t dtype; /* tfc_dtype */
  uint32_t rank;  /* 1 to 3 */
  int64_t shape[3];
  const void *data;
} tfc_tensor;

/* How many tensors a result has. Any. */
TFC_API uint32_t tfc_outputs_count(const tfc_outputs *outputs);
/* The index-th tensor, in the model's order; lives as long as the result. Null
 * when there is none. Any. */
TFC_API const tfc_tensor *tfc_outputs_get(const tfc_outputs *outputs,
                                          uint32_t index);
/* The tensor of this name, or null. Any. */
TFC_API const tfc_tensor *tfc_outputs_find(const tfc_outputs *outputs,
                                           const char *name);
/* Frees a result; null is allowed. Any. */
TFC_API void tfc_outputs_free(tfc_outputs *outputs);

/* ---- One forward pass ---------------------------------------------------- */

typedef struct {
  uint64_t struct_size;
  /* I32 or I64 tensors [batch, length]: the model's inputs (input_ids, ...),
   * and attention_mask, 1 for tokens that exist. Of an encoder-decoder also
   * decoder_input_ids and decoder_attention_mask, of another length maybe. Of
   * an encoder of pictures or sound, before a decoder too, patches in place of
   * input_ids: F32 [batch, length, width], read until the call returns. */
  const tfc_tensor *inputs;
  uint32_t n_inputs;
  uint32_t n_outputs;
  /* Names of the wanted outputs; null: all. Others are not computed. */
  const char *const *outputs;
  tfc_stop_fn should_stop; /* may be null */
  void *stop_user;
  /* Tokens whose columns outputs over the vocabulary are to have alone, in this
   * order, also twice; the bits of a column stay. Where the program can, others
   * are not computed. 0: all. */
  const int64_t *head_rows;
  uint64_t n_head_rows;
} tfc_encode_options;

/* Runs the model over a batch, as Hugging Face's forward does. Masked tokens
 * cost nothing and are zeros in per-token outputs. Without position_ids,
 * positions are columns. Without decoder_input_ids an encoder-decoder shifts
 * input_ids if Hugging Face's does; the others need them unless only outputs of
 * the encoder are wanted. Outputs are F32, free them with tfc_outputs_free.
 * Errors: INVALID_ARGUMENT (names, shapes, dtypes, ids out of range, a row
 * without a token, more tokens than positions, rows without the end token that
 * an output is taken at; head_rows out of range, or where no wanted output has
 * the vocabulary; a masked token between others where the model counts
 * distances: it has position bias or a window), UNSUPPORTED, EXHAUSTED,
 * CANCELLED. Any: calls run side by side, sharing the process's threads. */
TFC_API tfc_error *tfc_encode(const tfc_model *model,
                              const tfc_encode_options *options,
                              tfc_outputs **out);

/* ---- Generation of a batch ----------------------------------------------- */

/* Receives every new token of a batch: `row` of the prompt, the token, and
 * whether the row ends with it. Nonzero ends the generation early. */
typedef int (*tfc_token_fn)(void *user, int64_t row, int64_t token,
                            int finished);

typedef struct {
  uint64_t struct_size;
  const tfc_tensor *inputs; /* as in tfc_encode; the mask may have padding */
  uint32_t n_inputs;
  int32_t own_eos; /* nonzero: eos replaces the model's list; 0: no eos */
  const int64_t *eos;
  uint32_t n_eos; /* with own_eos, 0: nothing ends a row early */
  uint32_t reserved;
  int64_t max_new_tokens;   /* at least 1; INT64_MAX: no limit but the model's,
                               and 2^31 - 1 tokens with the prompt */
  uint64_t max_cache_bytes; /* 0: as in tfc_session_options */
  const tfc_decoding_options *decoding; /* null: the model's defaults */
  /* May be null. What has been generated when it stops is lost, but for what
   * on_token got; on_token ends a generation with its result. */
  tfc_stop_fn should_stop;
  void *stop_user;
  uint64_t max_drafts;    /* as in tfc_session_options; beams have none */
  const tfc_model *draft; /* the same */
} tfc_generate_options;

/* Generation, as Hugging Face's generate does it: positions count unmasked
 * tokens, a row ends with an end token, finished rows are filled with the pad
 * token (the first end token when the model has none, and with beams also when
 * it is 0). Without a mask, pad tokens in the prompt are masked where generate
 * would mask them. An encoder-decoder encodes each prompt once; its sequences
 * are the decoder's, which begin with the model's decoder_start, put before
 * decoder_input_ids when none of their rows begins with it (and its encoder
 * reads tokens: before a sound's start may be what was said before); its
 * positions are columns, and without a mask nothing is masked. The result has
 * an I64 tensor "sequences" [rows, prompt + new], a row for every prompt and
 * sequence returned for it, those of a prompt together; of beams the best
 * first, and an F32 tensor "sequences_scores" [rows]: the sum of the
 * logarithmic probabilities over the length_penalty-th power of the number of
 * new tokens. out may be null, and so may on_token, which with beams gets all
 * tokens when the search has ended, row by row. Errors: as tfc_encode;
 * INVALID_ARGUMENT when decoding has values that mean nothing, when end tokens
 * are none of the model's, and when the prompt's length and max_new_tokens
 * exceed the model's positions, before the first step; and when a row has no
 * next token, every one being forbidden, or scores that are no numbers (the
 * rows are named, and what was generated is lost, but for what on_token got);
 * INCOMPATIBLE for a token that the model has no embedding for; UNSUPPORTED for
 * a model that cannot generate. Any. */
TFC_API tfc_error *tfc_generate(const tfc_model *model,
                                const tfc_generate_options *options,
                                tfc_token_fn on_token, void *user,
                                tfc_outputs **out);

/* ---- Sessions: continuous batching --------------------------------------- */

typedef uint64_t tfc_sequence_id; /* never 0, never used twice in a session */

/* May change a sequence's n logits, in place, before its next token is chosen.
 * Called from the thread that steps the session, one sequence after the other.
 */
typedef void (*tfc_logits_fn)(void *user, tfc_sequence_id sequence,
                              float *logits, int64_t n);

typedef struct {
  uint64_t struct_size;
  /* 0: half of the memory that the machine and the process's control groups
   * allow, and of the addresses that are left under RLIMIT_AS. */
  uint64_t max_cache_bytes;
  /* Stops a step, to which nothing has happened then: the next one does all of
   * it. May be null. */
  tfc_stop_fn should_stop;
  void *stop_user;
  /* Chunked prefill: tokens of a step at most. A longer prompt goes in over
   * several steps, a piece beside one token of each sequence that generates,
   * whatever their number. Prompts, the oldest first, get at least a quarter of
   * this, and the step is longer where they must. The tokens are the same. 0:
   * every prompt in one step. */
  uint64_t max_step_tokens;
  tfc_logits_fn on_logits; /* may be null */
  void *logits_user;
  const void *next; /* null */
  /* Speculation by prompt lookup: at most so many guesses of a sequence's next
   * tokens, those that came behind the place which its last tokens are like,
   * run in a step beside the token that is known; where the first of them are
   * the tokens that come, the step gives these and one more. A guess is taken
   * only if it is the very token that would have been chosen, drawn ones too,
   * so tokens, log-probabilities and ends are the same. Guesses take no place
   * of others: only in steps of few tokens, where the cache has room, and where
   * enough of a sequence's were right lately. None with on_logits. 0: none, or
   * with `draft` 8. */
  uint64_t max_drafts;
  /* A smaller model that guesses instead, its likeliest tokens; both are
   * decoders. Its ids must mean what the model's mean, or hardly a guess is
   * right; that there are as many is checked. It reads what sequences have
   * said, max_step_tokens of it in a step (0: 256), into a cache of its own for
   * as many tokens. How many guesses there are goes by what they cost, which is
   * taken to be the bytes of its weights to the model's, and by how many were
   * right. The handle may be freed before the session. Null: none. */
  const tfc_model *draft;
} tfc_session_options;

/* Makes a session: sequences that advance together over one cache, whose memory
 * grows with use. options may be null.
 * Errors: UNSUPPORTED (the model cannot generate; it or `draft` is no decoder),
 * INCOMPATIBLE (`draft` has another number of tokens), INVALID_ARGUMENT (less
 * than one block of cache), EXHAUSTED. Any. */
TFC_API tfc_error *tfc_session_create(const tfc_model *model,
                                      const tfc_session_options *options,
                                      tfc_session **out);

/* Frees a session and its sequences; null is allowed. While a step runs it does
 * nothing. One. */
TFC_API void tfc_session_free(tfc_session *session);

/* A list of token ids. */
typedef struct {
  const int64_t *tokens;
  int64_t n_tokens;
} tfc_token_list;

/* What is added to a token's logit. */
typedef struct {
  int64_t token;
  float bias; /* minus infinity forbids it */
  uint32_t reserved;
} tfc_logit_bias;

typedef struct {
  uint64_t struct_size;
  const int64_t *tokens;  /* the prompt, no padding */
  int64_t n_tokens;       /* at least 1 */
  int64_t max_new_tokens; /* as in tfc_generate_options */
  const int64_t *eos;     /* as in tfc_generate_options */
  uint32_t n_eos;
  int32_t own_eos;
  /* Null: the model's defaults, but without beams, which sessions have not. */
  const tfc_decoding_options *decoding;
  /* Of an encoder-decoder, whose source `tokens` are: what the decoder begins
   * with, as in tfc_generate; null: its first token. */
  const int64_t *decoder_tokens;
  int64_t n_decoder_tokens;
  /* The sequence ends with the first of these that its new tokens end with. */
  const tfc_token_list *stops;
  uint32_t n_stops;
  /* Report the likeliest tokens with each new one, and its own probability; at
   * most 1024. 0: no report. */
  uint32_t n_logprobs;
  /* Added before any other change of the logits. */
  const tfc_logit_bias *logit_bias;
  uint64_t n_logit_bias;
  /* So many answers, at most 1024; 0: one. Each is a sequence of its own, of
   * ids that count on from the one given; the prompt is computed and kept once.
   * Number i draws what a request of one answer draws whose index is `index`
   * + i: what row i of tfc_generate's num_return_sequences draws. */
  uint32_t n, index;
  /* 1: when the sequence has ended (not when it failed), its cache is kept for
   * others that begin as it does, until tfc_session_remove. */
  uint32_t keep;
  /* 1: report the prompt's own tokens, too: tfc_step_result.prompts, with
   * n_logprobs of the likeliest, of several answers with the first. Such a
   * prompt goes in by pieces. Of an encoder-decoder the decoder's tokens. */
  uint32_t echo;
  /* A sequence of the session that may begin as this one does; 0: none. The
   * first tokens that are the same are not computed again, nor kept twice. It
   * may be kept, held or generating; where nothing is the same, or it has gone,
   * all is computed. With echo nothing is shared. */
  tfc_sequence_id prefix;
  /* The tokens that may come: for scoring labels and choices. Others have no
   * logits (on_logits sees minus infinity, probabilities are among these), and
   * a step of such sequences alone computes no others where the program can.
   * An answer does not depend on what others ask. Not with echo. 0: all. */
  const int64_t *head_rows;
  uint64_t n_head_rows;
} tfc_request;

/* Adds a sequence; the next step that begins and has room for it takes it in.
 * Errors: INVALID_ARGUMENT (ids out of range, those of eos, stops and head_rows
 * too, more
 * tokens than positions, decoding that means nothing, empty stops, answers
 * beyond 1024); EXHAUSTED (a prompt that the whole cache cannot hold);
 * UNSUPPORTED (several beams or returned sequences; an encoder that reads rows
 * of floats, which tfc_generate takes). Any, also during a step.
 */
TFC_API tfc_error *tfc_session_add(tfc_session *session,
                                   const tfc_request *request,
                                   tfc_sequence_id *out);

typedef enum {
  TFC_RUNNING = 0,
  TFC_ENDED = 1,          /* with an end token */
  TFC_LENGTH_REACHED = 2, /* max_new_tokens */
  TFC_STOPPED = 3,        /* with one of its stops */
  TFC_FAILED = 4          /* without a token: tfc_step_result.faults says why */
} tfc_sequence_state;

typedef struct {
  tfc_sequence_id sequence;
  int64_t token;  /* -1: none, the sequence has failed */
  uint32_t state; /* tfc_sequence_state */
  uint32_t reserved;
} tfc_new_token;

/* Why a sequence has failed. */
typedef enum {
  /* Every token is forbidden: by on_logits, biases or decoding options. */
  TFC_FAULT_NONE_ALLOWED = 1,
  TFC_FAULT_NOT_A_NUMBER = 2, /* a score is a NaN: of on_logits, or the model */
  TFC_FAULT_NO_EMBEDDING = 3, /* the model gave a token that it cannot take */
  TFC_FAULT_NO_ROOM = 4       /* it needs more than the whole cache can hold */
} tfc_fault_reason;

typedef struct {
  tfc_sequence_id sequence;
  int64_t token;   /* of NO_EMBEDDING, otherwise -1 */
  uint32_t reason; /* tfc_fault_reason */
  uint32_t code;   /* tfc_code: what an error of the request alone would have */
} tfc_sequence_fault;

/* What a token was chosen from: natural logarithms of the probabilities that
 * the model gives (its logits as on_logits leaves them, before biases,
 * penalties and temperature). */
typedef struct {
  float chosen; /* the new token's own */
  uint32_t n;   /* of the likeliest tokens, the likeliest first; 0: not asked */
  const int64_t *tokens;
  const float *values;
} tfc_logprobs;

/* How likely a prompt's tokens [first, first + n) were, each behind those
 * before it, by the model alone, whatever on_logits does. The first of all,
 * number 0, is never there. */
typedef struct {
  tfc_sequence_id sequence;
  int64_t first;
  uint64_t n;
  const tfc_logprobs *logprobs; /* n of them */
} tfc_prompt_logprobs;

typedef struct {
  uint64_t struct_size;
  const tfc_new_token *tokens; /* valid until the next step or fork */
  /* 0: the session has no sequence, or no prompt has gone in as a whole: with
   * max_step_tokens, or one that is echoed. With max_drafts a sequence may have
   * several, in order, one behind the other; the last one's state is its. */
  uint64_t n_tokens;
  /* One a token, valid as long; null when no sequence of them asked. */
  const tfc_logprobs *logprobs;
  uint64_t n_sequences; /* that have not ended, paused ones included */
  uint64_t n_paused;    /* of those; steps pass them over */
  /* Of the new tokens those that are none, valid as long. */
  const tfc_sequence_fault *faults;
  uint64_t n_faults;
  /* New sequences that wait, the oldest first: there is no room in the cache
   * for their prompts beside what those need that have begun. None overtakes
   * another. Valid as long. */
  const tfc_sequence_id *waiting;
  uint64_t n_waiting;
  /* What is told of prompts that are echoed, a piece each; valid as long. */
  const tfc_prompt_logprobs *prompts;
  uint64_t n_prompts;
  uint64_t n_held; /* of those that are paused: with their cache */
} tfc_step_result;

/* One call of the compiled model over all sequences: whole prompts of new ones
 * and one token of the others, together. Every sequence gets its next token
 * (drawn, or the likeliest, the lowest id among equals). Finished sequences
 * leave the session with this step, and their cache is free; so do those that
 * have no next token, or can never have room, which harms no other. Errors:
 * EXHAUSTED (no cache block or memory is left for those that have begun, or
 * for anybody; nothing has happened, pause or remove a sequence and try again),
 * INVALID_ARGUMENT (called from a callback of the step; a callback that throws,
 * lent threads that do not run loops as said: nothing has happened), CANCELLED
 * (nothing has happened), INTERNAL. One. */
TFC_API tfc_error *tfc_session_step(tfc_session *session, tfc_step_result *out);

/* Takes a sequence out before its end and frees its cache; during a step, at
 * the end of the step, which may still report a token of it. Of one that has
 * ended and is kept, frees the cache. Errors: NOT_FOUND (no such sequence, or
 * it has finished). Any. */
TFC_API tfc_error *tfc_session_remove(tfc_session *session,
                                      tfc_sequence_id sequence);

/* Preemption: gives a sequence's part of the KV cache back, but for what others
 * share with it; it stays in the session, and steps pass it over until it is
 * resumed. During a step, at
 * the end of the step, which may still report a token of it, its last one too.
 * Pausing one that is paused changes nothing. Errors: NOT_FOUND (no such
 * sequence, or it has finished), EXHAUSTED. Any. */
TFC_API tfc_error *tfc_session_pause(tfc_session *session,
                                     tfc_sequence_id sequence);

/* Steps pass a sequence over until it is resumed, and its cache stays: for one
 * that has to wait for something. During a step, at the end of the step, as
 * tfc_session_pause, which may follow and takes the cache, too. Holding one
 * that is held or paused changes nothing. Errors: as tfc_session_pause. Any. */
TFC_API tfc_error *tfc_session_hold(tfc_session *session,
                                    tfc_sequence_id sequence);

/* A paused or held sequence goes on with the next step that begins and has room
 * for it, with the tokens that it would have had otherwise: keys and values
 * that are gone are computed again, from its prompt and its new tokens, as
 * those of a prompt of that length. Resuming one that is neither changes
 * nothing. Errors: NOT_FOUND, EXHAUSTED. Any. */
TFC_API tfc_error *tfc_session_resume(tfc_session *session,
                                      tfc_sequence_id sequence);

typedef struct {
  uint64_t struct_size;
  /* How the new sequence's tokens are chosen; null: as those of the other. With
   * the same seed both draw the same. */
  const tfc_decoding_options *decoding;
} tfc_fork_options;

/* Adds a sequence that goes on where another one is, and ends as it would:
 * several answers to one prompt. Not while a step runs. Both share what is in
 * the cache; a block is copied when they come to differ in it. What a paused
 * one would have there the new one, which is not paused, computes anew, and so
 * does one of several answers that has no token yet. options may be null.
 * Errors: NOT_FOUND, INVALID_ARGUMENT, UNSUPPORTED, as for
 * tfc_session_add. One. */
TFC_API tfc_error *tfc_session_fork(tfc_session *session,
                                    tfc_sequence_id sequence,
                                    const tfc_fork_options *options,
                                    tfc_sequence_id *out);

typedef struct {
  uint64_t struct_size;
  uint64_t n_sequences; /* that have not ended, paused ones included */
  /* Of keys and values, those of sources included: bytes in blocks that
   * sequences have, a shared one counted once; and the most there can be. */
  uint64_t cache_bytes, max_cache_bytes;
  uint64_t n_paused;
  uint64_t n_held; /* of those: with their cache */
  uint64_t n_kept; /* that have ended, and whose cache is kept */
  /* With max_drafts, since the beginning: tokens that were guessed, and those
   * of them that came. */
  uint64_t drafted_tokens, accepted_tokens;
} tfc_session_info;

/* Describes a session; while a step runs, with the cache as it was before.
 * Errors: INVALID_ARGUMENT. Any. */
TFC_API tfc_error *tfc_session_get_info(const tfc_session *session,
                                        tfc_session_info *info);

#ifdef __cplusplus
}
#endif

#endif /* TFC_RUNTIME_H */
