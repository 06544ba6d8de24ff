// The C API of tfc/text.h.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/capi/CapiGuard.h"
#include "runtime/src/capi/OptionStructs.h"
#include "runtime/text/DecodeStream.h"
#include "runtime/text/ReadTokenizer.h"
#include "tfc/text.h"

using namespace tfc::rt;
using namespace tfc::text;

struct tfc_tokenizer {
  std::unique_ptr<Tokenizer> tokenizer;
};

struct tfc_tokens {
  std::vector<int64_t> ids, types, begins, ends;
  std::vector<int32_t> sequences;
};

struct tfc_text {
  std::string text;
};

struct tfc_text_stream {
  const Tokenizer *tokenizer;
  bool skipSpecial;
  DecodeStream stream;
  std::string last;
};

namespace tfc::rt {
template <> struct OptionStruct<tfc_tokenize_options> {
  static constexpr const char *name = "tfc_tokenize_options";
  static constexpr uint64_t firstSize =
      offsetof(tfc_tokenize_options, should_stop);
};
} // namespace tfc::rt

namespace {

static_assert(offsetof(tfc_tokenize_options, should_stop) == 72,
              "the first version's size");

Result<EncodeOptions> readTokenizeOptions(const tfc_tokenize_options &given) {
  auto check = [&](const char *name, uint32_t value, uint32_t most) {
    return value <= most
               ? Status()
               : makeError(Code::InvalidArgument, name, ": expected at most ",
                           most, ", got ", value);
  };
  Faults faults;
  faults.add(check("truncate", given.truncate, TFC_ONLY_SECOND));
  faults.add(check("truncate_left", given.truncate_left, 1));
  faults.add(check("no_special", given.no_special, 1));
  faults.add(check("special_as_text", given.special_as_text, 1));
  faults.add(check("offsets", given.offsets, TFC_BYTES));
  faults.add(check("reserved", given.reserved, 0));
  if (faults.any()) {
    return std::move(faults.take().error());
  }
  EncodeOptions options;
  options.addSpecial = given.no_special == 0;
  options.specialAsText = given.special_as_text != 0;
  options.truncation = {given.max_tokens,
                        static_cast<TruncateWhat>(given.truncate),
                        given.truncate_left != 0};
  if (given.should_stop) {
    options.shouldStop = [stop = given.should_stop, user = given.stop_user] {
      return stop(user) != 0;
    };
  }
  return options;
}

/// Where the characters of a text begin, in bytes, and where it ends.
std::vector<int64_t> placesOf(std::string_view text) {
  std::vector<int64_t> places;
  for (size_t at = 0; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xc0) != 0x80) {
      places.push_back(static_cast<int64_t>(at));
    }
  }
  places.push_back(static_cast<int64_t>(text.size()));
  return places;
}

std::unique_ptr<tfc_tokens> makeTokens(const Tokens &tokens,
                                       const tfc_tokenize_options &given) {
  auto made = std::make_unique<tfc_tokens>();
  std::vector<int64_t> places[2];
  if (given.offsets == TFC_BYTES) {
    places[0] = placesOf({given.text, given.text_bytes});
    places[1] = given.pair ? placesOf({given.pair, given.pair_bytes})
                           : std::vector<int64_t>();
  }
  for (const Token &token : tokens) {
    int64_t begin = token.origin.begin, end = token.origin.end;
    if (given.offsets == TFC_BYTES && token.sequence >= 0) {
      begin = places[token.sequence][begin];
      end = places[token.sequence][end];
    }
    made->ids.push_back(token.id);
    made->types.push_back(token.type);
    made->begins.push_back(begin);
    made->ends.push_back(end);
    made->sequences.push_back(token.sequence);
  }
  return made;
}

/// A token's id; one that is out of range is no token's.
uint32_t idOf(int64_t id) {
  return id >= 0 && id < int64_t(maxTokens) ? static_cast<uint32_t>(id)
                                            : Vocabulary::none;
}

Status show(tfc_text_stream &stream, Result<std::string> text, const char **out,
            uint64_t *n_bytes) {
  if (!text) {
    stream.stream.restart();
    return std::move(text.error());
  }
  stream.last = std::move(*text);
  *out = stream.last.c_str();
  if (n_bytes) {
    *n_bytes = stream.last.size();
  }
  return {};
}

} // namespace

