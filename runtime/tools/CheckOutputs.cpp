// Compares files, not names: links have others.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/CheckOutputs.h"

#include "runtime/src/files/gguf/GgufFile.h"

#include <filesystem>

namespace tfc::run {

namespace fs = std::filesystem;

/// Whether both are one file, or would be one when they exist.
static bool isSame(const fs::path &a, const fs::path &b) {
  std::error_code error;
  if (fs::exists(a, error) || fs::exists(b, error)) {
    return fs::equivalent(a, b, error) && !error;
  }
  // Of a relative path, whose beginning is not there, weakly_canonical makes no
  // absolute one.
  return fs::weakly_canonical(fs::absolute(a, error), error) ==
             fs::weakly_canonical(fs::absolute(b, error), error) &&
         !error;
}

/// The files of a checkpoint: itself and its other parts, or those in its
/// folder.
static std::vector<fs::path> listFiles(const fs::path &checkpoint) {
  std::error_code error;
  std::vector<fs::path> files = {checkpoint};
  if (rt::isGguf(checkpoint.string())) {
    auto file = rt::GgufFile::open(checkpoint.string());
    for (const std::string &path :
         file ? (*file)->paths() : std::vector<std::string>()) {
      files.push_back(path);
    }
  }
  if (fs::is_directory(checkpoint, error)) {
    for (fs::directory_iterator it(checkpoint, error), end; !error && it != end;
         it.increment(error)) {
      files.push_back(it->path());
    }
  }
  return files;
}

rt::Status checkOutputs(const CommandLine &line) {
  auto check = [&](const char *what, const fs::path &path) -> rt::Status {
    if (path.empty() || !isSame(line.outputs, path)) {
      return {};
    }
    return rt::makeError(rt::Code::InvalidArgument, line.outputs,
                         ": expected a file for the outputs alone, got ", what,
                         " (", path.string(), ")");
  };
  rt::Faults faults;
  faults.add(check("the library", line.library));
  faults.add(check("the inputs", line.inputs));
  faults.add(check("the packed weights", line.packed));
  std::vector<std::string> weights = line.moreWeights;
  weights.push_back(line.weights);
  for (const std::string &place : weights) {
    for (const fs::path &path : listFiles(place)) {
      faults.add(check("a file of the weights", path));
    }
  }
  return faults.take();
}

} // namespace tfc::run
