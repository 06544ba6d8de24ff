// Writes tensors, config.json, and the files beside them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/quantize/WriteFolder.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

#include <array>
#include <deque>

using namespace tfc;
using namespace tfc::quantize;
using llvm::StringRef;
using Json = nlohmann::ordered_json;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static rt::Error ioError(const std::string &file, std::error_code code) {
  return rt::makeError(
      rt::Code::Io, file,
      ": expected a file that can be read and written, got: ", code.message());
}

//===-- tensors -----------------------------------------------------------===//

namespace {

/// Tensors to write, with the memory of those that are made here.
class TensorList {
public:
  /// As it is stored.
  void add(const rt::Tensor &tensor) {
    list.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.data});
  }
  void add(std::string name, rt::DType dtype, std::vector<int64_t> shape,
           const void *data) {
    list.push_back({std::move(name), dtype, std::move(shape), data});
  }
  void addF32(const rt::Tensor &like, std::vector<float> elements) {
    floats.push_back(std::move(elements));
    add(like.name, rt::DType::F32, like.shape, floats.back().data());
  }
  void add16(const rt::Tensor &like, rt::DType dtype,
             const std::vector<float> &elements) {
    std::vector<uint16_t> &words = halves.emplace_back();
    words.reserve(elements.size());
    for (float element : elements) {
      words.push_back(roundTo16(element, dtype));
    }
    add(like.name, dtype, like.shape, words.data());
  }

  /// Four bits as words of eight columns, the first one's lowest, each with 8
  /// added.
  void addPacked(const std::string &module, const RoundedMatrix &matrix) {
    std::vector<uint32_t> &own = words.emplace_back();
    int64_t rowWords = matrix.columns / 8;
    own.resize(matrix.rows * rowWords);
    for (size_t i = 0; i < matrix.integers.size(); ++i) {
      own[i / 8] |= uint32_t(matrix.integers[i] + 8) << (i % 8 * 4);
    }
    add(module + ".weight_packed", rt::DType::I32, {matrix.rows, rowWords},
        own.data());
    add(module + ".weight_scale", matrix.scaleType,
        {matrix.rows, matrix.groups}, matrix.scales.data());
    const auto &shape = shapes.emplace_back(
        std::array<int64_t, 2>{matrix.rows, matrix.columns});
    add(module + ".weight_shape", rt::DType::I64, {2}, shape.data());
  }

  std::vector<rt::TensorToWrite> list;

private:
  std::deque<std::vector<uint32_t>> words;
  std::deque<std::array<int64_t, 2>> shapes;
  std::deque<std::vector<float>> floats;
  std::deque<std::vector<uint16_t>> halves;
};

} // namespace

/// What is no integer: vectors as they are stored, matrices in 16 bits.
static void addPlain(TensorList &tensors, const Checkpoint &checkpoint,
                     const rt::Tensor &tensor) {
  bool isWide = tensor.dtype == rt::DType::F32;
  bool isMatrix = tensor.shape.size() >= 2;
  if (!isWide && checkpoint.isChanged(tensor.name)) {
    tensors.add16(tensor, tensor.dtype, checkpoint.read(tensor.name));
  } else if (isWide && isMatrix) {
    tensors.add16(tensor, rt::DType::BF16, checkpoint.read(tensor.name));
  } else if (isWide && checkpoint.isChanged(tensor.name)) {
    tensors.addF32(tensor, checkpoint.read(tensor.name));
  } else {
    tensors.add(tensor);
  }
}

static llvm::StringMap<size_t> quantizedOf(const QuantizedModel &model) {
  llvm::StringMap<size_t> indices;
  for (size_t i = 0; i < model.products.matrices.size(); ++i) {
    if (!model.isKept(i)) {
      indices[model.products.matrices[i].tensor] = i;
    }
  }
  return indices;
}

/// "a.b" of "a.b.weight".
static std::string moduleOf(StringRef tensor) {
  tensor.consume_back(".weight");
  return tensor.str();
}

static rt::Status writeTensors(const std::string &file,
                               const QuantizedModel &model) {
  TensorList tensors;
  llvm::StringMap<size_t> indices = quantizedOf(model);
  for (const rt::Tensor *tensor : model.checkpoint.tensors()) {
    auto own = indices.find(tensor->name);
    if (own != indices.end()) {
      const RoundedMatrix &matrix = model.rounded[own->second];
      if (model.group != 0) {
        tensors.addPacked(moduleOf(tensor->name), matrix);
        continue;
      }
      tensors.add(tensor->name, rt::DType::I8, tensor->shape,
                  matrix.integers.data());
      tensors.add(moduleOf(tensor->name) + ".weight_scale", matrix.scaleType,
                  {matrix.rows, 1}, matrix.scales.data());
    } else if (!StringRef(tensor->name).contains('/')) {
      // Those of modules in folders of their own are copied with these.
      addPlain(tensors, model.checkpoint, *tensor);
    }
  }
  return rt::writeSafetensors(file, tensors.list, {{"format", "pt"}});
}

//===-- config.json -------------------------------------------------------===//

/// A scheme's arguments; readers refuse keys that they do not know. With a
/// `group` it is of four bits.
static Json argumentsOf(const char *strategy, bool isDynamic,
                        int64_t group = 0) {
  return {{"actorder", nullptr},
          {"block_structure", nullptr},
          {"dynamic", isDynamic},
          {"group_size", group == 0 ? Json(nullptr) : Json(group)},
          {"num_bits", group == 0 ? 8 : 4},
          {"observer", isDynamic ? Json(nullptr) : Json("minmax")},
          {"observer_kwargs", Json::object()},
          {"strategy", strategy},
          {"symmetric", true},
          {"type", "int"}};
}

