// Fuzzes the C API. An input is read as a list of calls on one of the models of
// test/runtime/fake_module.c, which check what the host promises: a promise
// that is broken comes back as TFC_INTERNAL.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/fuzz/FuzzApi.h"

#include "test/fuzz/Fuzz.h"

namespace tfc::fuzz {
namespace {

/// Whether a call worked. Its error has a code, words, and is not our fault.
bool isFine(tfc_error *error) {
  if (!error) {
    return true;
  }
  std::string message = tfc_error_message(error);
  int code = tfc_error_code(error);
  tfc_error_free(error);
  expect(code > 0 && code != TFC_INTERNAL, "no fault of tfc", message);
  expectMessage(message);
  return false;
}

/// Touches all of a result, and frees it.
void take(tfc_outputs *outputs) {
  for (uint32_t i = 0; i < tfc_outputs_count(outputs); ++i) {
    const tfc_tensor *tensor = tfc_outputs_get(outputs, i);
    expect(tfc_outputs_find(outputs, tensor->name) != nullptr, "an output",
           tensor->name);
    size_t bytes = tensor->dtype == TFC_I64 ? 8 : 4;
    for (uint32_t axis = 0; axis < tensor->rank; ++axis) {
      bytes *= static_cast<size_t>(tensor->shape[axis]);
    }
    volatile uint8_t sum = 0;
    for (size_t at = 0; at < bytes; ++at) {
      sum = sum ^ static_cast<const uint8_t *>(tensor->data)[at];
    }
  }
  tfc_outputs_free(outputs);
}

void encode(Draw &draw, const tfc_model *model) {
  Inputs inputs = drawInputs(draw);
  static const char *names[] = {"last_hidden_state", "logits", "start_logits",
                                "encoder_last_hidden_state", "nonsense"};
  std::vector<const char *> wanted;
  for (const char *name : names) {
    if (draw.rarely(4)) {
      wanted.push_back(name);
    }
  }
  tfc_encode_options options{};
  options.struct_size = sizeof(options);
  options.inputs = inputs.tensors.data();
  options.n_inputs = static_cast<uint32_t>(inputs.tensors.size());
  options.outputs = wanted.empty() ? nullptr : wanted.data();
  options.n_outputs = static_cast<uint32_t>(wanted.size());
  tfc_outputs *outputs = nullptr;
  if (isFine(tfc_encode(model, &options, &outputs))) {
    take(outputs);
  }
}

void generate(Draw &draw, const tfc_model *model) {
  Inputs inputs = drawInputs(draw);
  tfc_decoding_options decoding = drawDecoding(draw, model);
  std::vector<int64_t> eos(draw.below(3));
  for (int64_t &token : eos) {
    token = draw.token();
  }
  tfc_generate_options options{};
  options.struct_size = sizeof(options);
  options.inputs = inputs.tensors.data();
  options.n_inputs = static_cast<uint32_t>(inputs.tensors.size());
  options.own_eos = draw.rarely(2) || !eos.empty();
  options.eos = eos.data();
  options.n_eos = static_cast<uint32_t>(eos.size());
  options.max_new_tokens = draw.rarely(40) ? draw.any() : draw.below(14);
  options.max_cache_bytes = draw.rarely(4) ? draw.below(1 << 14) : 0;
  options.decoding = draw.rarely(2) ? &decoding : nullptr;
  options.max_drafts = draw.rarely(2) ? draw.below(40) : 0;
  options.draft = draw.rarely(3) ? drawModel(draw) : nullptr;
  int left = static_cast<int>(draw.below(40));
  auto onToken = [](void *user, int64_t, int64_t, int) {
    return --*static_cast<int *>(user) < 0 ? 1 : 0;
  };
  tfc_outputs *outputs = nullptr;
  if (isFine(tfc_generate(model, &options, onToken, &left, &outputs))) {
    take(outputs);
  }
}

/// One session from its beginning to its end.
class Serving {
public:
  Serving(Draw &draw, const tfc_model *model) : draw(draw), model(model) {
    tfc_session_options options{};
    options.struct_size = sizeof(options);
    options.max_cache_bytes = draw.rarely(2) ? draw.below(1 << 12) : 0;
    options.max_drafts = draw.rarely(2) ? draw.below(40) : 0;
    options.draft = draw.rarely(3) ? drawModel(draw) : nullptr;
    isFine(tfc_session_create(model, &options, &session));
  }
  ~Serving() { tfc_session_free(session); }
  Serving(const Serving &) = delete;
  Serving &operator=(const Serving &) = delete;

  void run() {
    for (int call = 0; session && call < 16 && draw.hasMore(); ++call) {
      switch (draw.below(4)) {
      case 0:
        remove();
        break;
      case 1:
        add();
        break;
      default:
        step();
      }
    }
  }

private:
  void add() {
    std::vector<int64_t> prompt(draw.below(17)), first(draw.below(3));
    for (auto *tokens : {&prompt, &first}) {
      for (int64_t &token : *tokens) {
        token = draw.token();
      }
    }
    tfc_decoding_options decoding = drawDecoding(draw, model);
    tfc_request request{};
    request.struct_size = sizeof(request);
    request.tokens = prompt.data();
    request.n_tokens = static_cast<int64_t>(prompt.size());
    request.max_new_tokens = draw.rarely(40) ? draw.any() : draw.below(14);
    request.own_eos = draw.rarely(2);
    request.decoding = draw.rarely(3) ? &decoding : nullptr;
    request.decoder_tokens = first.empty() ? nullptr : first.data();
    request.n_decoder_tokens = static_cast<int64_t>(first.size());
    std::vector<int64_t> rows(draw.rarely(3) ? draw.below(4) : 0);
    for (int64_t &row : rows) {
      row = draw.token();
    }
    request.head_rows = rows.data();
    request.n_head_rows = rows.size();
    isFine(tfc_session_add(session, &request, &last));
  }

  void step() {
    tfc_step_result result{};
    result.struct_size = sizeof(result);
    if (isFine(tfc_session_step(session, &result))) {
      for (uint64_t i = 0; i < result.n_tokens; ++i) {
        expect(result.tokens[i].sequence <= last, "a sequence that was added");
      }
    }
  }

  void remove() {
    isFine(tfc_session_remove(session, draw.below(1 + last + 1)));
  }

  Draw &draw;
  const tfc_model *model;
  tfc_session *session = nullptr;
  tfc_sequence_id last = 0;
};

} // namespace
} // namespace tfc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace tfc::fuzz;
  Draw draw(data, size);
  const tfc_model *model = drawModel(draw);
  for (int call = 0; call < 4 && draw.hasMore(); ++call) {
    switch (draw.below(3)) {
    case 0:
      encode(draw, model);
      break;
    case 1:
      generate(draw, model);
      break;
    default:
      Serving(draw, model).run();
    }
  }
  return 0;
}
