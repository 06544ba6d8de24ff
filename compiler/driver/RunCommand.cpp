// `tfc run`: a model's folder and a text, in one command.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/RunCommand.h"

#include "compiler/driver/Compile.h"
#include "compiler/driver/LibraryCache.h"
#include "compiler/driver/ReadModel.h"
#include "compiler/driver/WriteText.h"
#include "runtime/tools/CommandLine.h"
#include "runtime/tools/TextRun.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace tfc;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

namespace {

using Words = std::vector<std::string>;

/// Does the steps, and says what is wrong with one.
class Runner {
public:
  Runner(const std::string &directory, RunOptions options)
      : directory(directory), options(std::move(options)) {}

  int run();

private:
  int fail(const llvm::Twine &message, int code = kBadInput) {
    llvm::errs() << "tfc: error: " << message << '\n';
    return code;
  }
  void show(const Words &command) const;
  int findTool();
  int readModel();
  Words runArguments(const std::string &library,
                     const std::string &draft) const;
  int checkText();
  int compile(const CachedLibrary &cached);
  int makeLibrary(std::string &library);
  int execute(const std::string &library, const std::string &draft);

  const std::string &directory;
  RunOptions options;
  std::string tool; // tfc-run
  std::optional<huggingface::Imported> imported;
  std::optional<spec::ModelSpec> model;
  spec::Diagnostics diagnostics; // of the import
};

} // namespace

/// A word as a shell takes it.
static std::string quote(const std::string &word) {
  bool isPlain = !word.empty() && llvm::all_of(word, [](char c) {
    return llvm::isAlnum(c) || StringRef("-_./,:=+@%").contains(c);
  });
  if (isPlain) {
    return word;
  }
  std::string quoted = "'";
  for (char c : word) {
    quoted += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return quoted + "'";
}

void Runner::show(const Words &command) const {
  if (options.isVerbose) {
    llvm::errs() << llvm::join(llvm::map_range(command, quote), " ") << '\n';
  }
}

llvm::Expected<std::string> tfc::findTfcRun() {
  llvm::SmallString<128> path(fs::getMainExecutable(nullptr, nullptr));
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "tfc-run");
  if (!fs::can_execute(path)) {
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        path + ": expected the program tfc-run beside tfc, got none");
  }
  return path.str().str();
}

int Runner::findTool() {
  llvm::Expected<std::string> found = findTfcRun();
  if (!found) {
    return fail(llvm::toString(found.takeError()));
  }
  tool = *found;
  return kOk;
}

int Runner::readModel() {
  imported = importFolder(directory, diagnostics, llvm::errs());
  if (!imported) {
    return kBadInput;
  }
  // What stands behind the model tfc-run does, or refuses before it runs.
  llvm::erase_if(diagnostics, [](const spec::Diagnostic &diagnostic) {
    return llvm::sys::path::filename(diagnostic.file) == "modules.json";
  });
  spec::Diagnostics ofSpec;
  model = spec::readSpecText(directory, imported->spec, directory, ofSpec,
                             {options.compile.dtype, options.compile.cache,
                              false, options.compile.group});
  report(ofSpec, llvm::errs());
  return model ? kOk : kBadInput;
}

Words Runner::runArguments(const std::string &library,
                           const std::string &draft) const {
  Words words = {library, "--weights", directory};
  if (!options.draft.empty()) {
    words.insert(words.end(),
                 {"--draft-library", draft, "--draft-weights", options.draft});
  }
  bool hasText = llvm::any_of(options.forwarded, [](const std::string &word) {
    return word == "--text" || StringRef(word).starts_with("--text=");
  });
  if (options.text || !hasText) {
    words.insert(words.end(), {"--text", options.text.value_or("-")});
  }
  words.insert(words.end(), options.forwarded.begin(), options.forwarded.end());
  return words;
}

/// Asks what tfc-run will ask, before anything is compiled.
int Runner::checkText() {
  run::CommandLine line =
      run::readCommandLine(runArguments("model.so", "draft.so"));
  for (const std::string &fault : line.faults) {
    fail(fault + " (see tfc-run --help)");
  }
  if (!line.faults.empty()) {
    return kBadCommandLine;
  }
  if (const spec::Stack *encoder = model->encoder ? &*model->encoder : nullptr;
      encoder && encoder->embeddings.patches) {
    return fail(directory +
                ": expected a model of texts, got one of rows of floats "
                "(pictures, sound), which tfc-run --inputs takes as patches, "
                "and Python as pixels or features");
  }
  auto texts = run::TextRun::open(line);
  if (!texts) {
    return fail(texts.error().message);
  }
  const spec::Stack &first = *model->stacks().front();
  rt::Status status = texts->checkTokens(first.embeddings.tokenRows);
  return status ? kOk : fail(status.error().message);
}

int Runner::compile(const CachedLibrary &cached) {
  report(diagnostics, llvm::errs());
  show({"tfc", "import", directory, "-o", cached.spec});
  if (int code = writeText(cached.spec, imported->spec, llvm::errs())) {
    return code;
  }
  const CompileOptions &how = options.compile;
  Words command = {"tfc", "compile", cached.spec, "-o", cached.library};
  for (auto [name, value] :
       {std::pair<const char *, StringRef>{"--target=", how.target},
        {"--opt=", how.opt == "full" ? "" : how.opt},
        {"--dtype=", how.dtype},
        {"--cache=", how.cache}}) {
    if (!value.empty()) {
      command.push_back(name + value.str());
    }
  }
  if (how.group != 0) {
    command.push_back("--group=" + std::to_string(how.group));
  }
  show(command);
  return compileModel(*model, how, cached.library, llvm::errs());
}

/// Where the model's library is, once it is there.
int Runner::makeLibrary(std::string &library) {
  llvm::Expected<CachedLibrary> cached = findCached(*model, options.compile);
  if (!cached) {
    return fail(llvm::toString(cached.takeError()));
  }
  library = cached->library;
  return cached->isReady ? kOk : compile(*cached);
}

int Runner::execute(const std::string &library, const std::string &draft) {
  Words words = runArguments(library, draft);
  words.insert(words.begin(), "tfc-run");
  show(words);
  std::vector<char *> arguments;
  for (std::string &word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  llvm::errs().flush();
  execv(tool.c_str(), arguments.data());
  return fail(tool +
              ": expected a program that runs, got: " + std::strerror(errno));
}

int Runner::run() {
  RunOptions ofDraft;
  ofDraft.compile = options.compile;
  ofDraft.isVerbose = options.isVerbose;
  Runner guesser(options.draft, ofDraft);
  bool hasDraft = !options.draft.empty();
  int code = findTool();
  code = code ? code : readModel();
  code = code || !hasDraft ? code : guesser.readModel();
  code = code ? code : checkText();
  std::string library, draft;
  code = code ? code : makeLibrary(library);
  code = code || !hasDraft ? code : guesser.makeLibrary(draft);
  return code ? code : execute(library, draft);
}

int tfc::runRun(const std::string &directory, RunOptions options) {
  // Whatever is there under that name is damaged, or of another tfc.
  options.compile.force = true;
  return Runner(directory, std::move(options)).run();
}