extern "C" {

tfc_error *tfc_tokenizer_load(const char *path, tfc_tokenizer **out) {
  return guard([&]() -> Status {
    if (!path || !out) {
      return nullArgument();
    }
    auto tokenizer = readTokenizer(path);
    if (!tokenizer) {
      return std::move(tokenizer.error());
    }
    *out = new tfc_tokenizer{std::move(*tokenizer)};
    return {};
  });
}

void tfc_tokenizer_free(tfc_tokenizer *tokenizer) { delete tokenizer; }

int64_t tfc_tokenizer_limit(const tfc_tokenizer *tokenizer) {
  return tokenizer ? tokenizer->tokenizer->limit() : 0;
}

const char *tfc_tokenizer_token(const tfc_tokenizer *tokenizer, int64_t id) {
  const std::string *text =
      tokenizer ? tokenizer->tokenizer->token(idOf(id)) : nullptr;
  return text ? text->c_str() : nullptr;
}

int64_t tfc_tokenizer_find(const tfc_tokenizer *tokenizer, const char *token) {
  uint32_t id =
      tokenizer && token ? tokenizer->tokenizer->find(token) : Vocabulary::none;
  return id == Vocabulary::none ? -1 : int64_t(id);
}

tfc_error *tfc_tokenizer_encode(const tfc_tokenizer *tokenizer,
                                const tfc_tokenize_options *options,
                                tfc_tokens **out) {
  return guard([&]() -> Status {
    auto given = readOptions(options);
    if (!given) {
      return std::move(given.error());
    }
    auto how = readTokenizeOptions(*given);
    if (!how) {
      return std::move(how.error());
    }
    if (!tokenizer || !out || (!given->text && given->text_bytes != 0) ||
        (!given->pair && given->pair_bytes != 0)) {
      return nullArgument();
    }
    std::optional<std::string_view> pair;
    if (given->pair) {
      pair.emplace(given->pair, given->pair_bytes);
    }
    auto tokens = tokenizer->tokenizer->encode(
        {given->text ? given->text : "", given->text_bytes}, pair, *how);
    if (!tokens) {
      return std::move(tokens.error());
    }
    *out = makeTokens(*tokens, *given).release();
    return {};
  });
}

tfc_error *tfc_tokens_get_info(const tfc_tokens *tokens,
                               tfc_tokens_info *info) {
  return guard([&]() -> Status {
    if (!tokens || !info) {
      return nullArgument();
    }
    return writeResult({0, tokens->ids.size(), tokens->ids.data(),
                        tokens->types.data(), tokens->begins.data(),
                        tokens->ends.data(), tokens->sequences.data()},
                       info);
  });
}

void tfc_tokens_free(tfc_tokens *tokens) { delete tokens; }

tfc_error *tfc_tokenizer_decode(const tfc_tokenizer *tokenizer,
                                const int64_t *ids, uint64_t n_ids,
                                int32_t skip_special, tfc_text **out) {
  return guard([&]() -> Status {
    if (!tokenizer || !out || (n_ids != 0 && !ids)) {
      return nullArgument();
    }
    std::vector<uint32_t> known;
    for (uint64_t i = 0; i < n_ids; ++i) {
      known.push_back(idOf(ids[i]));
    }
    auto text = tokenizer->tokenizer->decode(known, skip_special != 0);
    if (!text) {
      return std::move(text.error());
    }
    *out = new tfc_text{std::move(*text)};
    return {};
  });
}

const char *tfc_text_get(const tfc_text *text, uint64_t *n_bytes) {
  if (n_bytes) {
    *n_bytes = text ? text->text.size() : 0;
  }
  return text ? text->text.c_str() : "";
}

void tfc_text_free(tfc_text *text) { delete text; }

tfc_error *tfc_text_stream_create(const tfc_tokenizer *tokenizer,
                                  int32_t skip_special, tfc_text_stream **out) {
  return guard([&]() -> Status {
    if (!tokenizer || !out) {
      return nullArgument();
    }
    const Tokenizer &of = *tokenizer->tokenizer;
    bool skips = skip_special != 0;
    *out = new tfc_text_stream{&of, skips, DecodeStream(of, skips), ""};
    return {};
  });
}

tfc_error *tfc_text_stream_push(tfc_text_stream *stream, int64_t id,
                                const char **out, uint64_t *n_bytes) {
  return guard([&]() -> Status {
    if (!stream || !out) {
      return nullArgument();
    }
    return show(*stream, stream->stream.push(idOf(id)), out, n_bytes);
  });
}

tfc_error *tfc_text_stream_finish(tfc_text_stream *stream, const char **out,
                                  uint64_t *n_bytes) {
  return guard([&]() -> Status {
    if (!stream || !out) {
      return nullArgument();
    }
    auto text = stream->stream.finish();
    stream->stream.restart();
    return show(*stream, std::move(text), out, n_bytes);
  });
}

void tfc_text_stream_free(tfc_text_stream *stream) { delete stream; }

} // extern "C"
