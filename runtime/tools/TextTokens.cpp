// Calls the C API of text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/TextTokens.h"

namespace tfc::run {

rt::Status takeError(tfc_error *error) {
  if (!error) {
    return {};
  }
  rt::Error taken{static_cast<rt::Code>(tfc_error_code(error)),
                  tfc_error_message(error)};
  tfc_error_free(error);
  return taken;
}

rt::Result<TokenizerPtr> loadTokenizer(const std::string &path) {
  tfc_tokenizer *loaded = nullptr;
  rt::Status status = takeError(tfc_tokenizer_load(path.c_str(), &loaded));
  if (!status) {
    return std::move(status.error());
  }
  return TokenizerPtr(loaded, tfc_tokenizer_free);
}

rt::Status checkTokenizer(const tfc_tokenizer *tokenizer,
                          const std::string &path, int64_t numTokens) {
  // Embeddings are often rounded up, but hardly to the double.
  int64_t limit = tfc_tokenizer_limit(tokenizer);
  if (limit > numTokens || limit <= numTokens / 2) {
    return rt::makeError(rt::Code::Incompatible, path, ": expected the ",
                         "tokenizer of a model with ", numTokens,
                         " tokens, got one with ", limit);
  }
  return {};
}

rt::Status checkSameTokens(const tfc_tokenizer *tokenizer,
                           const tfc_tokenizer *draft,
                           const std::string &path) {
  int64_t limit =
      std::max(tfc_tokenizer_limit(tokenizer), tfc_tokenizer_limit(draft));
  auto tokenOf = [](const tfc_tokenizer *of, int64_t id) {
    const char *token = tfc_tokenizer_token(of, id);
    return token ? "\"" + std::string(token) + "\"" : std::string("none");
  };
  for (int64_t id = 0; id < limit; ++id) {
    std::string own = tokenOf(tokenizer, id), other = tokenOf(draft, id);
    if (own != other) {
      return rt::makeError(rt::Code::Incompatible, "draft: ", path,
                           ": expected the model's vocabulary (token ", id,
                           ": ", own, "), got one where it is ", other);
    }
  }
  return {};
}

rt::Result<TextTokens> encodeText(const tfc_tokenizer *tokenizer,
                                  const TextInput &input, int64_t most,
                                  bool truncate) {
  tfc_tokenize_options options{};
  options.struct_size = sizeof(options);
  options.text = input.text.data();
  options.text_bytes = input.text.size();
  if (input.pair) {
    options.pair = input.pair->data();
    options.pair_bytes = input.pair->size();
    options.truncate = TFC_ONLY_SECOND;
  }
  options.max_tokens = truncate ? static_cast<uint64_t>(most) : 0;
  options.offsets = TFC_BYTES;
  tfc_tokens *made = nullptr;
  rt::Status status =
      takeError(tfc_tokenizer_encode(tokenizer, &options, &made));
  if (!status) {
    return std::move(status.error());
  }
  std::unique_ptr<tfc_tokens, void (*)(tfc_tokens *)> tokens(made,
                                                             tfc_tokens_free);
  tfc_tokens_info info{};
  info.struct_size = sizeof(info);
  status = takeError(tfc_tokens_get_info(made, &info));
  if (!status) {
    return std::move(status.error());
  }
  auto count = static_cast<int64_t>(info.n_tokens);
  if (count == 0 || (most != 0 && count > most)) {
    return rt::makeError(
        rt::Code::InvalidArgument, rt::quoteName(input.text), ": expected ",
        count == 0 ? "a text of a token or more, got none"
                   : rt::concat("at most ", most,
                                " tokens (the model's positions; --truncate "
                                "cuts), got ",
                                count));
  }
  return TextTokens{{info.ids, info.ids + count},
                    {info.type_ids, info.type_ids + count},
                    {info.begins, info.begins + count},
                    {info.ends, info.ends + count},
                    {info.sequences, info.sequences + count}};
}

rt::Result<TextShower> TextShower::make(const tfc_tokenizer *tokenizer) {
  tfc_text_stream *made = nullptr;
  rt::Status status = takeError(tfc_text_stream_create(tokenizer, 1, &made));
  if (!status) {
    return std::move(status.error());
  }
  return TextShower(Stream(made, tfc_text_stream_free));
}

rt::Result<std::string> TextShower::push(int64_t token) {
  const char *text = nullptr;
  uint64_t count = 0;
  rt::Status status =
      takeError(tfc_text_stream_push(stream.get(), token, &text, &count));
  if (!status) {
    return std::move(status.error());
  }
  return std::string(text, count);
}

rt::Result<std::string> TextShower::finish() {
  const char *text = nullptr;
  uint64_t count = 0;
  rt::Status status =
      takeError(tfc_text_stream_finish(stream.get(), &text, &count));
  if (!status) {
    return std::move(status.error());
  }
  return std::string(text, count);
}

} // namespace tfc::run
