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

Expected<std::string> tfc::runPtxas(StringRef ptxas, StringRef ptx,
                                    StringRef chip, int64_t level) {
  FileRemover removeSource, removeBinary, removeLog;
  Expected<std::string> source = makeFile("ptx", removeSource);
  if (!source) {
    return source.takeError();
  }
  Expected<std::string> binary = makeFile("cubin", removeBinary);
  if (!binary) {
    return binary.takeError();
  }
  Expected<std::string> log = makeFile("log", removeLog);
  if (!log) {
    return log.takeError();
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
  std::string message;
  int status = sys::ExecuteAndWait(
      ptxas, arguments, std::nullopt,
      {StringRef(""), StringRef(*log), StringRef(*log)}, 0, 0, &message);
  if (status != 0) {
    if (Expected<std::string> said = readFile(*log)) {
      message += *said;
    } else {
      consumeError(said.takeError());
    }
    return fail("expected ptxas to succeed, got exit code " + Twine(status) +
                ": " + join(arguments, " ") + "\n" + message);
  }
  return readFile(*binary);
}
