// A folder of safetensors files as one set of tensors. The index of a sharded
// checkpoint is as hostile as a header: it may name no file outside its folder.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/Safetensors.h"

#include "runtime/src/files/FolderNames.h"
#include "runtime/src/files/SafetensorsHeader.h"
#include "runtime/src/files/gguf/GgufFile.h"
#include "runtime/src/files/quantized/Quantized.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

namespace tfc::rt {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t maxIndexBytes = 100000000;
constexpr const char *singleName = "model.safetensors";
constexpr const char *indexName = "model.safetensors.index.json";

/// Whether `path`, links followed, lies in `folder`. The hub's cache is the one
/// exception: there every file of snapshots/REVISION is a link to ../../blobs.
bool staysInside(const fs::path &folder, const fs::path &path) {
  std::error_code error;
  fs::path root = fs::canonical(folder, error);
  fs::path real = error ? fs::path() : fs::canonical(path, error);
  if (error) {
    return false;
  }
  auto ends = std::mismatch(root.begin(), root.end(), real.begin(), real.end());
  if (ends.first == root.end()) {
    return true;
  }
  return root.parent_path().filename() == "snapshots" &&
         real.parent_path() == root.parent_path().parent_path() / "blobs";
}

/// Whether the text of an index names a file of its folder.
bool isPlainRelative(const std::string &name) {
  fs::path path(name);
  if (name.empty() || name.find('\0') != std::string::npos ||
      path.is_absolute()) {
    return false;
  }
  return std::none_of(path.begin(), path.end(),
                      [](const fs::path &part) { return part == ".."; });
}

Result<std::string> readText(const std::string &path, uint64_t limit) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return makeError(Code::NotFound, path, ": expected a regular file");
  }
  uint64_t size = fs::file_size(path, error);
  if (error || size > limit) {
    return makeError(Code::InvalidArgument, path, ": expected at most ", limit,
                     " bytes, got ", size);
  }
  std::string text(size, '\0');
  std::ifstream in(path, std::ios::binary);
  if (!in.read(text.data(), static_cast<std::streamsize>(size))) {
    return makeError(Code::NotFound, path, ": cannot be read");
  }
  return text;
}

/// What a tensor of a text model inside another is called where the text model
/// is alone: transformers puts it at one of these places.
std::string nameInText(const std::string &name) {
  constexpr std::pair<std::string_view, std::string_view> places[] = {
      {"model.language_model.", "model."},
      {"model.text_model.", "model."},
      {"language_model.model.", "model."},
      {"language_model.lm_head.", "lm_head."}};
  for (const auto &[inside, alone] : places) {
    if (name.compare(0, inside.size(), inside) == 0) {
      return std::string(alone) + name.substr(inside.size());
    }
  }
  return name;
}

} // namespace

bool isCheckpoint(const std::string &path) {
  std::error_code error;
  return fs::is_directory(path, error) || isGguf(path);
}

bool isModuleFolder(std::string_view name) {
  size_t digits = name.find_first_not_of("0123456789");
  return digits != name.npos && digits > 0 && name[digits] == '_';
}

Result<TensorFiles> TensorFiles::open(const std::vector<std::string> &paths) {
  TensorFiles set;
  Faults faults;
  if (paths.empty()) {
    faults.add(
        makeError(Code::NotFound, "expected a path of weights, got none"));
  }
  for (const std::string &path : paths) {
    std::error_code error;
    set.rootPath += (set.rootPath.empty() ? "" : ", ") + path;
    size_t firstFile = set.files.size();
    if (isGguf(path)) {
      faults.add(set.addGguf(path));
      continue;
    }
    if (fs::is_directory(path, error)) {
      faults.add(set.openFolder(path));
      faults.add(set.openModules(path));
    } else {
      faults.add(set.add(path));
    }
    faults.add(set.gather(path, firstFile));
  }
  Status status = faults.take();
  if (status) {
    status = set.finish();
  }
  if (!status) {
    return std::move(status.error());
  }
  return set;
}

Status TensorFiles::openFolder(const std::string &path) {
  fs::path folder(path);
  std::error_code error;
  if (fs::exists(folder / singleName, error)) {
    return add(folder / singleName);
  }
  if (fs::exists(folder / indexName, error)) {
    return openIndex(folder / indexName);
  }
  auto names = namesIn(path);
  if (!names) {
    return std::move(names.error());
  }
  bool isNone = true;
  Faults faults;
  for (const std::string &name : *names) {
    if (fs::path(name).extension() == ".safetensors") {
      isNone = false;
      faults.add(add(folder / name));
    }
  }
  if (isNone) {
    return makeError(Code::NotFound, path, ": expected ", singleName, ", ",
                     indexName, " or other *.safetensors files, got none");
  }
  return faults.take();
}

