// The tensors of a GGUF file as Hugging Face's folder has them: names, and the
// order of rows that rotary positions turn.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/gguf/GgufFile.h"

#include "runtime/src/files/quantized/QuantizedModule.h"

#include <cstring>

namespace tfc::rt {

namespace {

constexpr std::pair<const char *, const char *> wholeNames[] = {
    {"token_embd.", "model.embed_tokens."},
    {"output_norm.", "model.norm."},
    {"output.", "lm_head."}};

constexpr std::pair<const char *, const char *> layerNames[] = {
    {"attn_norm.", "input_layernorm."},
    {"attn_q.", "self_attn.q_proj."},
    {"attn_k.", "self_attn.k_proj."},
    {"attn_v.", "self_attn.v_proj."},
    {"attn_output.", "self_attn.o_proj."},
    {"attn_q_norm.", "self_attn.q_norm."},
    {"attn_k_norm.", "self_attn.k_norm."},
    {"ffn_norm.", "post_attention_layernorm."},
    {"ffn_gate.", "mlp.gate_proj."},
    {"ffn_up.", "mlp.up_proj."},
    {"ffn_down.", "mlp.down_proj."}};

/// `name` with what it begins with replaced; "" where nothing of `pairs` fits.
template <size_t N>
std::string
replaceBeginning(std::string_view name,
                 const std::pair<const char *, const char *> (&pairs)[N]) {
  for (const auto &[from, to] : pairs) {
    std::string_view beginning = from;
    if (name.substr(0, beginning.size()) == beginning) {
      return to + std::string(name.substr(beginning.size()));
    }
  }
  return "";
}

/// Hugging Face's name of a tensor; its own where there is none.
std::string nameOf(const std::string &name) {
  std::string whole = replaceBeginning(name, wholeNames);
  if (!whole.empty()) {
    return whole;
  }
  size_t end = name.rfind("blk.", 0) == 0 ? name.find('.', 4) : name.npos;
  std::string part =
      end == name.npos
          ? ""
          : replaceBeginning(std::string_view(name).substr(end + 1),
                             layerNames);
  return part.empty()
             ? name
             : concat("model.layers.", name.substr(4, end - 4), ".", part);
}

/// Where the rows of a matrix are in the file.
struct GgufRows {
  Tensor stored; // the file's bytes
  const GgufType *type = nullptr;
  int64_t headWidth = 0; // where rows change places
  std::shared_ptr<GgufFile> file;

  /// Neighbours in the file are halves of a head apart in Hugging Face's order.
  int64_t storedRow(int64_t row) const {
    if (headWidth == 0) {
      return row;
    }
    int64_t head = row / headWidth, half = row % headWidth / (headWidth / 2),
            place = row % (headWidth / 2);
    return head * headWidth + place * 2 + half;
  }
  /// Block `number` of a row of `columns`.
  const uint8_t *block(int64_t row, int64_t columns, int64_t number) const {
    int64_t before = storedRow(row) * (columns / type->elements) + number;
    return stored.data + static_cast<uint64_t>(before) * type->bytes;
  }
};

/// Rows of blocks, or of floats whose order changes.
class GgufMatrix : public QuantizedMatrix {
public:
  GgufRows from;

  void decode(int64_t first, int64_t count, float *out) const override {
    for (int64_t row = first; row < first + count; ++row) {
      if (!from.type->decode) {
        convertToF32(from.stored, from.storedRow(row) * columns, columns, out);
        out += columns;
        continue;
      }
      for (int64_t i = 0; i < columns / from.type->elements; ++i) {
        from.type->decode(from.block(row, columns, i), out);
        out += from.type->elements;
      }
    }
  }
};

/// The same of blocks that are integers times a scale.
class GgufIntegers : public IntegerMatrix {
public:
  GgufRows from;

  void readIntegers(int64_t row, int32_t *integers) const override {
    for (int64_t i = 0; i < groups; ++i) {
      from.type->readIntegers(from.block(row, columns, i), integers);
      integers += from.type->elements;
    }
  }
  void readGroups(int64_t row, float *scales, int32_t *zeros) const override {
    for (int64_t i = 0; i < groups; ++i) {
      scales[i] = scaleOfBlock(from.block(row, columns, i));
      zeros[i] = middle;
    }
  }
};

/// Whether the file keeps rows of queries and keys in pairs.
bool turnsNeighbours(const std::string &architecture) {
  return architecture == "llama";
}

class Namer {
public:
  explicit Namer(const std::shared_ptr<GgufFile> &file) : file(file) {}

