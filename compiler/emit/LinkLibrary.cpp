// Object files -> shared library, with lld as a program of its own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/LinkLibrary.h"

#include "compiler/support/HashText.h"
#include "tfc/abi.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// Empty where lld is to be looked for.
static std::string ownLinker;
static std::string linkerName = "ld.lld";

void tfc::setLinker(std::string program, std::string name) {
  ownLinker = std::move(program);
  linkerName = std::move(name);
}

/// lld: beside the LLVM that tfc was built with, then on the PATH.
static ErrorOr<std::string> findLinker() {
  if (!ownLinker.empty()) {
    return ownLinker;
  }
  for (StringRef name : {"ld.lld", "ld.lld-22"}) {
    if (auto path = sys::findProgramByName(name, {TFC_LLVM_BIN_DIR})) {
      return path;
    }
    if (auto path = sys::findProgramByName(name)) {
      return path;
    }
  }
  return std::make_error_code(std::errc::no_such_file_or_directory);
}

static Error runLinker(StringRef linker, ArrayRef<std::string> objects,
                       StringRef output, StringRef log, bool asksHost) {
  // Local symbols stay: they are the names of ops in profiles and tfc-bench.
  SmallVector<StringRef> arguments = {linkerName,
                                      "-shared",
                                      "--build-id=none",
                                      "--gc-sections",
                                      "--strip-debug",
                                      "--hash-style=gnu",
                                      "-z",
                                      asksHost ? "undefs" : "defs",
                                      "-z",
                                      "noexecstack",
                                      "-o",
                                      output};
  arguments.append(objects.begin(), objects.end());
  std::string message;
  int code = sys::ExecuteAndWait(linker, arguments, std::nullopt,
                                 {StringRef(""), log, log}, 0, 0, &message);
  if (code == 0) {
    return Error::success();
  }
  if (auto buffer = MemoryBuffer::getFile(log)) {
    message += (*buffer)->getBuffer().str();
  }
  return fail("expected lld to succeed, got exit code " + Twine(code) + ": " +
              join(arguments, " ") + "\n" + message);
}

static Error finish(raw_fd_ostream &stream, StringRef path) {
  stream.close();
  if (!stream.has_error()) {
    return Error::success();
  }
  std::string message = stream.error().message();
  stream.clear_error();
  return fail("cannot write " + path + ": " + message);
}

static Error writeObject(StringRef object, int descriptor, StringRef path) {
  raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  stream << object;
  return finish(stream, path);
}

/// Appends tfc_library_end_v0.
static Error appendChecksum(StringRef path) {
  auto library = MemoryBuffer::getFile(path, /*IsText=*/false,
                                       /*RequiresNullTerminator=*/false);
  if (!library) {
    return fail("cannot read " + path + ": " + library.getError().message());
  }
  char sum[sizeof(uint64_t)];
  support::endian::write64le(sum, tfc::hashText((*library)->getBuffer()));
  std::error_code code;
  raw_fd_ostream stream(path, code, sys::fs::OF_Append);
  if (code) {
    return fail("cannot write " + path + ": " + code.message());
  }
  stream << TFC_LIBRARY_END_MAGIC << StringRef(sum, sizeof(sum));
  return finish(stream, path);
}

Error tfc::linkLibrary(ArrayRef<StringRef> objects, StringRef output,
                       bool asksHost) {
  ErrorOr<std::string> linker = findLinker();
  if (!linker) {
    return fail("expected the linker ld.lld (of LLVM 22, package lld-22) in " +
                Twine(TFC_LLVM_BIN_DIR) + " or on the PATH, found none");
  }
  // Beside the output, so that the rename at the end is one step.
  int descriptor = 0;
  SmallString<128> libraryPath, logPath;
  auto create = [&](StringRef suffix, SmallString<128> &path) {
    return sys::fs::createUniqueFile(output + ".%%%%%%" + suffix, descriptor,
                                     path);
  };
  std::vector<std::string> objectPaths;
  std::vector<std::unique_ptr<FileRemover>> removeObjects;
  for (StringRef object : objects) {
    SmallString<128> path;
    if (std::error_code code = create(".o", path)) {
      return fail("expected a writable folder for " + output +
                  ", got: " + code.message());
    }
    objectPaths.push_back(path.str().str());
    removeObjects.push_back(std::make_unique<FileRemover>(path));
    if (Error error = writeObject(object, descriptor, path)) {
      return error;
    }
  }
  for (auto [suffix, path] :
       {std::pair{".so", &libraryPath}, std::pair{".log", &logPath}}) {
    if (std::error_code code = create(suffix, *path)) {
      return fail("cannot write beside " + output + ": " + code.message());
    }
    sys::fs::file_t file = descriptor;
    sys::fs::closeFile(file);
  }
  FileRemover removeLibrary(libraryPath), removeLog(logPath);
  if (Error error =
          runLinker(*linker, objectPaths, libraryPath, logPath, asksHost)) {
    return error;
  }
  if (Error error = appendChecksum(libraryPath)) {
    return error;
  }
  if (std::error_code code = sys::fs::rename(libraryPath, output)) {
    return fail("cannot write " + output + ": " + code.message());
  }
  removeLibrary.releaseFile();
  return Error::success();
}
