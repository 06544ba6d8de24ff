// Equal token ids through two programs, step sizes at the borders of blocks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/SelfTest.h"

#include "runtime/gpu/CudaAvoid.h"
#include "runtime/src/capi/CapiOptions.h"
#include "runtime/tools/SilenceLimit.h"
#include "runtime/tools/TapTest.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>

namespace tfc::run {

namespace {

using ModelPtr = std::unique_ptr<tfc_model, void (*)(tfc_model *)>;
using OutputsPtr = std::unique_ptr<tfc_outputs, void (*)(tfc_outputs *)>;

/// What roundings to a type may tip over, of the largest value, in an op that
/// reads the same: of what it writes, and of the weights that attention has for
/// what it reads.
double roundingOf(uint32_t dtype) {
  return dtype == TFC_DTYPE_BF16  ? 0x1p-7
         : dtype == TFC_DTYPE_F16 ? 0x1p-10
                                  : 0;
}

uint32_t coarserOf(uint32_t one, uint32_t other) {
  return roundingOf(other) > roundingOf(one) ? other : one;
}

/// What a program's tables say that it rounds to: the coarsest of what its
/// products multiply and what its caches keep.
uint32_t keptDtypeOf(const tfc_program_v0 &program) {
  uint32_t kept = program.dtype;
  for (uint32_t e = 0; e < program.n_entries; ++e) {
    const tfc_entry_v0 &entry = program.entries[e];
    for (uint32_t i = 0; i < entry.n_caches; ++i) {
      kept = coarserOf(kept, entry.caches[i].dtype);
    }
  }
  return kept;
}

/// How far values may be apart, of the largest one: f32 by another order of
/// sums, and what is rounded.
double toleranceOf(uint32_t kept) { return std::max(1e-4, roundingOf(kept)); }

/// Of outputs of a device that keeps all values in 16 bits, how large the root
/// of the mean square of their errors may be, of their own: what roundings come
/// to in a deep model without meaning. 0: values are held by toleranceOf.
double noiseOf(const tfc_program_v0 &program, uint32_t kept) {
  return program.isa != TFC_ISA_CUDA ? 0
         : kept == TFC_DTYPE_BF16    ? 0x1p-2
         : kept == TFC_DTYPE_F16     ? 0x1p-5
                                     : 0;
}

/// What outputs may differ by, of which either is 0.
struct Limit {
  double tolerance, noise;
};

/// Rows of token ids; those of the first are shorter and end in padding.
struct Case {
  std::string name;
  int64_t batch, length, shorter;
};

/// Lines of wrong values that a case prints.
constexpr size_t mostFaults = 8;

rt::Error take(tfc_error *error) {
  rt::Error taken{static_cast<rt::Code>(tfc_error_code(error)),
                  tfc_error_message(error)};
  tfc_error_free(error);
  return taken;
}

rt::Result<ModelPtr> load(const CommandLine &line, const std::string &program,
                          rt::TapListener tap) {
  rt::LoadOptions options;
  options.libraryPath = line.library;
  options.weightsPath = line.weights;
  // Drawn by weight and layer: every program has the same.
  options.randomWeights = line.weights.empty();
  options.program = program;
  options.threads = line.threads;
  options.tap = std::move(tap);
  auto model = rt::Model::load(options);
  if (!model) {
    return std::move(model.error());
  }
  return ModelPtr(new tfc_model(std::move(*model)), tfc_model_free);
}

/// The inputs of a case: the model's own, as it wants them.
class Inputs {
public:
  Inputs(const tfc_model_info &info, const Case &which, uint64_t seed) {
    std::mt19937_64 random(seed);
    const int64_t shape[] = {which.batch, which.length};
    auto add = [&](const char *name) {
      values.push_back(std::make_unique<std::vector<int64_t>>(
          size_t(which.batch * which.length)));
      tfc_tensor tensor{};
      tensor.name = name;
      tensor.dtype = TFC_I64;
      tensor.rank = 2;
      std::copy(shape, shape + 2, tensor.shape);
      tensor.data = values.back()->data();
      tensors.push_back(tensor);
      return values.back().get();
    };
    for (uint32_t i = 0; i < info.n_inputs; ++i) {
      const tfc_port_info &port = info.inputs[i];
      if (port.rank == 3) {
        addRows(port, which, random);
      } else if (port.required) {
        for (int64_t &id : *add(port.name)) {
          id = int64_t(random() % uint64_t(port.limit));
        }
      }
    }
    std::vector<int64_t> &mask = *add("attention_mask");
    for (size_t place = 0; place < mask.size(); ++place) {
      bool isFirst = int64_t(place) < which.length;
      mask[place] = !isFirst || int64_t(place) < which.shorter;
    }
  }

