// Fuzzes the reader of specs. An input is a spec's text. The canonical text of
// a spec that is taken is taken too, and is its own canonical text.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/ReadSpec.h"
#include "test/fuzz/Fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace tfc::fuzz;
  using namespace tfc::spec;
  std::string_view text(reinterpret_cast<const char *>(data), size);
  // A folder that does not exist: nothing can be extended but presets.
  const std::string nowhere = "/proc/self/no-such-folder";
  Diagnostics faults;
  auto model = readSpecText("spec.json", text, nowhere, faults);
  expect(model.has_value() != hasError(faults), "either a spec or an error");
  for (const Diagnostic &fault : faults) {
    expect(!fault.message.empty(), "a message");
    expectMessage(formatDiagnostic(fault));
  }
  if (model) {
    Diagnostics none;
    auto again = readSpecText("again.json", model->canonical, nowhere, none);
    expect(again.has_value(), "the canonical spec to be taken",
           model->canonical);
    expect(again->canonical == model->canonical,
           "the canonical spec to be its own", again->canonical);
  }
  return 0;
}
