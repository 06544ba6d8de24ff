// From logits to answers, as Hugging Face's pipelines have them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/Answers.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>

namespace tfc::run {

using Json = nlohmann::ordered_json;

namespace {

using Values = std::vector<double>;

/// The output of a model that pools and normalises as its folder says.
constexpr const char *kSentence = "sentence_embedding";

/// Row `row` of [batch, width], or its part at token `at` of [batch, length,
/// width].
Values valuesOf(const tfc_tensor &tensor, int64_t row, int64_t at = 0) {
  int64_t width = tensor.shape[tensor.rank - 1];
  int64_t begin =
      tensor.rank == 3 ? (row * tensor.shape[1] + at) * width : row * width;
  const float *data = static_cast<const float *>(tensor.data) + begin;
  return Values(data, data + width);
}

Values softmax(Values values) {
  double most = *std::max_element(values.begin(), values.end()), sum = 0;
  for (double &value : values) {
    value = std::exp(value - most);
    sum += value;
  }
  for (double &value : values) {
    value /= sum;
  }
  return values;
}

size_t greatest(const Values &values) {
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) -
                             values.begin());
}

/// How many characters so many bytes of a text are.
int64_t characters(const std::string &text, int64_t bytes) {
  return std::count_if(text.begin(), text.begin() + bytes, [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  });
}

/// A part of the text that tokens `first` to `last` are of.
void addSpan(Json &to, const Answered &of, size_t first, size_t last) {
  const std::string &text =
      of.tokens.sequences[first] == 1 ? *of.input.pair : of.input.text;
  int64_t begin = of.tokens.begins[first], end = of.tokens.ends[last];
  to["text"] = text.substr(begin, end - begin);
  to["begin"] = characters(text, begin);
  to["end"] = characters(text, end);
}

Json makeClass(const Answered &of) {
  Values logits = valuesOf(*tfc_outputs_find(of.outputs, "logits"), of.row);
  Json labels = Json::array();
  bool isOne = logits.size() == 1;
  Values scores = logits;
  if (of.notes.isMultiLabel || (isOne && !of.notes.isRegression)) {
    for (double &score : scores) {
      score = 1 / (1 + std::exp(-score));
    }
  } else if (!of.notes.isRegression) {
    scores = softmax(logits);
  }
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  if (!of.notes.isRegression) {
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
    });
  }
  for (size_t i : order) {
    labels.push_back({{"label", of.notes.label(i)}, {"score", scores[i]}});
  }
  return {{"labels", std::move(labels)}};
}

Json makeTokenClasses(const Answered &of) {
  const tfc_tensor &logits = *tfc_outputs_find(of.outputs, "logits");
  Json tokens = Json::array();
  for (size_t i = 0; i < of.tokens.ids.size(); ++i) {
    if (of.tokens.sequences[i] < 0) {
      continue;
    }
    Values scores = softmax(valuesOf(logits, of.row, static_cast<int64_t>(i)));
    size_t best = greatest(scores);
    Json token;
    addSpan(token, of, i, i);
    token["label"] = of.notes.label(best);
    token["score"] = scores[best];
    tokens.push_back(std::move(token));
  }
  return {{"tokens", std::move(tokens)}};
}

/// The likeliest span of at most fifteen tokens of the context.
Json makeSpan(const Answered &of) {
  constexpr size_t longest = 15;
  Values starts =
      valuesOf(*tfc_outputs_find(of.outputs, "start_logits"), of.row);
  Values ends = valuesOf(*tfc_outputs_find(of.outputs, "end_logits"), of.row);
  size_t count = of.tokens.ids.size();
  starts.resize(count);
  ends.resize(count);
  int32_t context = of.input.pair ? 1 : 0;
  for (size_t i = 0; i < count; ++i) {
    if (of.tokens.sequences[i] != context) {
      starts[i] = ends[i] = -10000;
    }
  }
  starts = softmax(starts);
  ends = softmax(ends);
  size_t first = 0, last = 0;
  double best = -1;
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = i; j < std::min(count, i + longest); ++j) {
      bool isInside = of.tokens.sequences[i] == context &&
                      of.tokens.sequences[j] == context;
      if (isInside && starts[i] * ends[j] > best) {
        best = starts[i] * ends[j];
        first = i;
        last = j;
      }
    }
  }
  Json answer;
  if (best >= 0) {
    addSpan(answer, of, first, last);
  }
  answer["score"] = std::max(best, 0.0);
  return {{"answer", std::move(answer)}};
}

Json makeMasks(const Answered &of) {
  constexpr size_t most = 5;
  const tfc_tensor &logits = *tfc_outputs_find(of.outputs, "logits");
  Json masks = Json::array();
  for (size_t i = 0; i < of.tokens.ids.size(); ++i) {
    const char *token = tfc_tokenizer_token(of.tokenizer, of.tokens.ids[i]);
    bool isMask = token && (std::strcmp(token, "[MASK]") == 0 ||
                            std::strcmp(token, "<mask>") == 0);
    if (!isMask) {
      continue;
    }
    Values scores = softmax(valuesOf(logits, of.row, static_cast<int64_t>(i)));
    std::vector<size_t> order(scores.size());
    std::iota(order.begin(), order.end(), 0);
    size_t count = std::min(most, order.size());
    std::partial_sort(order.begin(), order.begin() + count, order.end(),
                      [&](size_t a, size_t b) {
                        return scores[a] != scores[b] ? scores[a] > scores[b]
                                                      : a < b;
                      });
    Json likely = Json::array();
    for (size_t k = 0; k < count; ++k) {
      auto id = static_cast<int64_t>(order[k]);
      const char *text = tfc_tokenizer_token(of.tokenizer, id);
      likely.push_back({{"token", text ? text : ""}, {"score", scores[id]}});
    }
    masks.push_back(std::move(likely));
  }
  return {{"masks", std::move(masks)}};
}

