// Tensors in safetensors files: reading one file or a folder of them, finding a
// model's parameters there, and writing a file. Knows nothing of the rest of
// the runtime, so that `tfc import` checks exactly what tfc-run checks.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_FILES_SAFETENSORS_H
#define TFC_RUNTIME_SRC_FILES_SAFETENSORS_H

#include "runtime/src/Error.h"

#include <algorithm>
#include <map>
#include <memory>

namespace tfc::rt {

class GgufFile;
class OpenFile;
class QuantizedMatrix;
struct HeaderEntry;

/// No tensor of a model has more; a header of millions would cost memory.
constexpr size_t maxAxes = 8;

/// The element types of the format.
enum class DType {
  Bool,
  F4,
  F6E2M3,
  F6E3M2,
  U8,
  I8,
  F8E5M2,
  F8E4M3,
  F8E8M0,
  F8E4M3Fnuz,
  F8E5M2Fnuz,
  I16,
  U16,
  F16,
  BF16,
  I32,
  U32,
  F32,
  C64,
  F64,
  I64,
  U64
};

/// The format's name of a type: "F32".
const char *dtypeName(DType dtype);
/// Bits of an element; below 8 for packed types.
uint32_t dtypeBits(DType dtype);
std::optional<DType> parseDType(std::string_view name);
/// F32, F16 or BF16.
bool isWeightDType(DType dtype);

/// A tensor in a file. `data` is not aligned; it and `file` live as long as the
/// TensorFile does. The shape has at most maxAxes axes, and products of them do
/// not overflow, whatever others are 0. A tensor that is `quantized` is one
/// that the file has in parts, under other names: it has no data, `dtype` is
/// the narrowest that keeps its values, and `bytes` counts them as f32.
struct Tensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  const uint8_t *data = nullptr;
  uint64_t bytes = 0;
  std::string_view file;
  bool isMapped = false; // `data` is the file itself
  std::shared_ptr<const QuantizedMatrix> quantized;

  int64_t elements() const;
};

/// Elements [first, first + count) of a weight tensor (isWeightDType) as f32.
/// Of a quantized one whole rows are made, so ask for whole rows.
void convertToF32(const Tensor &tensor, int64_t first, int64_t count,
                  float *out);

/// One file, fully checked: header, dtypes, shapes, and offsets that cover the
/// data without overlap or hole. Header and small tensors are read; large ones
/// are mapped, and of those the bytes are gone when somebody shortens the file.
class TensorFile {
public:
  /// Errors name the file: NotFound when there is none, Io when the system
  /// cannot read it, Exhausted when it cannot be mapped, else InvalidArgument.
  /// `prefix` is put before the name of each tensor.
  static Result<std::shared_ptr<TensorFile>>
  open(const std::string &path, const std::string &prefix = "");
  ~TensorFile();
  TensorFile(const TensorFile &) = delete;
  TensorFile &operator=(const TensorFile &) = delete;

  const std::string &path() const { return filePath; }
  /// In order of name.
  const std::vector<Tensor> &tensors() const { return list; }
  const Tensor *find(std::string_view name) const;
  const std::map<std::string, std::string> &metadata() const { return meta; }

private:
  TensorFile() = default;
  Status read();
  Status load(const OpenFile &file, std::vector<HeaderEntry> entries,
              uint64_t dataBegin);
  Status map(const OpenFile &file);
  Status copySmall(const OpenFile &file,
                   const std::vector<HeaderEntry> &entries, uint64_t dataBegin);

  std::string filePath;
  void *mapped = nullptr; // the whole file, if there is a large tensor
  uint64_t mappedBytes = 0;
  std::vector<uint8_t> copied; // the small tensors
  std::vector<Tensor> list;
  std::map<std::string, std::string> meta;
};

/// Pairs of name suffixes that stand for each other: {".gamma", ".weight"}.
using Aliases = std::vector<std::pair<std::string, std::string>>;

/// A name pattern ({p}: prefix, {i}: layer, {e}: expert) and the first layer it
/// is used at.
struct PatternUse {
  std::string pattern;
  int64_t layer = 0;
};

/// Whether weights are there beside what the model is: in a folder, or a GGUF
/// file.
bool isCheckpoint(const std::string &path);

/// Whether a folder is called as sentence-transformers calls those of modules:
/// "2_Dense".
bool isModuleFolder(std::string_view name);

/// A set of tensors: a single file, or a Hugging Face folder
/// (model.safetensors; or model.safetensors.index.json and its shards; or every
/// *.safetensors), or a GGUF file (of parts any, or a folder with one
/// model), or several of those. Tensors of a text model
/// inside another ("model.language_model.norm.weight") have the names of one
/// that is alone ("model.norm.weight"). The tensors of a
/// folder's modules (a model.safetensors in a folder that isModuleFolder) are
/// called by it, too: "2_Dense/linear.weight".
class TensorFiles {
public:
  static Result<TensorFiles> open(const std::string &path) {
    return open(std::vector<std::string>{path});
  }
  /// All tensors of all paths. Errors: also InvalidArgument when two of them
  /// have a tensor of the same name.
  static Result<TensorFiles> open(const std::vector<std::string> &paths);

