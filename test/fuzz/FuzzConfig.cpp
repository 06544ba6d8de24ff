// Fuzzes tfc import. An input has three lines: the name of a model of
// test/golden, whose tensors the folder has; its config.json; its
// generation_config.json, or nothing. What is imported is a spec that is taken.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/Import.h"
#include "compiler/spec/read/ReadSpec.h"
#include "test/fuzz/Fuzz.h"

namespace tfc::fuzz {
namespace {

namespace fs = std::filesystem;

/// Links the tensors of a golden model into `folder`, for all its configs.
/// False: there is no such model.
bool prepare(const fs::path &folder, const std::string &model) {
  bool isName = !model.empty() &&
                model.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-",
                                        0) == std::string::npos;
  fs::path from = fs::path(GOLDEN_MODELS) / model;
  if (!isName || !fs::exists(from / "model.safetensors")) {
    return false;
  }
  if (!fs::exists(folder)) {
    fs::create_directory(folder);
    fs::copy_file(from / "model.safetensors", folder / "model.safetensors");
  }
  return true;
}

/// The text before the next line's end, which it takes off.
std::string_view takeLine(std::string_view &text) {
  std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

void import(const fs::path &folder, bool isStrict) {
  spec::Diagnostics faults;
  huggingface::ImportOptions options;
  options.strict = isStrict;
  auto imported =
      huggingface::importDirectory(folder.string(), options, faults);
  expect(imported.has_value() != hasError(faults), "either a spec or an error");
  for (const spec::Diagnostic &fault : faults) {
    expect(!fault.message.empty(), "a message");
    expectMessage(formatDiagnostic(fault));
  }
  if (imported) {
    spec::Diagnostics none;
    expect(
        spec::readSpecText("spec.json", imported->spec, folder.string(), none)
            .has_value(),
        "an imported spec to be taken", imported->spec);
  }
}

} // namespace
} // namespace tfc::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace tfc::fuzz;
  static const Scratch scratch;
  std::string_view input(reinterpret_cast<const char *>(data), size);
  std::string model(takeLine(input));
  fs::path folder = scratch.path / model;
  if (!prepare(folder, model)) {
    return -1;
  }
  put(folder / "config.json", takeLine(input));
  put(folder / "generation_config.json", takeLine(input));
  import(folder, false);
  import(folder, true);
  return 0;
}
