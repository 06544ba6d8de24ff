// Which files are a GGUF model: one, or the parts that gguf-split of llama.cpp
// writes. The first part has all metadata; each says its number, and how many
// parts and tensors there are in all.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/FolderNames.h"
#include "runtime/src/files/OpenFile.h"
#include "runtime/src/files/gguf/GgufFile.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace tfc::rt {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view suffix = ".gguf";
/// "-00001-of-00003", with five digits each.
constexpr size_t digits = 5, endingBytes = 1 + digits + 4 + digits;

bool endsAsGguf(const std::string &name) {
  return name.size() > suffix.size() &&
         name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
}

std::string ending(int64_t part, int64_t parts) {
  char text[64];
  std::snprintf(text, sizeof(text), "-%05lld-of-%05lld.gguf",
                static_cast<long long>(part), static_cast<long long>(parts));
  return text;
}

/// What the names of all parts of a model begin with; nothing where `name` is
/// none of a part.
std::optional<std::string> stemOf(const std::string &name) {
  size_t all = endingBytes + suffix.size();
  if (!endsAsGguf(name) || name.size() < all) {
    return std::nullopt;
  }
  std::string text = name.substr(name.size() - all);
  auto isNumber = [&](size_t at) {
    return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at),
                       text.begin() + static_cast<std::ptrdiff_t>(at + digits),
                       [](char c) { return c >= '0' && c <= '9'; });
  };
  bool isPart = text[0] == '-' && isNumber(1) &&
                text.compare(1 + digits, 4, "-of-") == 0 &&
                isNumber(1 + digits + 4);
  return isPart ? std::optional(name.substr(0, name.size() - all))
                : std::nullopt;
}

std::vector<std::string> ggufsIn(const std::string &folder) {
  std::vector<std::string> found;
  Result<std::vector<std::string>> names = namesIn(folder);
  if (names) {
    std::copy_if(names->begin(), names->end(), std::back_inserter(found),
                 endsAsGguf);
  }
  return found;
}

/// The file, or a part, of the one model of a folder.
Result<std::string> chooseIn(const std::string &folder) {
  std::vector<std::string> names = ggufsIn(folder);
  for (const std::string &name : names) {
    std::optional<std::string> stem = stemOf(name);
    bool isSame = name == names[0] || (stem && stem == stemOf(names[0]));
    if (!isSame) {
      return makeError(Code::InvalidArgument, folder,
                       ": expected one GGUF file, or the parts of one, got ",
                       quoteName(names[0]), " and ", quoteName(name),
                       "; name one of them");
    }
  }
  if (names.empty()) {
    return makeError(Code::NotFound, folder,
                     ": expected a GGUF file in it, got none");
  }
  return (fs::path(folder) / names[0]).string();
}

/// What a part says of itself and of all.
struct Split {
  std::optional<int64_t> number, count, tensors;

  explicit Split(const GgufFile &file)
      : number(file.integer("split.no")), count(file.integer("split.count")),
        tensors(file.integer("split.tensors.count")) {}
};

std::string show(const std::optional<int64_t> &value) {
  return value ? std::to_string(*value) : "none";
}

/// Whether `file` may be part `number` (from 0) of `count`.
Status checkPart(const GgufFile &file, int64_t number, int64_t count) {
  Split split(file);
  for (auto [key, expected, got] :
       {std::tuple("split.no", number, split.number),
        {"split.count", count, split.count}}) {
    if (got != expected) {
      return makeError(Code::InvalidArgument, file.path(), ": expected ", key,
                       " ", expected, " of part ", number + 1, " of ", count,
                       ", got ", show(got));
    }
  }
  return {};
}

} // namespace

bool isGguf(const std::string &path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return !fs::exists(fs::path(path) / "config.json", error) &&
           !ggufsIn(path).empty();
  }
  Result<OpenFile> file = OpenFile::open(path);
  char magic[4];
  return file && file->isRegular() && file->size() >= sizeof(magic) &&
         file->read(magic, sizeof(magic), 0) &&
         std::memcmp(magic, "GGUF", sizeof(magic)) == 0;
}

Result<std::shared_ptr<GgufFile>> GgufFile::open(const std::string &path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    Result<std::string> chosen = chooseIn(path);
    if (!chosen) {
      return std::move(chosen.error());
    }
    return open(*chosen);
  }
  Result<std::shared_ptr<GgufFile>> given = openOne(path);
  if (!given) {
    return given;
  }
  Split split(**given);
  int64_t count = split.count.value_or(1);
  if (count <= 1) {
    return given;
  }
  std::optional<std::string> stem = stemOf(path);
  std::string own = ending(split.number.value_or(0) + 1, count);
  if (!stem || path != *stem + own) {
    return makeError(Code::InvalidArgument, path,
                     ": expected the name of part ",
                     split.number.value_or(0) + 1, " of ", count,
                     " to end as llama.cpp has it, with ", quoteName(own),
                     ", by which the others are found");
  }
  std::vector<std::shared_ptr<GgufFile>> parts;
  for (int64_t i = 0; i < count; ++i) {
    std::string name = *stem + ending(i + 1, count);
    if (!fs::exists(name, error)) {
      return makeError(Code::NotFound, name, ": expected part ", i + 1, " of ",
                       count, " of the model, got none");
    }
    Result<std::shared_ptr<GgufFile>> part =
        name == path ? given : openOne(name);
    if (!part) {
      return part;
    }
    if (Status status = checkPart(**part, i, count); !status) {
      return std::move(status.error());
    }
    parts.push_back(std::move(*part));
  }
  std::shared_ptr<GgufFile> first = parts[0];
  if (Status status = first->addParts(std::move(parts)); !status) {
    return std::move(status.error());
  }
  return first;
}

Status GgufFile::addParts(std::vector<std::shared_ptr<GgufFile>> parts) {
  std::optional<std::string> architecture = text("general.architecture");
  Split own(*this);
  size_t most = 0;
  for (const auto &part : parts) {
    std::optional<int64_t> tensors = Split(*part).tensors;
    std::optional<std::string> other = part->text("general.architecture");
    if (tensors != own.tensors || (other && other != architecture)) {
      return makeError(Code::InvalidArgument, part->path(),
                       ": expected a part of the same model as ", path(),
                       " (of ", show(own.tensors), " tensors and architecture ",
                       quoteName(architecture.value_or("")), "), got ",
                       show(tensors), " and ", quoteName(other.value_or("")));
    }
    most += part->list.size();
  }
  if (own.tensors && static_cast<int64_t>(most) != *own.tensors) {
    return makeError(Code::InvalidArgument, path(), ": expected ", *own.tensors,
                     " tensors in ", parts.size(),
                     " parts (split.tensors.count), got ", most);
  }
  std::map<std::string_view, std::string_view> files;
  for (const auto &part : parts) {
    for (const GgufTensor &tensor : part->list) {
      auto [found, isNew] = files.emplace(tensor.name, tensor.file);
      if (!isNew) {
        return makeError(Code::InvalidArgument, tensor.file,
                         ": expected distinct tensors, got ",
                         quoteName(tensor.name), " as in ", found->second);
      }
    }
  }
  for (size_t i = 1; i < parts.size(); ++i) {
    list.insert(list.end(), parts[i]->list.begin(), parts[i]->list.end());
    others.push_back(std::move(parts[i]));
  }
  return {};
}

std::vector<std::string> GgufFile::paths() const {
  std::vector<std::string> all = {filePath};
  for (const auto &part : others) {
    all.push_back(part->filePath);
  }
  return all;
}

} // namespace tfc::rt
