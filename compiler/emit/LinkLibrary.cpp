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
using namespace tfc;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// Empty where lld is to be looked for.
static std::string ownLinker;

void tfc::setLinker(std::string program) { ownLinker = std::move(program); }

/// lld: beside the LLVM that tfc was built with, then on the PATH.
static ErrorOr<std::string> findLinker(StringRef called) {
  if (!ownLinker.empty()) {
    return ownLinker;
  }
  for (const std::string &name : {called.str(), called.str() + "-22"}) {
    if (auto path = sys::findProgramByName(name, {TFC_LLVM_BIN_DIR})) {
      return path;
    }
    if (auto path = sys::findProgramByName(name)) {
      return path;
    }
  }
  return std::make_error_code(std::errc::no_such_file_or_directory);
}

/// Local symbols stay: they are the names of ops in profiles and tfc-bench.
static SmallVector<StringRef> elfArguments(bool asksHost) {
  return {kElfLinker,
          "-shared",
          "--build-id=none",
          "--gc-sections",
          "--strip-debug",
          "--hash-style=gnu",
          "-z",
          asksHost ? "undefs" : "defs",
          "-z",
          "noexecstack"};
}

/// The loader asks of every library to name the system's, from which this one
/// takes nothing: a description of it stands in for a developer's kit.
static constexpr char kSystemLibrary[] = R"(--- !tapi-tbd
tbd-version: 4
targets: [ arm64-macos ]
install-name: '/usr/lib/libSystem.B.dylib'
...
)";

/// It is opened by its path: the name within it is for all the same.
static SmallVector<StringRef> machOArguments(bool asksHost) {
  return {kMachOLinker, "-dylib", "-arch", "arm64", "-platform_version",
          "macos", "11.0", "11.0", "-install_name", "@rpath/model.dylib",
          // Its name in the signature.
          "-final_output", "model.dylib", "-exported_symbol",
          "_tfc_module_query", "-dead_strip", "-S", "-adhoc_codesign",
          "-undefined", asksHost ? "dynamic_lookup" : "error"};
}

static Error runLinker(StringRef linker, ArrayRef<StringRef> options,
                       ArrayRef<std::string> objects, StringRef output,
                       StringRef log) {
  SmallVector<StringRef> arguments(options);
  arguments.append({"-o", output});
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
                       LibraryFormat format, bool asksHost) {
  bool isElf = format == LibraryFormat::Elf;
  StringRef called = isElf ? kElfLinker : kMachOLinker;
  ErrorOr<std::string> linker = findLinker(called);
  if (!linker) {
    return fail("expected the linker " + called +
                " (of LLVM 22, package lld-22) in " + Twine(TFC_LLVM_BIN_DIR) +
                " or on the PATH, found none");
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
  std::vector<std::pair<StringRef, StringRef>> files;
  for (StringRef object : objects) {
    files.emplace_back(".o", object);
  }
  if (!isElf) {
    files.emplace_back(".tbd", kSystemLibrary);
  }
  for (auto [suffix, content] : files) {
    SmallString<128> path;
    if (std::error_code code = create(suffix, path)) {
      return fail("expected a writable folder for " + output +
                  ", got: " + code.message());
    }
    objectPaths.push_back(path.str().str());
    removeObjects.push_back(std::make_unique<FileRemover>(path));
    if (Error error = writeObject(content, descriptor, path)) {
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
  if (Error error = runLinker(
          *linker, isElf ? elfArguments(asksHost) : machOArguments(asksHost),
          objectPaths, libraryPath, logPath)) {
    return error;
  }
  if (isElf) {
    if (Error error = appendChecksum(libraryPath)) {
      return error;
    }
  }
  if (std::error_code code = sys::fs::rename(libraryPath, output)) {
    return fail("cannot write " + output + ": " + code.message());
  }
  removeLibrary.releaseFile();
  return Error::success();
}
