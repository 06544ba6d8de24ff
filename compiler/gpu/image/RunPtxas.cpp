// NVIDIA's assembler, where it is installed: PTX -> a binary.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/image/RunPtxas.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

std::string tfc::findPtxas() {
  SmallVector<std::string> folders;
  if (std::optional<std::string> home = sys::Process::GetEnv("CUDA_HOME")) {
    folders.push_back(*home + "/bin");
  }
  folders.push_back("/usr/local/cuda/bin");
  for (const std::string &folder : folders) {
    if (auto path = sys::findProgramByName("ptxas", {folder})) {
      return *path;
    }
  }
  auto path = sys::findProgramByName("ptxas");
  return path ? *path : "";
}

/// An empty file that is removed with `remover`.
static Expected<std::string> makeFile(StringRef suffix, FileRemover &remover) {
  SmallString<128> path;
  if (std::error_code code =
          sys::fs::createTemporaryFile("tfc-kernels", suffix, path)) {
    return fail("expected a writable folder for temporary files, got: " +
                code.message());
  }
  remover.setFile(path);
  return path.str().str();
}

static Expected<std::string> readFile(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer) {
    return fail("cannot read " + path + ": " + buffer.getError().message());
  }
  return (*buffer)->getBuffer().str();
}

/// Runs a program; what it prints, and its exit code.
static Expected<std::pair<std::string, int>>
runProgram(StringRef program, ArrayRef<StringRef> arguments) {
  FileRemover remover;
  Expected<std::string> log = makeFile("log", remover);
  if (!log) {
    return log.takeError();
  }
  std::string message;
  int status = sys::ExecuteAndWait(
      program, arguments, std::nullopt,
      {StringRef(""), StringRef(*log), StringRef(*log)}, 0, 0, &message);
  Expected<std::string> said = readFile(*log);
  if (!said) {
    return said.takeError();
  }
  return std::make_pair(message + *said, status);
}

SmallVector<StringRef> tfc::listKnown(StringRef ptxas,
                                      ArrayRef<std::string> chips) {
  SmallVector<StringRef> known;
  Expected<std::pair<std::string, int>> help =
      runProgram(ptxas, {ptxas, "--help"});
  if (!help) {
    consumeError(help.takeError());
    return known;
  }
  for (StringRef chip : chips) {
    if (StringRef(help->first).contains(("'" + chip + "'").str())) {
      known.push_back(chip);
    }
  }
  return known;
}

Expected<std::string> tfc::runPtxas(StringRef ptxas, StringRef ptx,
                                    StringRef chip, int64_t level) {
  FileRemover removeSource, removeBinary;
  Expected<std::string> source = makeFile("ptx", removeSource);
  if (!source) {
    return source.takeError();
  }
  Expected<std::string> binary = makeFile("cubin", removeBinary);
  if (!binary) {
    return binary.takeError();
  }
  std::error_code code;
  raw_fd_ostream stream(*source, code);
  if (!code) {
    stream << ptx;
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  if (code) {
    return fail("cannot write " + *source + ": " + code.message());
  }
  std::string arch = ("-arch=" + chip).str();
  std::string optimise = "-O" + std::to_string(level);
  SmallVector<StringRef> arguments = {ptxas,   arch, optimise,
                                      *source, "-o", *binary};
  Expected<std::pair<std::string, int>> said = runProgram(ptxas, arguments);
  if (!said) {
    return said.takeError();
  }
  if (said->second != 0) {
    return fail("expected ptxas to succeed, got exit code " +
                Twine(said->second) + ": " + join(arguments, " ") + "\n" +
                said->first);
  }
  return readFile(*binary);
}