  /// What was opened, for messages: "a, b".
  const std::string &path() const { return rootPath; }
  /// In order of name; names are unique. A matrix that is stored as integers or
  /// narrow floats with scales is one tensor, M.weight, in place of those that
  /// it is made of (quantized/Quantized.h).
  const std::vector<const Tensor *> &tensors() const { return list; }
  /// How matrices are quantised, a line a format ("quantised: GPTQ 4 bits,
  /// groups of 128: 224 matrices"), and what of that has no effect. Empty for
  /// most folders.
  const std::vector<std::string> &formats() const { return formatLines; }
  const Tensor *find(std::string_view name) const;

  /// The tensor that `pattern` names with this prefix, layer and expert, or,
  /// failing that, under an alias of its suffix. Null when there is none.
  const Tensor *find(std::string_view pattern, std::string_view prefix,
                     int64_t layer, const Aliases &aliases,
                     int64_t expert = 0) const;
  /// The first prefix with which some pattern that has {p} names a tensor; the
  /// first prefix when none does, "" when there are no prefixes.
  std::string choosePrefix(const std::vector<PatternUse> &patterns,
                           const std::vector<std::string> &prefixes,
                           const Aliases &aliases) const;
  /// The stored name that is most like `name`; empty when none is close.
  std::string closestName(std::string_view name) const;

private:
  Status openFolder(const std::string &folder);
  Status openModules(const std::string &folder);
  Status openIndex(const std::string &indexPath);
  Status openShard(const std::string &indexPath, const std::string &name);
  Status add(const std::string &path, const std::string &prefix = "");
  Status gather(const std::string &path, size_t firstFile);
  Status addGguf(const std::string &path);
  Status finish();

  std::string rootPath;
  std::vector<std::shared_ptr<TensorFile>> files;
  std::vector<std::shared_ptr<GgufFile>> ggufFiles;
  std::vector<std::shared_ptr<const Tensor>> decoded; // of no TensorFile
  std::vector<const Tensor *> list;
  std::vector<std::string> formatLines;
};

/// `pattern` with {p}, {i} and {e} replaced.
std::string expandPattern(std::string_view pattern, std::string_view prefix,
                          int64_t layer, int64_t expert = 0);

/// A parameter and where it is stored; the fields mean what those of
/// tfc_weight_v0 mean. tiedTo: index of the weight it must equal, or -1.
struct WeightSource {
  std::string name;
  std::vector<std::string> patterns;
  int64_t firstLayer = 0, layerStep = 1, layers = 1;
  int64_t rank = 2, rows = 0, cols = 1, firstRow = 0, storedRows = 0;
  int64_t rowStep = 1, storedCols = 0;
  bool inOut = false, fillZeros = false, stacked = false;
  int64_t experts = 0;
  int64_t tiedTo = -1;

  /// Of number i of its `layers`, which count experts where there are any.
  int64_t layerOf(int64_t i) const {
    return firstLayer + i / std::max<int64_t>(experts, 1) * layerStep;
  }
  int64_t expertOf(int64_t i) const { return experts > 0 ? i % experts : 0; }
  /// The columns of what is stored.
  int64_t storedWidth() const { return storedCols > 0 ? storedCols : cols; }
};

/// A model's parameters, and how its tensors may be called.
struct WeightTable {
  std::vector<WeightSource> weights;
  std::vector<std::string> prefixes;
  Aliases aliases;
};

/// Shape and dtype of the tensor that stores `weight`. The error names file,
/// tensor, expected and found.
Status checkTensor(const Tensor &tensor, const WeightSource &weight);

/// The tensor of every (weight, layer), outer index weight. Null: zeros, or a
/// tied weight that is not stored. Reports every missing or misshapen tensor,
/// one line each. Reads tied tensors' values, nothing else's.
using BoundWeights = std::vector<std::vector<const Tensor *>>;
Result<BoundWeights> bindWeights(const TensorFiles &files,
                                 const WeightTable &table);

/// Whether two weight tensors have equal element counts and, as f32, equal
/// values (NaN equals NaN).
bool sameValues(const Tensor &a, const Tensor &b);

/// A tensor to write; data holds the shape's elements, dense.
struct TensorToWrite {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  const void *data = nullptr;
};

/// Writes the file whole or not at all (beside, then renamed). An existing file
/// is replaced, anything else at `path` is refused. Errors: InvalidArgument
/// (the latter), NotFound (no such folder), Io.
/// `metadata` is what the header says besides.
Status
writeSafetensors(const std::string &path,
                 const std::vector<TensorToWrite> &tensors,
                 const std::map<std::string, std::string> &metadata = {});

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_FILES_SAFETENSORS_H
