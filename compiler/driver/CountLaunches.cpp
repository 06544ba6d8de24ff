// Compiles for a device and runs its entries with a host that takes notes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/CountLaunches.h"

#include "compiler/driver/Compile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"

#include <set>

using namespace tfc;

namespace {

/// A host that launches nothing.
struct Notes {
  LaunchCounts counts;
  std::set<uint32_t> kernels;

  static int32_t launch(void *ctx, const tfc_launch_v0 *launch) {
    auto &self = *static_cast<Notes *>(ctx);
    ++self.counts.launches;
    self.counts.blocks +=
        uint64_t(launch->grid[0]) * launch->grid[1] * launch->grid[2];
    self.kernels.insert(launch->kernel);
    return TFC_STATUS_DONE;
  }
};

} // namespace

static llvm::Error failWith(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

llvm::Expected<std::unique_ptr<LaunchCounter>>
LaunchCounter::create(const spec::ModelSpec &model, const std::string &target) {
  if (!(rt::machineFeatures() & TFC_FEATURE_X86_64_V3)) {
    return failWith("expected a machine of x86-64-v3, whose code a device's "
                    "host code is, got another one");
  }
  llvm::SmallString<128> path;
  if (std::error_code code =
          llvm::sys::fs::createTemporaryFile("tfc-inspect", "so", path)) {
    return failWith("expected a writable folder for temporary files, got: " +
                    code.message());
  }
  llvm::FileRemover remove(path);
  std::string said;
  llvm::raw_string_ostream errors(said);
  CompileOptions options;
  options.target = target;
  if (compileModel(model, options, path.str().str(), errors)) {
    return failWith(llvm::StringRef(said).trim());
  }
  auto module = rt::Module::open(path.str().str());
  if (!module) {
    return failWith(module.error().message);
  }
  std::unique_ptr<LaunchCounter> counter(new LaunchCounter());
  counter->module = std::move(*module);
  return counter;
}

std::optional<LaunchCounts> LaunchCounter::count(llvm::StringRef name,
                                                 const cost::Step &of,
                                                 int64_t rows) const {
  llvm::ArrayRef<tfc_entry_v0> entries(table().entries, table().n_entries);
  const tfc_entry_v0 *entry = llvm::find_if(
      entries, [&](const tfc_entry_v0 &each) { return name == each.name; });
  if (entry == entries.end()) {
    return std::nullopt;
  }
  Notes notes;
  tfc_host_v0 host{};
  host.struct_size = sizeof(host);
  host.ctx = &notes;
  host.launch = Notes::launch;
  // Addresses of a device are numbers to the host's code.
  alignas(64) static char somewhere[64];
  std::vector<void *> caches(entry->n_caches, somewhere),
      outputs(entry->n_outputs, somewhere);
  std::vector<const void *> inputs(entry->n_inputs, somewhere);
  std::vector<tfc_sequence_v0> sequences(static_cast<size_t>(of.sequences));
  int64_t items = (of.newTokens + entry->query_rows - 1) / entry->query_rows;
  std::vector<tfc_item_v0> list(static_cast<size_t>(of.sequences * items));
  tfc_step_v0 step{};
  step.struct_size = sizeof(step);
  step.weights = somewhere;
  step.workspace = somewhere;
  step.caches = caches.data();
  step.n_tokens = of.tokens();
  step.inputs = inputs.data();
  step.n_sequences = of.sequences;
  step.sequences = sequences.data();
  step.n_items = of.sequences * items;
  step.items = list.data();
  step.n_rows = rows;
  step.outputs = outputs.data();
  step.host = &host;
  step.device_step = somewhere;
  step.greatest = reinterpret_cast<int32_t *>(somewhere); // a greedy choice
  host.n_workers = static_cast<uint32_t>(std::min<int64_t>(
      std::max<int64_t>(step.n_items, 1), std::numeric_limits<int32_t>::max()));
  entry->run(&step);
  notes.counts.kernels = notes.kernels.size();
  return notes.counts;
}
