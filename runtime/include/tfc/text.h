/* The runtime's C API for text: tokenizers, as Hugging Face's `tokenizers` runs
 * their files. The conventions are those of tfc/runtime.h.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A file is run as it is written. What it says of truncation and padding is
 * left to the caller, and a part that is not known is an error, never passed
 * over. */
#ifndef TFC_TEXT_H
#define TFC_TEXT_H

#include "tfc/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tfc_tokenizer tfc_tokenizer; /* immutable, shared by threads */
typedef struct tfc_tokens tfc_tokens;       /* immutable results of one call */
typedef struct tfc_text tfc_text;           /* one text */
typedef struct tfc_text_stream tfc_text_stream; /* one thread at a time */

/* ---- Tokenizers ---------------------------------------------------------- */

/* Reads a tokenizer.json or a GGUF file; or a folder that has the former, or
 * else a vocabulary (vocab.txt, vocab.json with merges.txt, a model of
 * sentencepiece) and, where that says something of it, a tokenizer_config.json.
 * Free the tokenizer with tfc_tokenizer_free, after its streams. Errors:
 * NOT_FOUND, IO, INVALID_ARGUMENT (a file that is no tokenizer), UNSUPPORTED (a
 * part that this runtime has not, a tokenizer_class that it does not know);
 * they name the file and, by a JSON pointer, the place. Any. */
TFC_API tfc_error *tfc_tokenizer_load(const char *path, tfc_tokenizer **out);

/* Frees a tokenizer; null is allowed. No stream of it may exist. One. */
TFC_API void tfc_tokenizer_free(tfc_tokenizer *tokenizer);

/* One more than the greatest id. A model's embedding must have as many rows,
 * and may have more. Any. */
TFC_API int64_t tfc_tokenizer_limit(const tfc_tokenizer *tokenizer);

/* The text of a token in the vocabulary, which is not the text that it stands
 * for ("##ing", "\xc4\xa0the"); null when no token has this id. Lives as long
 * as the tokenizer. Any. */
TFC_API const char *tfc_tokenizer_token(const tfc_tokenizer *tokenizer,
                                        int64_t id);

/* The id of such a text, or -1. Any. */
TFC_API int64_t tfc_tokenizer_find(const tfc_tokenizer *tokenizer,
                                   const char *token);

/* ---- Text to tokens ------------------------------------------------------ */

typedef enum {
  TFC_CHARACTERS = 0, /* code points, as in Python */
  TFC_BYTES = 1       /* of UTF-8 */
} tfc_offsets;

typedef enum {
  TFC_LONGEST_FIRST = 0, /* of a pair the longer text, until it is none */
  TFC_ONLY_FIRST = 1,
  TFC_ONLY_SECOND = 2
} tfc_truncate;

typedef struct {
  uint64_t struct_size;
  const char *text; /* UTF-8; null bytes are characters */
  uint64_t text_bytes;
  const char *pair; /* a second text, or null */
  uint64_t pair_bytes;
  uint64_t max_tokens; /* what is more is cut off; special tokens count; 0: no
                          limit */
  uint32_t truncate;   /* tfc_truncate: what is cut */
  uint32_t truncate_left;   /* 1: the beginning is cut off, not the end */
  uint32_t no_special;      /* 1: without the tokens that the file puts around
                               a text ([CLS], <s>, ...) */
  uint32_t special_as_text; /* 1: what looks like a special token is text. For
                               texts of people who are not to write those */
  uint32_t offsets;         /* tfc_offsets: the unit of begins and ends */
  uint32_t reserved;
  tfc_stop_fn should_stop; /* asked now and then; may be null */
  void *stop_user;
} tfc_tokenize_options;

/* The tokens of a text, or of a text and its pair. Free them with
 * tfc_tokens_free. Errors: INVALID_ARGUMENT (no UTF-8, a limit that the special
 * tokens alone exceed, a character that the vocabulary has no token for),
 * EXHAUSTED (patterns or tokens of the file that take more than 500 steps for
 * each byte of the texts and a million besides, a text that the file makes
 * longer than 64 million characters), CANCELLED (by should_stop). Any. */
TFC_API tfc_error *tfc_tokenizer_encode(const tfc_tokenizer *tokenizer,
                                        const tfc_tokenize_options *options,
                                        tfc_tokens **out);

typedef struct {
  uint64_t struct_size;
  uint64_t n_tokens;
  const int64_t *ids;
  const int64_t *type_ids; /* token_type_ids */
  /* The part of its text that a token is of: [begins, ends) of the text or of
   * the pair, as sequences has it; both 0 for special tokens. */
  const int64_t *begins, *ends;
  const int32_t *sequences; /* 0: text, 1: pair, -1: neither */
} tfc_tokens_info;

/* What the tokens are; the pointers live as long as they. Errors:
 * INVALID_ARGUMENT. Any. */
TFC_API tfc_error *tfc_tokens_get_info(const tfc_tokens *tokens,
                                       tfc_tokens_info *info);

/* Frees tokens; null is allowed. Any. */
TFC_API void tfc_tokens_free(tfc_tokens *tokens);

/* ---- Tokens to text ------------------------------------------------------ */

/* The text of tokens; with skip_special nonzero without special ones. Ids that
 * no token has are passed over. Free the text with tfc_text_free. Errors:
 * INVALID_ARGUMENT, EXHAUSTED (a text of more than 64 million bytes). Any. */
TFC_API tfc_error *tfc_tokenizer_decode(const tfc_tokenizer *tokenizer,
                                        const int64_t *ids, uint64_t n_ids,
                                        int32_t skip_special, tfc_text **out);

/* UTF-8 with a null byte behind it, which n_bytes, if not null, does not count;
 * lives as long as the text. Any. */
TFC_API const char *tfc_text_get(const tfc_text *text, uint64_t *n_bytes);
/* Frees a text; null is allowed. Any. */
TFC_API void tfc_text_free(tfc_text *text);

/* Makes a stream, for text that is shown while it is generated. The tokenizer
 * must outlive it. Errors: INVALID_ARGUMENT. Any. */
TFC_API tfc_error *tfc_text_stream_create(const tfc_tokenizer *tokenizer,
                                          int32_t skip_special,
                                          tfc_text_stream **out);

/* What the text has more by this token: whole characters, maybe none, with a
 * null byte behind them, which n_bytes, if not null, does not count. `out`
 * lives until the next call on the stream. All that a stream gives is, put
 * together, what tfc_tokenizer_decode gives of the same ids, but for bytes that
 * are no text (tokens of single bytes, which a model may write in any order).
 * Errors: INVALID_ARGUMENT, EXHAUSTED (a decoder that makes tokens more than 64
 * million bytes longer; the stream begins anew). One. */
TFC_API tfc_error *tfc_text_stream_push(tfc_text_stream *stream, int64_t id,
                                        const char **out, uint64_t *n_bytes);

/* What was held back; the stream begins anew. Errors: as for push. One. */
TFC_API tfc_error *tfc_text_stream_finish(tfc_text_stream *stream,
                                          const char **out, uint64_t *n_bytes);

/* Frees a stream; null is allowed. One. */
TFC_API void tfc_text_stream_free(tfc_text_stream *stream);

#ifdef __cplusplus
}
#endif

#endif /* TFC_TEXT_H */
