// A GGUF file, or the parts of one: metadata and tensors in llama.cpp's names
// and blocks. Everything is checked against the files when they are opened.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_FILES_GGUF_GGUFFILE_H
#define TFC_RUNTIME_SRC_FILES_GGUF_GGUFFILE_H

#include "runtime/src/files/Safetensors.h"

namespace tfc::rt {

/// A way of storing elements: `elements` of a row are `bytes`.
struct GgufType {
  uint32_t code;
  const char *name;
  int64_t elements;
  uint64_t bytes;
  /// One block as f32; null where elements are f32, f16 or bf16.
  void (*decode)(const uint8_t *block, float *out);
  /// The narrowest type that has all values.
  DType dtype;
  /// Of blocks that are integers of `bits`, minus `middle`, times a scale:
  /// those of one block. Null for others.
  void (*readIntegers)(const uint8_t *block, int32_t *out) = nullptr;
  int64_t bits = 0;
  int32_t middle = 0;
  /// The scales of a block's groups of `group` elements, and where it
  /// `hasMinima` what comes off behind them.
  void (*readGroups)(const uint8_t *block, float *scales,
                     float *zeros) = nullptr;
  bool hasMinima = false;
  /// The narrowest type that has all of both.
  DType scaleType = DType::F32;
  int64_t group = 32;
};

/// Null where tfc does not read the type.
const GgufType *findGgufType(uint32_t code);

/// Types of metadata's values, as the file numbers them.
enum class GgufKind : uint32_t {
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  F32,
  Bool,
  String,
  Array,
  U64,
  I64,
  F64
};

/// A value in the file: `count` of a kind, of which arrays have any number.
struct GgufValue {
  GgufKind kind = GgufKind::U8;
  bool isArray = false;
  uint64_t count = 1;
  const uint8_t *data = nullptr;
};

/// Rows last in the file's order, first here, as everywhere in tfc.
struct GgufTensor {
  std::string name;
  std::vector<int64_t> shape;
  const GgufType *type = nullptr;
  const uint8_t *data = nullptr;
  uint64_t bytes = 0;
  std::string_view file; // its path, which the GgufFile keeps
};

class GgufFile {
public:
  /// `path` is a file, any part of a model in parts
  /// ("model-00002-of-00003.gguf"), whose others lie beside it, or a folder
  /// with one model. Errors name the file: NotFound, Io, Exhausted,
  /// InvalidArgument, and Unsupported for what is no fault of the file (blocks
  /// that tfc does not read).
  static Result<std::shared_ptr<GgufFile>> open(const std::string &path);
  ~GgufFile();
  GgufFile(const GgufFile &) = delete;
  GgufFile &operator=(const GgufFile &) = delete;

  /// Of parts the first one's.
  const std::string &path() const { return filePath; }
  /// Of all parts.
  std::vector<std::string> paths() const;
  const std::vector<GgufTensor> &tensors() const { return list; }
  const GgufTensor *find(std::string_view name) const;

  /// Metadata, whatever width a number has in the file. None where there is no
  /// such key, or a value of another kind; a NaN or an infinity is no number.
  std::optional<int64_t> integer(const std::string &key) const;
  std::optional<double> number(const std::string &key) const;
  std::optional<bool> boolean(const std::string &key) const;
  std::optional<std::string> text(const std::string &key) const;
  /// Of an array, flags as 0 and 1; a number is an array of one.
  std::vector<double> numbers(const std::string &key) const;
  std::vector<std::string> texts(const std::string &key) const;

private:
  friend class GgufReader;
  GgufFile() = default;
  static Result<std::shared_ptr<GgufFile>> openOne(const std::string &path);
  /// Makes this, the first part, the whole model.
  Status addParts(std::vector<std::shared_ptr<GgufFile>> parts);

  std::string filePath;
  void *mapped = nullptr;
  uint64_t mappedBytes = 0;
  std::map<std::string, GgufValue> metadata;
  std::vector<GgufTensor> list;                  // in the files' order
  std::vector<std::shared_ptr<GgufFile>> others; // parts behind the first
};

/// Whether a file begins as GGUF files do, or a folder has such files (by their
/// names) and no config.json; no error where it cannot be read.
bool isGguf(const std::string &path);

/// The tensors of a file under the names and in the order of rows that Hugging
/// Face's folder of the model has; `formats` as TensorFiles::formats. They live
/// as long as `file`. Errors: Unsupported for architectures that tfc does not
/// read.
struct GgufTensors {
  std::vector<std::shared_ptr<const Tensor>> tensors;
  std::vector<std::string> formats;
};
Result<GgufTensors> nameTensors(const std::shared_ptr<GgufFile> &file);

/// The config.json of the model, as text, from metadata and tensors. Errors:
/// Unsupported, InvalidArgument for what it cannot say.
Result<std::string> makeGgufConfig(const GgufFile &file);

/// How the rows of a text become one vector, in sentence-transformers' words:
/// "mean", "cls" or "lasttoken"; "" where the file says none.
std::string findGgufPooling(const GgufFile &file);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_FILES_GGUF_GGUFFILE_H
