// tfc-run: answers texts with a compiled model, or runs it over tensors in
// files. Through the C API, as any program would, but for --version.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/Safetensors.h"
#include "runtime/src/load/ChooseProgram.h"
#include "runtime/tools/CheckOutputs.h"
#include "runtime/tools/CommandLine.h"
#include "runtime/tools/InputTensors.h"
#include "runtime/tools/LostFiles.h"
#include "runtime/tools/SelfTest.h"
#include "runtime/tools/TextRun.h"
#include "tfc/runtime.h"

#include <cstdio>

using namespace tfc;

namespace {

enum Exit { Ok = 0, BadInput = 1, BadCommandLine = 2, OurFault = 70 };

using ModelPtr = std::unique_ptr<tfc_model, void (*)(tfc_model *)>;
using OutputsPtr = std::unique_ptr<tfc_outputs, void (*)(tfc_outputs *)>;

void report(const std::string &message) {
  std::fprintf(stderr, "tfc-run: error: %s\n", message.c_str());
}

/// One message a line. Faults of an input say which file it was in.
Exit reportAll(rt::Code code, const std::string &text,
               const std::string &inputsPath) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    bool isInput = line.rfind("input \"", 0) == 0;
    report(isInput ? inputsPath + ": " + line : line);
  }
  return code == rt::Code::Internal ? OurFault : BadInput;
}

Exit reportError(tfc_error *error, const std::string &inputsPath) {
  Exit status = reportAll(static_cast<rt::Code>(tfc_error_code(error)),
                          tfc_error_message(error), inputsPath);
  tfc_error_free(error);
  return status;
}

rt::Status writeOutputs(const tfc_outputs *outputs, const std::string &path) {
  std::vector<rt::TensorToWrite> tensors;
  for (uint32_t i = 0; i < tfc_outputs_count(outputs); ++i) {
    const tfc_tensor &from = *tfc_outputs_get(outputs, i);
    tensors.push_back(
        {from.name, from.dtype == TFC_F32 ? rt::DType::F32 : rt::DType::I64,
         std::vector<int64_t>(from.shape, from.shape + from.rank), from.data});
  }
  return rt::writeSafetensors(path, tensors);
}

/// What did not keep the model from being loaded.
tfc_error *reportWarnings(const tfc_model *model) {
  tfc_model_info info{};
  info.struct_size = sizeof(info);
  tfc_error *error = tfc_model_get_info(model, &info);
  if (!error && info.packed_fault) {
    std::fprintf(stderr, "tfc-run: warning: %s\n", info.packed_fault);
  }
  return error;
}

tfc_error *call(const tfc_model *model, const tfc_model *draft,
                const run::CommandLine &line,
                const std::vector<tfc_tensor> &inputs, tfc_outputs **out) {
  uint32_t count = static_cast<uint32_t>(inputs.size());
  if (!line.generate) {
    tfc_encode_options options{};
    options.struct_size = sizeof(options);
    options.inputs = inputs.data();
    options.n_inputs = count;
    return tfc_encode(model, &options, out);
  }
  tfc_generate_options options{};
  options.struct_size = sizeof(options);
  options.inputs = inputs.data();
  options.n_inputs = count;
  options.max_new_tokens = line.maxNewTokens;
  options.max_drafts = line.maxDrafts;
  options.draft = draft;
  if (line.eos) {
    options.own_eos = 1;
    options.eos = line.eos->data();
    options.n_eos = static_cast<uint32_t>(line.eos->size());
  }
  tfc_decoding_options decoding{};
  decoding.struct_size = sizeof(decoding);
  if (tfc_error *error = tfc_decoding_init(model, &decoding)) {
    return error;
  }
  for (const auto &change : line.decoding) {
    change(decoding);
  }
  options.decoding = &decoding;
  return tfc_generate(model, &options, nullptr, nullptr, out);
}

/// Loads the model of a command line; says what did not keep it from that.
tfc_error *loadModel(const run::CommandLine &line, ModelPtr &model) {
  tfc_model_options options{};
  options.struct_size = sizeof(options);
  options.library_path = line.library.c_str();
  options.weights_path = line.weights.empty() ? nullptr : line.weights.c_str();
  std::vector<const char *> more;
  for (const std::string &path : line.moreWeights) {
    more.push_back(path.c_str());
  }
  options.weights_paths = more.data();
  options.n_weights_paths = static_cast<uint32_t>(more.size());
  options.packed_path = line.packed.empty() ? nullptr : line.packed.c_str();
  options.program = line.program.empty() ? nullptr : line.program.c_str();
  options.threads = line.threads;
  options.share_packed = line.sharePacked;
  tfc_model *loaded = nullptr;
  {
    tools::Progress progress(line.progress, "loading weights");
    if (tfc_error *error = tfc_model_load(&options, &loaded)) {
      return error;
    }
  }
  model.reset(loaded);
  return reportWarnings(loaded);
}

