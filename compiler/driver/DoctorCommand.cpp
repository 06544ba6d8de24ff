// `tfc doctor`: what of a model this machine runs, and whether it can.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/DoctorCommand.h"

#include "compiler/driver/Compile.h"
#include "compiler/driver/LibraryCache.h"
#include "compiler/driver/ReadModel.h"
#include "compiler/driver/RunCommand.h"
#include "runtime/src/load/ChooseProgram.h"
#include "runtime/src/load/ModuleTables.h"
#include "runtime/src/memory/MemoryLimits.h"
#include "runtime/src/step/CpuDevice.h"
#include "runtime/src/threads/ThreadPool.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

#include <fstream>

using namespace tfc;
using llvm::StringRef;

namespace {

/// What a model needs of memory, in bytes.
struct MemoryPlan {
  uint64_t weights = 0, workspace = 0, sequence = 0;
  int64_t stepTokens = 0, sequenceTokens = 0;
  uint64_t total() const { return weights + workspace + sequence; }
};

class Doctor {
public:
  explicit Doctor(DoctorOptions options) : options(std::move(options)) {}

  int run(const std::string &path);

private:
  int fail(const llvm::Twine &message, int code = kBadInput) {
    llvm::errs() << "tfc: error: " << message << '\n';
    return code;
  }
  void complain(const llvm::Twine &message) {
    fail(message);
    isWell = false;
  }
  int findLibrary(const std::string &path);
  void showPrograms(const rt::Module &module, const tfc_program_v0 *chosen);
  void showMemory(const rt::Module &module, const tfc_program_v0 &program);
  void testItself(const std::string &tool);

  DoctorOptions options;
  std::string library;
  bool isWell = true;
};

} // namespace

static std::string sizeOf(uint64_t bytes) {
  const char *units[] = {"bytes", "KB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1000 && unit < 4; ++unit) {
    value /= 1000;
  }
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format(unit == 0 ? "%.0f " : "%.1f ", value) << units[unit];
  return text;
}

/// Bytes that programs can get without others having to give some; 0 where the
/// system does not say.
static uint64_t availableMemory() {
  std::ifstream file("/proc/meminfo");
  for (std::string name; file >> name;) {
    uint64_t kilobytes = 0;
    if (name == "MemAvailable:" && file >> kilobytes) {
      return kilobytes * 1024;
    }
    file.ignore(4096, '\n');
  }
  return 0;
}

/// Of a step of one sequence, and of the longest one.
static MemoryPlan planMemory(const tfc_module_v0 &module,
                             const tfc_program_v0 &program) {
  constexpr int64_t longestPlanned = 2048, stepPlanned = 512;
  MemoryPlan plan;
  plan.weights = program.packed_bytes;
  plan.sequenceTokens =
      module.max_positions ? module.max_positions : longestPlanned;
  plan.stepTokens = std::min(stepPlanned, plan.sequenceTokens);
  for (uint32_t e = 0; e < program.n_entries; ++e) {
    const tfc_entry_v0 &entry = program.entries[e];
    plan.workspace += entry.workspace_bytes(plan.stepTokens, plan.stepTokens, 1,
                                            rt::allowedThreads());
    for (uint32_t c = 0; c < entry.n_caches; ++c) {
      const tfc_cache_v0 &cache = entry.caches[c];
      if (cache.layers != 0) {
        uint64_t blocks =
            (plan.sequenceTokens + cache.block_tokens - 1) / cache.block_tokens;
        plan.sequence += blocks * cache.block_bytes;
      }
    }
  }
  return plan;
}

/// The library itself, or that of a folder, compiled where there is none.
int Doctor::findLibrary(const std::string &path) {
  const CompileOptions &how = options.compile;
  if (!llvm::sys::fs::is_directory(path)) {
    library = path;
    bool isCompiled = how.target.empty() && how.dtype.empty() &&
                      how.cache.empty() && how.opt == "full";
    return isCompiled ? kOk
                      : fail("expected --target, --opt, --dtype and --cache "
                             "with a Hugging Face folder only (" +
                                 path + " is compiled)",
                             kBadCommandLine);
  }
  std::optional<spec::ModelSpec> model =
      readModelOrReport(path, {how.dtype, how.cache}, llvm::errs());
  if (!model) {
    return kBadInput;
  }
  llvm::Expected<CachedLibrary> cached = findCached(*model, how);
  if (!cached) {
    return fail(llvm::toString(cached.takeError()));
  }
  library = cached->library;
  options.weights = options.weights.empty() ? path : options.weights;
  return cached->isReady ? kOk
                         : compileModel(*model, how, library, llvm::errs());
}

