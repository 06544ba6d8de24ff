// Files that are written whole or not at all.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/WriteText.h"

#include "compiler/driver/Options.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"

using namespace tfc;
using llvm::StringRef;

/// Writes `text` whole or not at all.
static llvm::Error replaceFile(const std::string &path, StringRef text) {
  llvm::Expected<llvm::sys::fs::TempFile> file =
      llvm::sys::fs::TempFile::create(path + ".%%%%%%");
  if (!file) {
    return file.takeError();
  }
  llvm::raw_fd_ostream stream(file->FD, /*shouldClose=*/false);
  stream << text;
  stream.flush();
  if (std::error_code code = stream.error()) {
    stream.clear_error();
    return llvm::joinErrors(llvm::errorCodeToError(code), file->discard());
  }
  return file->keep(path);
}

static llvm::Error writeOutput(StringRef text) {
  llvm::outs() << text;
  llvm::outs().flush();
  std::error_code code = llvm::outs().error();
  llvm::outs().clear_error();
  return llvm::errorCodeToError(code);
}

int tfc::writeText(const std::string &path, StringRef text,
                   llvm::raw_ostream &errors) {
  bool isOutput = path == "-";
  // Nothing is written there, and above all it is not replaced.
  if (path == "/dev/null") {
    return kOk;
  }
  llvm::Error error = isOutput ? writeOutput(text) : replaceFile(path, text);
  if (error) {
    errors << "tfc: error: " << (isOutput ? "standard output" : path)
           << ": expected a writable file, got: "
           << llvm::toString(std::move(error)) << '\n';
    return kBadInput;
  }
  return kOk;
}
