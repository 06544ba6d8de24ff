// `tfc doctor`: what of a model this machine runs, and whether it can.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/DoctorCommand.h"

#include "compiler/driver/Compile.h"
#include "compiler/driver/LibraryCache.h"
#include "compiler/driver/ReadModel.h"
#include "compiler/driver/RunCommand.h"
#include "runtime/src/files/Safetensors.h"
#include "runtime/tools/MachineReport.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace tfc;
using llvm::StringRef;

namespace {

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
  void testItself(const std::string &tool);

  DoctorOptions options;
  std::string library;
  bool isWell = true;
};

} // namespace

/// The library itself, or that of a folder, compiled where there is none.
int Doctor::findLibrary(const std::string &path) {
  const CompileOptions &how = options.compile;
  if (!rt::isCheckpoint(path)) {
    library = path;
    bool isCompiled = how.target.empty() && how.dtype.empty() &&
                      how.cache.empty() && how.opt == "full";
    return isCompiled ? kOk
                      : fail("expected --target, --opt, --dtype and --cache "
                             "with a Hugging Face folder only (" +
                                 path + " is compiled)",
                             kBadCommandLine);
  }
  std::optional<spec::ModelSpec> model = readModelOrReport(
      path, {how.dtype, how.cache, false, how.group}, llvm::errs());
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
  auto report = tools::reportMachine(library);
  if (!report) {
    return fail(report.error().message);
  }
  llvm::outs() << report->text;
  for (const std::string &fault : report->faults) {
    complain(fault);
  }
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