void Doctor::showPrograms(const rt::Module &module,
                          const tfc_program_v0 *chosen) {
  const tfc_module_v0 &table = module.table();
  llvm::outs() << "model " << table.header.name << ", "
               << rt::kindName(table.kind) << ", made by "
               << table.header.producer << '\n';
  for (uint32_t i = 0; i < table.n_programs; ++i) {
    const tfc_program_v0 &program = table.programs[i];
    llvm::outs() << "program " << program.name << ": "
                 << rt::describeUse(program, chosen) << '\n';
  }
}

void Doctor::showMemory(const rt::Module &module,
                        const tfc_program_v0 &program) {
  MemoryPlan plan = planMemory(module.table(), program);
  uint64_t allowed = rt::allowedMemory(), available = availableMemory();
  uint64_t limit = rt::cgroupMemory();
  bool isHost = program.isa == TFC_ISA_X86_64;
  llvm::outs() << "threads " << rt::allowedThreads()
               << ", one a CPU that this process may use\n"
               << "memory: weights " << sizeOf(plan.weights) << ", a step of "
               << plan.stepTokens << " tokens " << sizeOf(plan.workspace)
               << ", a sequence of " << plan.sequenceTokens << " tokens "
               << sizeOf(plan.sequence) << (isHost ? "" : ", on the device")
               << '\n'
               << "memory there is: " << sizeOf(allowed) << " ("
               << (limit && limit == allowed ? "the control group's limit"
                                             : "the machine's")
               << "), " << sizeOf(available) << " of the machine's available\n";
  uint64_t most = rt::CpuDevice::halfOfMemory();
  if (isHost && plan.sequence != 0) {
    llvm::outs()
        << "keys and values: " << most / plan.sequence
        << " such sequences in the half of memory that they may have\n";
  }
  uint64_t least = available ? std::min(allowed, available) : allowed;
  if (isHost && plan.total() > least) {
    complain("expected at least " + sizeOf(plan.total()) +
             " of memory for weights, a step and a sequence, got " +
             sizeOf(least));
  }
}

/// The programs that run here beside each other, in a process: what a machine
/// cannot do may end it.
void Doctor::testItself(const std::string &tool) {
  llvm::SmallString<128> output;
  if (llvm::sys::fs::createTemporaryFile("tfc-doctor", "txt", output)) {
    complain("expected a writable folder for temporary files, got none");
    return;
  }
  llvm::FileRemover remove(output);
  std::vector<StringRef> command = {tool, library, "--self-test"};
  if (!options.weights.empty()) {
    command.insert(command.end(), {"--weights", options.weights});
  }
  std::optional<StringRef> redirects[] = {StringRef(), output.str(),
                                          output.str()};
  std::string why;
  int code = llvm::sys::ExecuteAndWait(tool, command, std::nullopt, redirects,
                                       0, 0, &why);
  auto said = llvm::MemoryBuffer::getFile(output);
  StringRef text = said ? (*said)->getBuffer().trim() : "";
  if (code == kOk) {
    llvm::outs() << "self-test: " << text.rsplit('\n').second << '\n';
  } else if (text.contains("expected a second program that runs here")) {
    llvm::outs() << "self-test: none (there is no second program for this "
                    "machine in the library, to hold the first one against)\n";
  } else {
    complain("self-test: expected programs that agree, got" +
             (code < 0 ? " a program that ended: " + why : std::string(":")) +
             "\n" + text);
  }
}

int Doctor::run(const std::string &path) {
  llvm::Expected<std::string> tool = findTfcRun();
  if (!tool) {
    return fail(llvm::toString(tool.takeError()));
  }
  if (int code = findLibrary(path)) {
    return code;
  }
  auto module = rt::Module::open(library);
  if (!module) {
    return fail(module.error().message);
  }
  auto chosen = rt::chooseProgram(**module, "");
  showPrograms(**module, chosen ? chosen->program : nullptr);
  if (!chosen) {
    return fail(chosen.error().message);
  }
  showMemory(**module, *chosen->program);
  if (!options.noSelfTest && isWell) {
    testItself(*tool);
  }
  return isWell ? kOk : kBadInput;
}

int tfc::runDoctor(const std::string &path, DoctorOptions options) {
  // Whatever is there under that name is damaged, or of another tfc.
  options.compile.force = true;
  return Doctor(std::move(options)).run(path);
}
