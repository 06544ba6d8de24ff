// Where `tfc run` keeps the libraries that it compiles.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/LibraryCache.h"

#include "compiler/driver/Compile.h"
#include "compiler/driver/FindTargets.h"
#include "compiler/support/HashText.h"
#include "runtime/src/load/Module.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace tfc;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Relative paths in the variable are to be ignored, says its specification.
static llvm::Expected<std::string> findFolder() {
  llvm::SmallString<128> folder;
  std::optional<std::string> given =
      llvm::sys::Process::GetEnv("XDG_CACHE_HOME");
  if (given && path::is_absolute(*given)) {
    folder = *given;
  } else if (path::home_directory(folder)) {
    path::append(folder, ".cache");
  } else {
    return fail("expected a folder for libraries in $XDG_CACHE_HOME or $HOME, "
                "got neither");
  }
  path::append(folder, "tfc");
  if (std::error_code code = fs::create_directories(folder)) {
    return fail(folder +
                ": expected a folder for libraries ($XDG_CACHE_HOME "
                "names another), got: " +
                code.message());
  }
  return folder.str().str();
}

/// Of the running program: a version stands for many builds of it.
static std::string describeBuild() {
  std::string program = fs::getMainExecutable(nullptr, nullptr);
  fs::file_status status;
  if (fs::status(program, status)) {
    return TFC_VERSION;
  }
  return TFC_VERSION " " + std::to_string(status.getSize()) + " " +
         std::to_string(
             status.getLastModificationTime().time_since_epoch().count());
}

static std::string toHex(uint64_t hash) {
  return llvm::utohexstr(hash, /*LowerCase=*/true, /*Width=*/16);
}

/// Only what is plain in every file system.
static std::string plainName(StringRef name) {
  constexpr size_t longest = 60;
  std::string plain = name.take_front(longest).str();
  for (char &c : plain) {
    c = llvm::isAlnum(c) || c == '-' ? c : '_';
  }
  return plain;
}

llvm::Expected<CachedLibrary> tfc::findCached(const spec::ModelSpec &model,
                                              const CompileOptions &options) {
  llvm::Expected<std::vector<TargetInfo>> targets = findTargets(model, options);
  if (!targets) {
    return targets.takeError();
  }
  std::string how = describeBuild() + "\n" + options.opt;
  for (const TargetInfo &target : *targets) {
    how += "\n" + target.programName() + " " + target.microarchitecture;
  }
  llvm::Expected<std::string> folder = findFolder();
  if (!folder) {
    return folder.takeError();
  }
  // What --dtype and --cache say is part of the canonical spec.
  llvm::SmallString<128> stem(*folder);
  path::append(stem, plainName(model.name) + "-" +
                         toHex(hashText(model.canonical)) + "-" +
                         toHex(hashText(how)));
  CachedLibrary cached{(stem + ".json").str(), (stem + ".so").str()};
  cached.isReady = static_cast<bool>(rt::Module::open(cached.library));
  return cached;
}
