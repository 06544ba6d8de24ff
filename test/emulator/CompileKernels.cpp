// Runs clang on translated kernels and loads what it made.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/CompileKernels.h"

#include "test/emulator/Translate.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace tfc::emulator {

namespace {

namespace fs = std::filesystem;

/// A folder that goes with the process.
struct TemporaryFolder {
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "tfc-kernels-XXXXXX");
    if (mkdtemp(name.data())) {
      path = name;
    }
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};

fs::path cacheFolder() {
  if (const char *named = std::getenv("TFC_FAKECUDA_CACHE")) {
    std::error_code ignored;
    fs::create_directories(named, ignored);
    return named;
  }
  static TemporaryFolder folder;
  return folder.path;
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

uint64_t hashOf(const std::string &text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : text) {
    hash = (hash ^ uint8_t(c)) * 0x100000001b3;
  }
  return hash;
}

/// Runs clang in a child; whether it was content.
bool runClang(const std::string &source, const std::string &object) {
  pid_t child = fork();
  if (child == 0) {
    // Contracted or reordered arithmetic would be other arithmetic.
    execl(TFC_EMULATOR_CLANG, TFC_EMULATOR_CLANG, "-O1", "-w", "-fPIC",
          "-shared", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing",
          "-I", TFC_EMULATOR_ROOT, source.c_str(), "-o", object.c_str(), "-lm",
          nullptr);
    _exit(127);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child &&
         WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// The shared object of a C text, made if it is not there.
std::string objectOf(const std::string &code) {
  std::string folder = TFC_EMULATOR_ROOT "/test/emulator";
  std::ostringstream name;
  // What the text includes is part of what it is.
  name << std::hex
       << hashOf(code + readFile(folder + "/kernel_matrix.h") +
                 readFile(folder + "/kernel_prelude.h") +
                 readFile(folder + "/kernel_context.h"));
  fs::path object = cacheFolder() / (name.str() + ".so");
  if (fs::exists(object)) {
    return object;
  }
  std::string stem = object.string() + "." + std::to_string(getpid());
  std::ofstream(stem + ".c") << code;
  bool isMade = runClang(stem + ".c", stem);
  std::error_code fault;
  if (isMade) {
    // Whole or not at all: others may look for it.
    fs::rename(stem, object, fault);
    fs::remove(stem + ".c", fault);
  }
  if (!isMade || !fs::exists(object)) {
    throw PtxError("expected " TFC_EMULATOR_CLANG " to compile " + stem +
                   ".c, got a failure");
  }
  return object;
}

} // namespace

CompiledModule::CompiledModule(const std::string &ptx) : module(readPtx(ptx)) {
  for (std::string &code : translate(module)) {
    functions.push_back({std::move(code), nullptr, nullptr});
  }
  std::istringstream stream(ptx);
  for (std::string line; std::getline(stream, line);) {
    text.push_back(line);
  }
}

emu_kernel CompiledModule::kernel(size_t entry) {
  std::lock_guard<std::mutex> lock(mutex);
  Function &function = functions[entry];
  if (function.run) {
    return function.run;
  }
  std::string object = objectOf(function.code);
  void *handle = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    throw PtxError(std::string("expected a compiled kernel, got: ") +
                   dlerror());
  }
  function.library = std::shared_ptr<void>(handle, dlclose);
  function.run = reinterpret_cast<emu_kernel>(dlsym(handle, "kernel"));
  return function.run;
}

} // namespace tfc::emulator