  std::vector<tfc_tensor> tensors;

private:
  /// Rows as of a picture whose colours have been normalised, of all columns
  /// but the first ones, which have ids.
  void addRows(const tfc_port_info &port, const Case &which,
               std::mt19937_64 &random) {
    tfc_tensor tensor{};
    tensor.name = port.name;
    tensor.dtype = TFC_F32;
    tensor.rank = 3;
    tensor.shape[0] = which.batch;
    tensor.shape[1] = which.length - port.limit;
    tensor.shape[2] = port.width;
    size_t size = size_t(tensor.shape[0] * tensor.shape[1] * tensor.shape[2]);
    for (size_t i = 0; i < size; ++i) {
      rows.push_back(float(random() % 4001) / 1000.0F - 2);
    }
    tensor.data = rows.data();
    tensors.push_back(tensor);
  }

  std::vector<std::unique_ptr<std::vector<int64_t>>> values;
  std::vector<float> rows;
};

rt::Result<OutputsPtr> forward(const tfc_model *model, const Inputs &inputs) {
  tfc_encode_options options{};
  options.struct_size = sizeof(options);
  options.inputs = inputs.tensors.data();
  options.n_inputs = static_cast<uint32_t>(inputs.tensors.size());
  tfc_outputs *made = nullptr;
  if (tfc_error *error = tfc_encode(model, &options, &made)) {
    return take(error);
  }
  return OutputsPtr(made, tfc_outputs_free);
}

/// The likeliest tokens; no end token ends a row.
rt::Result<OutputsPtr> generate(const tfc_model *model, const Inputs &inputs,
                                int64_t count) {
  tfc_decoding_options decoding{};
  decoding.struct_size = sizeof(decoding);
  if (tfc_error *error = tfc_decoding_init(model, &decoding)) {
    return take(error);
  }
  decoding.num_beams = decoding.num_return_sequences = 1;
  decoding.do_sample = 0;
  std::vector<tfc_tensor> prompts = inputs.tensors;
  if (model->model->table().decoder_start >= 0) {
    // The decoder begins by itself; places of its tokens would not go with
    // that.
    prompts.erase(
        std::remove_if(
            prompts.begin(), prompts.end(),
            [](const tfc_tensor &tensor) {
              return std::string_view(tensor.name).rfind("decoder_", 0) == 0;
            }),
        prompts.end());
  }
  tfc_generate_options options{};
  options.struct_size = sizeof(options);
  options.inputs = prompts.data();
  options.n_inputs = static_cast<uint32_t>(prompts.size());
  options.max_new_tokens = count;
  options.own_eos = 1;
  options.decoding = &decoding;
  tfc_outputs *made = nullptr;
  if (tfc_error *error =
          tfc_generate(model, &options, nullptr, nullptr, &made)) {
    return take(error);
  }
  return OutputsPtr(made, tfc_outputs_free);
}

size_t countOf(const tfc_tensor &tensor) {
  size_t count = 1;
  for (uint32_t axis = 0; axis < tensor.rank; ++axis) {
    count *= size_t(tensor.shape[axis]);
  }
  return count;
}

/// The largest difference of two tensors, of the largest value; NaNs and
/// tokens that differ are infinitely far. Of equal shapes.
double distance(const tfc_tensor &expected, const tfc_tensor &got) {
  if (countOf(expected) != countOf(got)) {
    return INFINITY;
  }
  if (expected.dtype != TFC_F32) {
    const auto *a = static_cast<const int64_t *>(expected.data);
    const auto *b = static_cast<const int64_t *>(got.data);
    return std::equal(a, a + countOf(expected), b) ? 0 : INFINITY;
  }
  const auto *a = static_cast<const float *>(expected.data);
  const auto *b = static_cast<const float *>(got.data);
  double largest = 1, most = 0;
  for (size_t i = 0; i < countOf(expected); ++i) {
    double apart = std::fabs(double(a[i]) - double(b[i]));
    largest = std::max(largest, std::fabs(double(a[i])));
    most = std::isnan(apart) ? INFINITY : std::max(most, apart);
  }
  return most / largest;
}

/// The root of the mean square of the errors, of that of the values. Tokens
/// have none: those that are nearly as likely as others change with any
/// rounding.
double noise(const tfc_tensor &expected, const tfc_tensor &got) {
  if (countOf(expected) != countOf(got)) {
    return INFINITY;
  }
  if (expected.dtype != TFC_F32) {
    return 0;
  }
  const auto *a = static_cast<const float *>(expected.data);
  const auto *b = static_cast<const float *>(got.data);
  double errors = 0, values = 1e-30;
  for (size_t i = 0; i < countOf(expected); ++i) {
    double apart = double(a[i]) - double(b[i]);
    errors += apart * apart;
    values += double(a[i]) * double(a[i]);
  }
  return std::isnan(errors) ? INFINITY : std::sqrt(errors / values);
}

/// Prints what was wrong inside of a case's steps; whether anything was.
bool compareValues(const char *program, const std::string &name,
                   const TapTest &taps) {
  const std::vector<std::string> &faults = taps.faults();
  for (size_t i = 0; i < faults.size() && i < mostFaults; ++i) {
    std::printf("%s: %s: WRONG at %s\n", program, name.c_str(),
                faults[i].c_str());
  }
  if (faults.size() > mostFaults) {
    std::printf("%s: %s: WRONG at %zu values more\n", program, name.c_str(),
                faults.size() - mostFaults);
  }
  return !faults.empty();
}

/// Prints how far the outputs of a case are apart; whether that is too far, or
/// values inside of its steps were. Without taps roundings go from op to op.
bool compare(const char *program, const std::string &name,
             const tfc_outputs *expected, const tfc_outputs *got, Limit limit,
             const TapTest &taps) {
  double most = 0;
  bool isNoisy = limit.noise > 0 && taps.count() == 0;
  std::string worst;
  for (uint32_t i = 0; i < tfc_outputs_count(expected); ++i) {
    const tfc_tensor *one = tfc_outputs_get(expected, i);
    const tfc_tensor *other = tfc_outputs_find(got, one->name);
    double apart = !other    ? INFINITY
                   : isNoisy ? noise(*one, *other) / limit.noise
                             : distance(*one, *other) / limit.tolerance;
    worst = worst.empty() || apart > most ? one->name : worst;
    most = std::max(most, apart);
  }
  bool isFar = !(most <= 1);
  bool isWrong = compareValues(program, name, taps);
  std::printf("%s: %s: %s (%s: %.3g of what is allowed)\n", program,
              name.c_str(), isFar || isWrong ? "WRONG" : "ok", worst.c_str(),
              most);
  std::fflush(stdout);
  return isFar || isWrong;
}

/// The longest sequence of all stacks; 0: no limit.
int64_t positionsOf(const tfc_model_info &info) {
  int64_t limit = info.max_positions;
  for (uint32_t i = 0; i < info.n_inputs; ++i) {
    const tfc_port_info &port = info.inputs[i];
    std::string_view name = port.name;
    bool isPosition = name == "position_ids" || name == "decoder_position_ids";
    if (isPosition && (limit == 0 || port.limit < limit)) {
      limit = port.limit;
    }
  }
  return limit;
}

/// Lengths around the borders of cache blocks and of tiles.
std::vector<Case> listCases(const tfc_model_info &info) {
  int64_t limit = positionsOf(info);
  std::vector<Case> cases;
  int64_t least = 1;
  for (uint32_t i = 0; i < info.n_inputs; ++i) {
    least = info.inputs[i].rank == 3 ? info.inputs[i].limit + 1 : least;
  }
  for (int64_t length : {1, 2, 15, 16, 17, 33, 64, 65}) {
    if (length >= least && (limit == 0 || length <= limit)) {
      cases.push_back(
          {std::to_string(length) + (length == 1 ? " token" : " tokens"), 1,
           length, length});
    }
  }
  const Case &last = cases.back();
  cases.push_back(
      {"3 rows of " + std::to_string(last.length) + ", one of them shorter", 3,
       last.length, (last.length + 1) / 2});
  return cases;
}

/// Runs all cases; how many are wrong.
rt::Result<int> holdAgainst(const tfc_model *reference, const tfc_model *model,
                            Limit limit, uint64_t seed, TapTest &taps,
                            SilenceLimit &silence) {
  tfc_model_info info{};
  info.struct_size = sizeof(info);
  if (tfc_error *error = tfc_model_get_info(model, &info)) {
    return take(error);
  }
  int faults = 0;
  for (const Case &which : listCases(info)) {
    Inputs inputs(info, which, seed++);
    taps.begin();
    auto expected = forward(reference, inputs);
    silence.hear(which.name);
    auto got = forward(model, inputs);
    silence.pause();
    if (!expected || !got) {
      return expected ? std::move(got.error()) : std::move(expected.error());
    }
    faults += compare(info.program, which.name, expected->get(), got->get(),
                      limit, taps);
  }
  constexpr int64_t prompt = 5, count = 20;
  int64_t most = positionsOf(info);
  if (info.can_generate && (most == 0 || prompt + count <= most)) {
    Inputs inputs(info, {"", 2, prompt, prompt}, seed);
    taps.begin();
    auto expected = generate(reference, inputs, count);
    silence.hear("the prompts of a generation");
    auto got = generate(model, inputs, count);
    silence.pause();
    if (!expected) {
      return std::move(expected.error());
    }
    const char *name = "20 tokens generated";
    if (got) {
      faults +=
          compare(info.program, name, expected->get(), got->get(), limit, taps);
    } else if (got.error().code == rt::Code::InvalidArgument) {
      // Scores of which no token can be chosen.
      std::printf("%s: %s: WRONG (%s)\n", info.program, name,
                  got.error().message.c_str());
      ++faults;
    } else {
      return std::move(got.error());
    }
  }
  return faults;
}

/// The coarsest of `kept` and what the values of a step are kept in, which on a
/// device may be so without a cache that says it: `listener` is the model's.
rt::Result<uint32_t> learnDtype(const tfc_model *model, uint32_t kept,
                                uint64_t seed, rt::TapListener &listener) {
  tfc_model_info info{};
  info.struct_size = sizeof(info);
  if (tfc_error *error = tfc_model_get_info(model, &info)) {
    return take(error);
  }
  listener = [&](const rt::TappedValue &value) {
    kept = coarserOf(kept, value.dtype);
    return false;
  };
  Inputs inputs(info, listCases(info).front(), seed);
  auto outputs = forward(model, inputs);
  if (!outputs) {
    return std::move(outputs.error());
  }
  return kept;
}

/// Holds a program against the reference; how many cases are wrong. Errors:
/// those of loading and running either.
rt::Result<int> testProgram(const CommandLine &line,
                            const std::string &reference,
                            const tfc_program_v0 &program) {
  SilenceLimit silence(line.silenceSeconds);
  // Known once the device has said what it keeps.
  rt::TapListener recorder, listener;
  auto expected = load(line, reference, [&](const rt::TappedValue &value) {
    return recorder(value);
  });
  auto model = load(line, program.name, [&](const rt::TappedValue &value) {
    silence.hear(rt::concat(value.id, ", layer ", value.layer, ", kernel ",
                            value.kernel ? value.kernel : "none"));
    return listener(value);
  });
  if (!expected || !model) {
    return expected ? std::move(model.error()) : std::move(expected.error());
  }
  rt::Result<uint32_t> kept = keptDtypeOf(program);
  if (program.isa == TFC_ISA_CUDA) {
    silence.hear("the first case");
    kept = learnDtype(model->get(), *kept, line.selfTestSeed, listener);
    silence.pause();
    if (!kept) {
      return std::move(kept.error());
    }
  }
  TapTest taps(toleranceOf(*kept), *kept);
  recorder = taps.recorder();
  listener = taps.checker();
  auto faults = holdAgainst(expected->get(), model->get(),
                            {toleranceOf(*kept), noiseOf(program, *kept)},
                            line.selfTestSeed, taps, silence);
  for (const std::string &op : taps.wrongOps()) {
    std::printf("%s: wrong op: %s\n", program.name, op.c_str());
  }
  return faults;
}

/// Whether a program that was wrong is right when it does without something:
/// which of two ways is to blame.
void testAvoiding(const CommandLine &line, const std::string &reference,
                  const tfc_program_v0 &program) {
  const char *variable = "TFC_CUDA_AVOID";
  if (program.isa != TFC_ISA_CUDA || std::getenv(variable)) {
    return;
  }
  for (const std::string &name : rt::avoidableNames()) {
    std::printf("%s: again, with %s=%s\n", program.name, variable,
                name.c_str());
    setenv(variable, name.c_str(), 1);
    auto faults = testProgram(line, reference, program);
    unsetenv(variable);
    std::printf("%s: with %s=%s: %s\n", program.name, variable, name.c_str(),
                !faults   ? faults.error().message.c_str()
                : *faults ? "WRONG as well"
                          : "ok");
  }
}

} // namespace

rt::Result<SelfTestResult> runSelfTest(const CommandLine &line) {
  auto module = rt::Module::open(line.library);
  if (!module) {
    return std::move(module.error());
  }
  auto first = rt::chooseProgram(**module, "cpu");
  if (!first) {
    return std::move(first.error());
  }
  const tfc_module_v0 &table = (*module)->table();
  SelfTestResult result;
  std::optional<rt::Error> refused; // the first program that does not run here
  for (uint32_t i = 0; i < table.n_programs; ++i) {
    const tfc_program_v0 &program = table.programs[i];
    bool isMeant = line.program.empty() || line.program == program.name ||
                   (line.program == "cuda" && program.isa == TFC_ISA_CUDA);
    if (&program == first->program || !isMeant) {
      continue;
    }
    auto faults = testProgram(line, first->program->name, program);
    if (!faults && line.program != program.name &&
        faults.error().code == rt::Code::Incompatible) {
      std::printf("%s: not run: %s\n", program.name,
                  faults.error().message.c_str());
      refused = refused ? std::move(refused) : std::move(faults.error());
      continue;
    }
    if (!faults) {
      return std::move(faults.error());
    }
    if (*faults > 0) {
      testAvoiding(line, first->program->name, program);
    }
    ++result.programs;
    result.faults += *faults;
  }
  if (result.programs == 0 && refused && !line.program.empty()) {
    return std::move(*refused);
  }
  if (result.programs == 0) {
    return rt::makeError(rt::Code::NotFound, line.library,
                         ": expected a second program that runs here, to hold "
                         "against ",
                         first->program->name, ", got none");
  }
  return result;
}

} // namespace tfc::run