/// The model that guesses, where there is one.
tfc_error *loadDraft(const run::CommandLine &line, ModelPtr &draft) {
  if (line.draftLibrary.empty()) {
    return nullptr;
  }
  run::CommandLine own;
  own.library = line.draftLibrary;
  own.weights = line.draftWeights;
  own.threads = line.threads;
  own.progress = line.progress;
  return loadModel(own, draft);
}

Exit runTexts(const run::CommandLine &line) {
  auto texts = run::TextRun::open(line);
  if (!texts) {
    return reportAll(texts.error().code, texts.error().message, "");
  }
  ModelPtr model(nullptr, tfc_model_free), draft(nullptr, tfc_model_free);
  tfc_error *error = loadModel(line, model);
  error = error ? error : loadDraft(line, draft);
  if (error) {
    return reportError(error, "");
  }
  rt::Status status = texts->answer(model.get(), draft.get());
  return status ? Ok
                : reportAll(status.error().code, status.error().message, "");
}

Exit runModel(const run::CommandLine &line) {
  if (rt::Status status = run::checkOutputs(line); !status) {
    return reportAll(status.error().code, status.error().message, line.inputs);
  }
  // The inputs first: they are small, and their faults are the likeliest.
  auto file = rt::TensorFile::open(line.inputs);
  if (!file) {
    return reportAll(file.error().code, file.error().message, line.inputs);
  }
  auto inputs = tools::readInputTensors(**file);
  if (!inputs) {
    return reportAll(inputs.error().code, inputs.error().message, line.inputs);
  }
  ModelPtr model(nullptr, tfc_model_free), draft(nullptr, tfc_model_free);
  tfc_error *error = loadModel(line, model);
  error = error ? error : loadDraft(line, draft);
  tfc_outputs *made = nullptr;
  error = error ? error : call(model.get(), draft.get(), line, *inputs, &made);
  if (error) {
    return reportError(error, line.inputs);
  }
  OutputsPtr outputs(made, tfc_outputs_free);
  rt::Status status = writeOutputs(outputs.get(), line.outputs);
  if (!status) {
    return reportAll(status.error().code, status.error().message, line.inputs);
  }
  return Ok;
}

Exit printVersion() {
  std::printf("tfc-run %s, ABI version %u\n", tfc_version(), tfc_abi_version());
  return Ok;
}

/// The same, the library's, and its programs.
Exit printVersions(const run::CommandLine &line) {
  auto module = rt::Module::open(line.library);
  if (!module) {
    return reportAll(module.error().code, module.error().message, "");
  }
  auto chosen = rt::chooseProgram(**module, line.program);
  if (!chosen) {
    return reportAll(chosen.error().code, chosen.error().message, "");
  }
  printVersion();
  const tfc_module_v0 &table = (*module)->table();
  std::printf("model %s, made by %s\n", table.header.name,
              table.header.producer);
  for (uint32_t i = 0; i < table.n_programs; ++i) {
    const tfc_program_v0 &program = table.programs[i];
    std::printf("program %s: %s\n", program.name,
                rt::describeUse(program, chosen->program).c_str());
  }
  return Ok;
}

Exit testItself(const run::CommandLine &line) {
  auto result = run::runSelfTest(line);
  if (!result) {
    return reportAll(result.error().code, result.error().message, "");
  }
  std::printf("%d programs beside the CPU's: %s\n", result->programs,
              result->faults ? "WRONG" : "ok");
  return result->faults ? BadInput : Ok;
}

Exit mainOf(const std::vector<std::string> &arguments) {
  run::CommandLine line = run::readCommandLine(arguments);
  if (!line.faults.empty()) {
    for (const std::string &fault : line.faults) {
      report(fault + " (see tfc-run --help)");
    }
    return BadCommandLine;
  }
  if (line.help) {
    std::fputs(run::helpText, stdout);
    return Ok;
  }
  if (!line.completion.empty()) {
    std::fputs(line.completion.c_str(), stdout);
    return Ok;
  }
  if (line.version) {
    return line.library.empty() ? printVersion() : printVersions(line);
  }
  if (line.selfTest) {
    return testItself(line);
  }
  return line.texts.empty() ? runModel(line) : runTexts(line);
}

} // namespace

int main(int argc, char **argv) {
  tools::reportLostFiles("tfc-run");
  try {
    return mainOf(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::bad_alloc &) {
    report("out of memory");
    return BadInput;
  } catch (const std::exception &fault) {
    report(fault.what());
    return OurFault;
  }
}