Values pool(const Answered &of) {
  if (of.notes.pooling == ModelNotes::Pooler) {
    if (const tfc_tensor *made =
            tfc_outputs_find(of.outputs, "pooler_output")) {
      return valuesOf(*made, of.row);
    }
  }
  const tfc_tensor &hidden = *tfc_outputs_find(of.outputs, "last_hidden_state");
  auto count = static_cast<int64_t>(of.tokens.ids.size());
  if (of.notes.pooling == ModelNotes::First ||
      of.notes.pooling == ModelNotes::Last) {
    return valuesOf(hidden, of.row,
                    of.notes.pooling == ModelNotes::First ? 0 : count - 1);
  }
  Values sum = valuesOf(hidden, of.row, 0);
  for (int64_t i = 1; i < count; ++i) {
    Values more = valuesOf(hidden, of.row, i);
    std::transform(sum.begin(), sum.end(), more.begin(), sum.begin(),
                   std::plus<>());
  }
  for (double &value : sum) {
    value /= static_cast<double>(count);
  }
  return sum;
}

Json makeEmbedding(const Answered &of) {
  const tfc_tensor *made = tfc_outputs_find(of.outputs, kSentence);
  Values vector = made ? valuesOf(*made, of.row) : pool(of);
  if (!made && of.notes.normalizes) {
    double length = std::sqrt(
        std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0));
    for (double &value : vector) {
      value /= std::max(length, 1e-12);
    }
  }
  Json list = Json::array();
  for (double value : vector) {
    list.push_back(static_cast<float>(value));
  }
  return {{"embedding", std::move(list)}};
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

/// "begin-end TAB text".
std::string span(const Json &of) {
  return of.contains("text") ? rt::concat(of["begin"], "-", of["end"], "\t",
                                          of["text"].get<std::string>())
                             : "-\t";
}

} // namespace

rt::Result<AnswerKind> findKind(const tfc_model_info &info,
                                const ModelNotes &notes,
                                std::vector<const char *> &outputs) {
  auto find = [&](const char *name) -> const tfc_port_info * {
    for (uint32_t i = 0; i < info.n_outputs; ++i) {
      if (std::strcmp(info.outputs[i].name, name) == 0) {
        return &info.outputs[i];
      }
    }
    return nullptr;
  };
  if (find(kSentence)) {
    outputs = {kSentence};
    return AnswerKind::Embedding;
  }
  if (!notes.poolingFault.empty()) {
    return rt::makeError(rt::Code::Unsupported, notes.poolingFault);
  }
  if (const tfc_port_info *logits = find("logits")) {
    outputs = {"logits"};
    if (logits->rank == 2) {
      return AnswerKind::Class;
    }
    return logits->width >= info.inputs[0].limit / 2 && logits->width > 1000
               ? AnswerKind::Masks
               : AnswerKind::TokenClasses;
  }
  if (find("start_logits") && find("end_logits")) {
    outputs = {"start_logits", "end_logits"};
    return AnswerKind::Span;
  }
  if (find(kSentence)) {
    outputs = {kSentence};
    return AnswerKind::Embedding;
  }
  if (!notes.poolingFault.empty()) {
    return rt::makeError(rt::Code::Unsupported, notes.poolingFault);
  }
  bool isPooled = notes.pooling == ModelNotes::Pooler && find("pooler_output");
  const char *name = isPooled ? "pooler_output" : "last_hidden_state";
  if (!find(name)) {
    return rt::makeError(rt::Code::Unsupported,
                         "expected a model that "
                         "generates, classifies, answers or embeds, got one "
                         "without such outputs (--inputs runs any)");
  }
  outputs = {name};
  return AnswerKind::Embedding;
}

Json makeAnswer(AnswerKind kind, const Answered &of) {
  switch (kind) {
  case AnswerKind::Class:
    return makeClass(of);
  case AnswerKind::TokenClasses:
    return makeTokenClasses(of);
  case AnswerKind::Span:
    return makeSpan(of);
  case AnswerKind::Masks:
    return makeMasks(of);
  case AnswerKind::Embedding:
    break;
  }
  return makeEmbedding(of);
}

std::string describeAnswer(AnswerKind kind, const Json &answer) {
  std::string out;
  auto score = [](const Json &of) { return number(of["score"]); };
  switch (kind) {
  case AnswerKind::Class: {
    const Json &best = answer["labels"][0];
    return best["label"].get<std::string>() + "\t" + score(best) + "\n";
  }
  case AnswerKind::TokenClasses:
    for (const Json &token : answer["tokens"]) {
      out += span(token) + "\t" + token["label"].get<std::string>() + "\t" +
             score(token) + "\n";
    }
    return out + "\n";
  case AnswerKind::Span:
    return span(answer["answer"]) + "\t" + score(answer["answer"]) + "\n";
  case AnswerKind::Masks:
    for (const Json &mask : answer["masks"]) {
      for (const Json &likely : mask) {
        out += likely["token"].get<std::string>() + "\t" + score(likely) + "\n";
      }
    }
    return out + "\n";
  case AnswerKind::Embedding:
    for (const Json &value : answer["embedding"]) {
      out += (out.empty() ? "" : " ") + number(value);
    }
    break;
  }
  return out + "\n";
}

} // namespace tfc::run