static Json configOf(const QuantizedModel &model,
                     const std::vector<std::string> &modules) {
  llvm::StringMap<size_t> indices = quantizedOf(model);
  Json ignore = modules;
  for (const rt::Tensor *tensor : model.checkpoint.tensors()) {
    StringRef name = tensor->name;
    if (tensor->shape.size() == 2 && name.ends_with(".weight") &&
        !name.contains('/') && !indices.count(name) &&
        !model.products.tables.contains(name) &&
        !llvm::is_contained(modules, moduleOf(name))) {
      ignore.push_back(moduleOf(name));
    }
  }
  // What four bits are multiplied by is the reader's business.
  bool isFour = model.group != 0;
  Json group = {{"input_activations",
                 isFour ? Json(nullptr) : argumentsOf("token", true)},
                {"output_activations", nullptr},
                {"targets", {"Linear"}},
                {"weights", isFour ? argumentsOf("group", false, model.group)
                                   : argumentsOf("channel", false)}};
  return {{"config_groups", {{"group_0", std::move(group)}}},
          {"format", isFour ? "pack-quantized" : "int-quantized"},
          {"global_compression_ratio", nullptr},
          {"ignore", std::move(ignore)},
          {"kv_cache_scheme", nullptr},
          {"quant_method", "compressed-tensors"},
          {"quantization_status", "compressed"}};
}

static rt::Status writeFile(const std::string &file, StringRef text) {
  std::error_code code;
  llvm::raw_fd_ostream stream(file, code);
  if (!code) {
    stream << text;
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  return code ? rt::Status(ioError(file, code)) : rt::Status();
}

static rt::Status writeConfig(const std::string &file,
                              const std::string &source, Json quantization) {
  auto buffer = llvm::MemoryBuffer::getFile(source);
  if (!buffer) {
    return ioError(source, buffer.getError());
  }
  StringRef text = (*buffer)->getBuffer();
  Json config = Json::parse(text.begin(), text.end(), nullptr,
                            /*allow_exceptions=*/false);
  if (!config.is_object()) {
    return rt::makeError(rt::Code::InvalidArgument, source,
                         ": expected a JSON object, got something else");
  }
  for (const char *key : {"quantization_config", "compression_config"}) {
    if (config.contains(key)) {
      return rt::makeError(rt::Code::InvalidArgument, source, ": /", key,
                           ": expected a checkpoint that is not quantised, got "
                           "one that is");
    }
  }
  config["quantization_config"] = std::move(quantization);
  return writeFile(
      file, config.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

//===-- files beside them -------------------------------------------------===//

/// Tokenizers, templates, generation_config.json, licences: what is small and
/// goes with a model whatever its weights are.
static bool isCopied(StringRef name) {
  if (name == "config.json" || name == "tfc-quantize.json" ||
      name.ends_with(".index.json")) {
    return false;
  }
  return name.starts_with("LICENSE") ||
         llvm::is_contained({".json", ".txt", ".model", ".jinja", ".tiktoken"},
                            path::extension(name));
}

/// Files of a folder, and whole folders of modules.
static rt::Status copyFiles(const std::string &from, const std::string &to,
                            bool all) {
  std::error_code code;
  for (fs::directory_iterator entry(from, code), end; !code && entry != end;
       entry.increment(code)) {
    StringRef name = path::filename(entry->path());
    std::string target = to + "/" + name.str();
    if (fs::is_directory(entry->path())) {
      if (!all && rt::isModuleFolder({name.data(), name.size()})) {
        if (std::error_code made =
                fs::create_directory(target, false, fs::all_all)) {
          return ioError(target, made);
        }
        if (rt::Status status = copyFiles(entry->path(), target, true);
            !status) {
          return status;
        }
      }
    } else if (all || isCopied(name)) {
      if (std::error_code copied = fs::copy_file(entry->path(), target)) {
        return ioError(entry->path(), copied);
      }
    }
  }
  return code ? rt::Status(ioError(from, code)) : rt::Status();
}

rt::Status tfc::quantize::writeFolder(const std::string &folder,
                                      const std::string &source,
                                      const QuantizedModel &model,
                                      const std::vector<std::string> &modules,
                                      const std::string &report) {
  llvm::SmallString<128> beside;
  fs::createUniquePath(folder + ".%%%%%%", beside, /*MakeAbsolute=*/false);
  std::string made = beside.str().str();
  if (std::error_code code = fs::create_directory(made, false, fs::all_all)) {
    return ioError(made, code);
  }
  llvm::scope_exit remove([&] { fs::remove_directories(made); });
  rt::Status status = writeConfig(
      made + "/config.json", source + "/config.json", configOf(model, modules));
  if (status) {
    status = writeTensors(made + "/model.safetensors", model);
  }
  if (status) {
    status = copyFiles(source, made, false);
  }
  if (status) {
    status = writeFile(made + "/tfc-quantize.json", report);
  }
  if (!status) {
    return status;
  }
  if (std::error_code code = fs::rename(made, folder)) {
    return ioError(folder, code);
  }
  remove.release();
  return {};
}