  Result<GgufTensors> run() {
    architecture = file->text("general.architecture").value_or("");
    if (architecture != "llama" && architecture != "qwen2" &&
        architecture != "qwen3") {
      return makeError(Code::Unsupported, file->path(),
                       ": expected general.architecture llama, qwen2 or qwen3 "
                       "(others of GGUF are not read), got ",
                       quoteName(architecture),
                       "; import the model's Hugging Face folder");
    }
    for (const GgufTensor &tensor : file->tensors()) {
      // It becomes a key of the configuration.
      if (tensor.name == "rope_freqs.weight") {
        continue;
      }
      if (Status status = add(tensor); !status) {
        return std::move(status.error());
      }
    }
    for (const auto &[type, count] : counts) {
      made.formats.push_back(concat("quantised: GGUF ", type, ": ", count,
                                    count == 1 ? " matrix" : " matrices"));
    }
    return std::move(made);
  }

private:
  const std::shared_ptr<GgufFile> &file;
  std::string architecture;
  GgufTensors made;
  std::map<std::string, size_t> counts;

  /// Rows of a head, where those of this tensor change places; else 0.
  Result<int64_t> headWidth(const GgufTensor &tensor) const {
    bool isQuery = tensor.name.find(".attn_q.") != std::string::npos,
         isKey = tensor.name.find(".attn_k.") != std::string::npos;
    if (!turnsNeighbours(architecture) || (!isQuery && !isKey)) {
      return int64_t(0);
    }
    int64_t rows = tensor.shape.front();
    int64_t queries =
        file->integer(architecture + ".attention.head_count").value_or(0);
    int64_t keys = file->integer(architecture + ".attention.head_count_kv")
                       .value_or(queries);
    int64_t heads = isQuery ? queries : keys;
    if (heads < 1 || rows % heads != 0 || rows / heads % 2 != 0) {
      return makeError(Code::InvalidArgument, file->path(), ": tensor ",
                       quoteName(tensor.name),
                       ": expected an even number of "
                       "rows for each of ",
                       heads, " heads, got ", rows, " rows");
    }
    return rows / heads;
  }

  Status add(const GgufTensor &from) {
    Result<int64_t> width = headWidth(from);
    if (!width) {
      return std::move(width.error());
    }
    if (*width > 0 && from.shape.size() == 1 && from.type->decode) {
      return makeError(Code::InvalidArgument, file->path(), ": tensor ",
                       quoteName(from.name),
                       ": expected a vector of floats (its elements change "
                       "places), got ",
                       from.type->name, " blocks");
    }
    Tensor tensor;
    tensor.name = nameOf(from.name);
    tensor.dtype = from.type->decode ? DType::U8 : from.type->dtype;
    tensor.shape = from.shape;
    tensor.data = from.data;
    tensor.bytes = from.bytes;
    tensor.file = file->path();
    tensor.isMapped = true;
    bool isPlain = !from.type->decode && *width == 0;
    if (!isPlain) {
      decodeLater(tensor, from, *width);
    }
    made.tensors.push_back(std::make_shared<const Tensor>(std::move(tensor)));
    return {};
  }

  void decodeLater(Tensor &tensor, const GgufTensor &from, int64_t width) {
    if (from.type->readIntegers) {
      auto matrix = std::make_shared<GgufIntegers>();
      place(*matrix, matrix->from, tensor, from, width);
      matrix->bits = from.type->bits;
      matrix->middle = from.type->middle;
      matrix->groups = matrix->columns / from.type->elements;
      matrix->groupOf = groupsOf(matrix->columns, from.type->elements);
      tensor.quantized = std::move(matrix);
    } else {
      auto matrix = std::make_shared<GgufMatrix>();
      place(*matrix, matrix->from, tensor, from, width);
      tensor.quantized = std::move(matrix);
    }
    if (from.type->decode) {
      ++counts[from.type->name];
    }
    tensor.dtype = tensor.quantized->dtype;
    tensor.bytes = static_cast<uint64_t>(tensor.elements()) * sizeof(float);
    tensor.data = nullptr;
    tensor.isMapped = false;
  }

  void place(QuantizedMatrix &matrix, GgufRows &rows, const Tensor &tensor,
             const GgufTensor &from, int64_t width) const {
    matrix.columns =
        from.shape.size() == 1 && width > 0 ? 1 : from.shape.back();
    matrix.rows = tensor.elements() / matrix.columns;
    matrix.dtype = from.type->dtype;
    rows = {tensor, from.type, width, file};
    matrix.parts = {&rows.stored};
  }
};

} // namespace

Result<GgufTensors> nameTensors(const std::shared_ptr<GgufFile> &file) {
  return Namer(file).run();
}

} // namespace tfc::rt
