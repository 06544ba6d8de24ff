// Texts to a model's inputs, its outputs to answers or text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/TextRun.h"

#include "runtime/src/files/Safetensors.h"
#include "runtime/tools/Answers.h"

#include <cstdio>
#include <cstring>
#include <iostream>
#include <unistd.h>

namespace tfc::run {

using Json = nlohmann::ordered_json;

namespace {

using OutputsPtr = std::unique_ptr<tfc_outputs, void (*)(tfc_outputs *)>;

constexpr size_t batchSize = 32;
constexpr int64_t defaultNewTokens = 256;

tfc_tensor makeInput(const char *name, const std::vector<int64_t> &values,
                     size_t rows) {
  tfc_tensor tensor{};
  tensor.name = name;
  tensor.dtype = TFC_I64;
  tensor.rank = 2;
  tensor.shape[0] = static_cast<int64_t>(rows);
  tensor.shape[1] = static_cast<int64_t>(values.size() / rows);
  tensor.data = values.data();
  return tensor;
}

std::string dump(const Json &value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json jsonOf(const TextInput &text) {
  Json line = {{"text", text.text}};
  if (text.pair) {
    line["pair"] = *text.pair;
  }
  return line;
}

std::string pathOfTokenizer(const CommandLine &line) {
  if (!line.tokenizer.empty()) {
    return line.tokenizer;
  }
  return rt::isCheckpoint(line.weights) ? line.weights
                                        : line.weights + "/tokenizer.json";
}

} // namespace

rt::Result<TextRun> TextRun::open(const CommandLine &line) {
  TextRun made(line);
  auto load = [](const std::string &path, TokenizerPtr &to) -> rt::Status {
    auto tokenizer = loadTokenizer(path);
    if (!tokenizer) {
      return std::move(tokenizer.error());
    }
    to = std::move(*tokenizer);
    return {};
  };
  rt::Status status = load(pathOfTokenizer(line), made.tokenizer);
  if (status && !line.outputTokenizer.empty()) {
    status = load(line.outputTokenizer, made.outputTokenizer);
  }
  if (status && !line.draftWeights.empty()) {
    TokenizerPtr draft(nullptr, tfc_tokenizer_free);
    // One that has none cannot say that it is another one.
    if (load(line.draftWeights, draft)) {
      status =
          checkSameTokens(made.tokenizer.get(), draft.get(), line.draftWeights);
    }
  }
  if (!status) {
    return std::move(status.error());
  }
  auto notes = readModelNotes(line.weights);
  if (!notes) {
    return std::move(notes.error());
  }
  made.notes = std::move(*notes);
  return made;
}

bool TextRun::has(const char *input) const {
  for (uint32_t i = 0; i < info.n_inputs; ++i) {
    if (std::strcmp(info.inputs[i].name, input) == 0) {
      return true;
    }
  }
  return false;
}

bool TextRun::isEnd(int64_t token) const {
  for (uint32_t i = 0; i < info.n_eos; ++i) {
    if (info.eos[i] == token) {
      return true;
    }
  }
  return false;
}

void TextRun::print(const std::string &text) const {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

rt::Result<TextTokens> TextRun::encode(const TextInput &text) const {
  return encodeText(tokenizer.get(), text, info.max_positions, line.truncate);
}

/// At most so many texts; none when there are no more.
rt::Status TextRun::readTexts(size_t most, std::vector<TextInput> &texts) {
  texts.clear();
  while (texts.size() < most && nextText < line.texts.size()) {
    std::string text = line.texts[nextText];
    if (text == "-") {
      if (!std::getline(std::cin, text)) {
        ++nextText;
        continue;
      }
      texts.push_back({text, {}});
      continue;
    }
    TextInput input{text, {}};
    if (!line.pairs.empty()) {
      input.pair = line.pairs[nextText];
    }
    texts.push_back(std::move(input));
    ++nextText;
  }
  return {};
}

rt::Status TextRun::checkTokens(int64_t numTokens) const {
  return checkTokenizer(tokenizer.get(), pathOfTokenizer(line), numTokens);
}

rt::Status TextRun::answer(const tfc_model *of, const tfc_model *guesser) {
  model = of;
  draft = guesser;
  info.struct_size = sizeof(info);
  rt::Status status = takeError(tfc_model_get_info(model, &info));
  if (!status) {
    return status;
  }
  int64_t numTokens = 0;
  for (uint32_t i = 0; i < info.n_inputs; ++i) {
    if (std::strcmp(info.inputs[i].name, "input_ids") == 0) {
      numTokens = info.inputs[i].limit;
    }
  }
  status = checkTokens(numTokens);
  if (!status) {
    return status;
  }
  // Who types wants an answer to each line.
  size_t most = info.can_generate || isatty(STDIN_FILENO) ? 1 : batchSize;
  std::vector<TextInput> texts;
  for (;;) {
    status = readTexts(most, texts);
    if (!status || texts.empty()) {
      return status;
    }
    status = info.can_generate ? generate(texts[0]) : answerBatch(texts);
    if (!status) {
      return status;
    }
  }
}

rt::Status TextRun::answerBatch(const std::vector<TextInput> &texts) {
  std::vector<const char *> names;
  auto kind = findKind(info, notes, names);
  if (!kind) {
    return std::move(kind.error());
  }
  std::vector<TextTokens> rows;
  size_t length = 0;
  for (const TextInput &text : texts) {
    auto tokens = encode(text);
    if (!tokens) {
      return std::move(tokens.error());
    }
    length = std::max(length, tokens->ids.size());
    rows.push_back(std::move(*tokens));
  }
  std::vector<int64_t> ids, types, mask;
  for (const TextTokens &row : rows) {
    size_t padding = length - row.ids.size();
    ids.insert(ids.end(), row.ids.begin(), row.ids.end());
    ids.insert(ids.end(), padding, std::max<int64_t>(info.pad, 0));
    types.insert(types.end(), row.types.begin(), row.types.end());
    types.insert(types.end(), padding, 0);
    mask.insert(mask.end(), row.ids.size(), 1);
    mask.insert(mask.end(), padding, 0);
  }
  std::vector<tfc_tensor> inputs = {
      makeInput("input_ids", ids, rows.size()),
      makeInput("attention_mask", mask, rows.size())};
  if (has("token_type_ids")) {
    inputs.push_back(makeInput("token_type_ids", types, rows.size()));
  }
  tfc_encode_options options{};
  options.struct_size = sizeof(options);
  options.inputs = inputs.data();
  options.n_inputs = static_cast<uint32_t>(inputs.size());
  options.outputs = names.data();
  options.n_outputs = static_cast<uint32_t>(names.size());
  tfc_outputs *made = nullptr;
  rt::Status status = takeError(tfc_encode(model, &options, &made));
  if (!status) {
    return status;
  }
  OutputsPtr outputs(made, tfc_outputs_free);
  for (size_t i = 0; i < texts.size(); ++i) {
    Json answer =
        makeAnswer(*kind, {texts[i], rows[i], made, static_cast<int64_t>(i),
                           notes, tokenizer.get()});
    if (line.json) {
      Json all = jsonOf(texts[i]);
      all.update(answer);
      print(dump(all));
    } else {
      print(describeAnswer(*kind, answer));
    }
  }
  return {};
}

rt::Status TextRun::generate(const TextInput &text) {
  auto tokens = encode(text);
  if (!tokens) {
    return std::move(tokens.error());
  }
  auto count = static_cast<int64_t>(tokens->ids.size());
  bool isDecoder = std::strcmp(info.kind, "decoder") == 0;
  auto shower = TextShower::make(outputTokenizer ? outputTokenizer.get()
                                                 : tokenizer.get());
  if (!shower) {
    return std::move(shower.error());
  }
  tfc_decoding_options decoding{};
  decoding.struct_size = sizeof(decoding);
  rt::Status status = takeError(tfc_decoding_init(model, &decoding));
  for (const auto &change : line.decoding) {
    change(decoding);
  }
  std::vector<tfc_tensor> inputs = {makeInput("input_ids", tokens->ids, 1)};
  tfc_generate_options options{};
  options.struct_size = sizeof(options);
  options.inputs = inputs.data();
  options.n_inputs = 1;
  options.decoding = &decoding;
  options.max_new_tokens = line.maxNewTokens;
  options.max_drafts = line.maxDrafts;
  options.draft = draft;
  if (options.max_new_tokens == 0) {
    int64_t most = info.max_positions - (isDecoder ? count : 1);
    options.max_new_tokens = info.max_positions == 0 || most < 1
                                 ? defaultNewTokens
                                 : std::min(defaultNewTokens, most);
  }
  if (line.eos) {
    options.own_eos = 1;
    options.eos = line.eos->data();
    options.n_eos = static_cast<uint32_t>(line.eos->size());
  }
  // What comes first in a text may lose a space; a continuation is not first.
  auto begin = [&] {
    for (int64_t id : tokens->ids) {
      if (isDecoder && status) {
        auto shown = shower->push(id);
        status = shown ? rt::Status() : rt::Status(shown.error());
      }
    }
  };
  bool streams = decoding.num_beams <= 1 && decoding.num_return_sequences <= 1;
  Json generated = Json::array();
  std::string whole;
  auto show = [&](const rt::Result<std::string> &part) {
    if (!part) {
      status = part.error();
      return;
    }
    whole += *part;
    if (!line.json) {
      print(*part);
    }
  };
  auto finish = [&] {
    show(shower->finish());
    generated.push_back(std::move(whole));
    whole.clear();
    if (!line.json) {
      print("\n");
    }
  };
  using OnToken = std::function<void(int64_t)>;
  OnToken onToken = [&](int64_t token) {
    if (!isEnd(token)) {
      show(shower->push(token));
    }
  };
  tfc_token_fn call = [](void *user, int64_t, int64_t token, int) {
    (*static_cast<OnToken *>(user))(token);
    return 0;
  };
  begin();
  if (!status) {
    return status;
  }
  tfc_outputs *made = nullptr;
  rt::Status ran =
      takeError(tfc_generate(model, &options, streams ? call : nullptr,
                             &onToken, streams ? nullptr : &made));
  if (!ran) {
    return ran;
  }
  OutputsPtr outputs(made, tfc_outputs_free);
  if (streams) {
    finish();
  } else {
    const tfc_tensor &rows = *tfc_outputs_find(made, "sequences");
    const int64_t *ids = static_cast<const int64_t *>(rows.data);
    for (int64_t row = 0; row < rows.shape[0] && status; ++row) {
      if (row != 0) {
        begin();
      }
      // Of an encoder-decoder the first token only begins.
      for (int64_t i = isDecoder ? count : 1; i < rows.shape[1]; ++i) {
        int64_t id = ids[row * rows.shape[1] + i];
        if (isEnd(id)) {
          break;
        }
        show(shower->push(id));
      }
      finish();
    }
  }
  if (line.json && status) {
    Json all = jsonOf(text);
    all["generated"] = std::move(generated);
    print(dump(all));
  }
  return status;
}

} // namespace tfc::run