Status TensorFiles::openModules(const std::string &path) {
  auto names = namesIn(path);
  if (!names) {
    return std::move(names.error());
  }
  Faults faults;
  for (const std::string &name : *names) {
    fs::path file = fs::path(path) / name / singleName;
    std::error_code error;
    if (!isModuleFolder(name) || !fs::exists(file, error)) {
      continue;
    }
    faults.add(staysInside(path, file)
                   ? add(file, name + "/")
                   : makeError(Code::InvalidArgument, path, "/", name,
                               ": expected a ", singleName,
                               " in this folder, got a link out of it"));
  }
  return faults.take();
}

Status TensorFiles::openIndex(const std::string &indexPath) {
  Result<std::string> text = readText(indexPath, maxIndexBytes);
  if (!text) {
    return std::move(text.error());
  }
  auto index = readIndex(text->data(), text->size());
  if (!index) {
    return makeError(Code::InvalidArgument, indexPath, ": ",
                     index.error().message);
  }
  std::map<std::string, size_t> shards;
  Faults faults;
  for (const auto &[tensor, name] : *index) {
    if (shards.emplace(name, files.size()).second) {
      faults.add(openShard(indexPath, name));
    }
  }
  for (auto it = index->begin(); it != index->end() && !faults.any(); ++it) {
    const TensorFile &file = *files[shards[it->second]];
    if (!file.find(it->first)) {
      faults.add(makeError(Code::NotFound, file.path(), ": expected tensor ",
                           quoteName(it->first), " (", indexName,
                           " puts it there), got none"));
    }
  }
  return faults.take();
}

Status TensorFiles::openShard(const std::string &indexPath,
                              const std::string &name) {
  fs::path folder = fs::path(indexPath).parent_path();
  fs::path path = folder / name;
  std::string expected = ": expected names of files in its folder, got ";
  std::error_code error;
  if (!isPlainRelative(name)) {
    return makeError(Code::InvalidArgument, indexPath, expected,
                     quoteName(name));
  }
  if (!fs::exists(path, error)) {
    return makeError(Code::NotFound, indexPath, ": expected shard ",
                     quoteName(name), " in its folder, got none");
  }
  if (!staysInside(folder, path)) {
    return makeError(Code::InvalidArgument, indexPath, expected,
                     quoteName(name), ", a link out of it");
  }
  return add(path);
}

Status TensorFiles::add(const std::string &path, const std::string &prefix) {
  Result<std::shared_ptr<TensorFile>> file = TensorFile::open(path, prefix);
  if (!file) {
    return std::move(file.error());
  }
  files.push_back(std::move(*file));
  return {};
}

/// Lists the tensors of the files from `firstFile` on, which are those of
/// `path`; matrices that are stored in parts as one each.
Status TensorFiles::gather(const std::string &path, size_t firstFile) {
  std::vector<const Tensor *> stored;
  for (size_t i = firstFile; i < files.size(); ++i) {
    for (const Tensor &tensor : files[i]->tensors()) {
      std::string name = nameInText(tensor.name);
      if (name == tensor.name) {
        stored.push_back(&tensor);
        continue;
      }
      auto renamed = std::make_shared<Tensor>(tensor);
      renamed->name = std::move(name);
      decoded.push_back(renamed);
      stored.push_back(renamed.get());
    }
  }
  Result<QuantizedTensors> found = findQuantized(path, stored);
  if (!found) {
    return std::move(found.error());
  }
  for (Tensor &tensor : found->matrices) {
    decoded.push_back(std::make_shared<const Tensor>(std::move(tensor)));
    list.push_back(decoded.back().get());
  }
  list.insert(list.end(), found->others.begin(), found->others.end());
  formatLines.insert(formatLines.end(), found->formats.begin(),
                     found->formats.end());
  return {};
}

Status TensorFiles::addGguf(const std::string &path) {
  Result<std::shared_ptr<GgufFile>> file = GgufFile::open(path);
  if (!file) {
    return std::move(file.error());
  }
  Result<GgufTensors> named = nameTensors(*file);
  if (!named) {
    return std::move(named.error());
  }
  ggufFiles.push_back(*file);
  for (std::shared_ptr<const Tensor> &tensor : named->tensors) {
    list.push_back(tensor.get());
    decoded.push_back(std::move(tensor));
  }
  formatLines.insert(formatLines.end(), named->formats.begin(),
                     named->formats.end());
  return {};
}

Status TensorFiles::finish() {
  std::sort(list.begin(), list.end(),
            [](const Tensor *a, const Tensor *b) { return a->name < b->name; });
  Faults faults;
  for (size_t i = 1; i < list.size(); ++i) {
    if (list[i]->name == list[i - 1]->name) {
      faults.add(makeError(Code::InvalidArgument, list[i]->file,
                           ": expected distinct tensors, got ",
                           quoteName(list[i]->name), " as in ",
                           list[i - 1]->file));
    }
  }
  return faults.take();
}

const Tensor *TensorFiles::find(std::string_view name) const {
  auto found = std::lower_bound(
      list.begin(), list.end(), name,
      [](const Tensor *t, std::string_view n) { return t->name < n; });
  return found != list.end() && (*found)->name == name ? *found : nullptr;
}

} // namespace tfc::rt
