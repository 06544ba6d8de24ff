// The tensors of a GGUF file as Hugging Face's folder has them: names, the
// order of rows that rotary positions turn, experts apart.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/gguf/GgufArchitecture.h"
#include "runtime/src/files/gguf/GgufMatrices.h"
#include "runtime/src/files/quantized/QuantizedModule.h"

#include <algorithm>

namespace tfc::rt {

namespace {

const std::vector<GgufName> wholeNames = {
    {"token_embd.", "model.embed_tokens."},
    {"token_embd_norm.", "model.embedding_norm."},
    {"output_norm.", "model.norm."},
    {"output.", "lm_head."}};

/// LLaMA's, and most others'.
const std::vector<GgufName> layerNames = {
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

/// Settings, which become keys of the configuration.
constexpr const char *settings[] = {"rope_freqs.weight",
                                    "rope_factors_long.weight",
                                    "rope_factors_short.weight"};

/// `name` with what it begins with replaced; "" where nothing of `pairs` fits.
std::string replaceBeginning(std::string_view name,
                             const std::vector<GgufName> &pairs) {
  for (const GgufName &pair : pairs) {
    std::string_view beginning = pair.from;
    if (name.substr(0, beginning.size()) == beginning) {
      return pair.to + std::string(name.substr(beginning.size()));
    }
  }
  return "";
}

/// "blk.7.attn_q.weight": the layer and what it calls the tensor.
struct LayerPart {
  std::string layer, part; // "model.layers.7.", "" where it is of no layer
};

LayerPart splitName(const std::string &name) {
  size_t end = name.rfind("blk.", 0) == 0 ? name.find('.', 4) : name.npos;
  return end == name.npos
             ? LayerPart{"", name}
             : LayerPart{concat("model.layers.", name.substr(4, end - 4), "."),
                         name.substr(end + 1)};
}

class Namer {
public:
  Namer(const std::shared_ptr<GgufFile> &file, const GgufArchitecture &of)
      : file(file), of(of) {}

  Result<GgufTensors> run() {
    for (const GgufTensor &tensor : file->tensors()) {
      bool isSetting =
          std::count(std::begin(settings), std::end(settings), tensor.name);
      Status status = isSetting ? Status() : add(tensor);
      if (!status) {
        return std::move(status.error());
      }
    }
    for (auto &[name, join] : joins) {
      if (Status status = finish(name, join); !status) {
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
  /// Tensors that are one, and what kind of one.
  struct Join {
    const GgufJoin *as = nullptr;
    std::shared_ptr<const Tensor> first, second;
  };

  const std::shared_ptr<GgufFile> &file;
  const GgufArchitecture &of;
  GgufTensors made;
  std::map<std::string, size_t> counts;
  std::map<std::string, Join> joins;

  template <typename... Ts>
  Error fault(const std::string &name, const Ts &...parts) const {
    return makeError(Code::InvalidArgument, file->path(), ": tensor ",
                     quoteName(name), ": expected ", parts...);
  }

  /// Hugging Face's name of a tensor; its own where there is none.
  std::string nameOf(const std::string &name) const {
    LayerPart split = splitName(name);
    if (split.layer.empty()) {
      std::string whole = replaceBeginning(name, wholeNames);
      return whole.empty() ? name : whole;
    }
    std::string part = replaceBeginning(split.part, of.layers);
    part = part.empty() ? replaceBeginning(split.part, layerNames) : part;
    return part.empty() ? name : split.layer + part;
  }

  /// Rows of a head, where those of this tensor change places; else 0.
  Result<int64_t> headWidth(const GgufTensor &tensor) const {
    bool isQuery = tensor.name.find(".attn_q.") != std::string::npos,
         isKey = tensor.name.find(".attn_k.") != std::string::npos;
    if (!of.turnsNeighbours || (!isQuery && !isKey)) {
      return int64_t(0);
    }
    std::string name = of.name;
    int64_t rows = tensor.shape.front();
    int64_t queries = file->integer(name + ".attention.head_count").value_or(0);
    int64_t keys =
        file->integer(name + ".attention.head_count_kv").value_or(queries);
    int64_t heads = isQuery ? queries : keys;
    if (heads < 1 || rows % heads != 0 || rows / heads % 2 != 0) {
      return fault(tensor.name, "an even number of rows for each of ", heads,
                   " heads, got ", rows, " rows");
    }
    return rows / heads;
  }

  /// What the converter has added to the tensor's elements.
  float addedTo(const GgufTensor &tensor) const {
    bool isNorm = tensor.name.find("norm.weight") != std::string::npos;
    return of.addsOneToNorms && isNorm ? 1 : 0;
  }

  Status add(const GgufTensor &from) {
    LayerPart split = splitName(from.name);
    for (const GgufJoin &join : of.joins) {
      bool isFirst = split.part == join.first;
      if (isFirst || (join.second && split.part == join.second)) {
        Join &own = joins[split.layer + join.to];
        own.as = &join;
        (isFirst ? own.first : own.second) = make(from, from.name, 0);
        return {};
      }
    }
    std::string name = nameOf(from.name);
    size_t expert = name.find("{e}");
    if (expert != name.npos) {
      return addExperts(from, name, expert);
    }
    Result<int64_t> width = headWidth(from);
    if (!width) {
      return std::move(width.error());
    }
    if (from.shape.size() == 1 && from.type->decode) {
      return fault(from.name, "a vector of floats, got ", from.type->name,
                   " blocks");
    }
    made.tensors.push_back(make(from, name, *width));
    return {};
  }

  /// A tensor for each expert.
  Status addExperts(const GgufTensor &from, const std::string &name,
                    size_t place) {
    if (from.shape.size() != 3) {
      return fault(from.name,
                   "three axes, of which the first are experts, got ",
                   from.shape.size());
    }
    GgufTensor own = from;
    own.shape.erase(own.shape.begin());
    own.bytes = from.bytes / static_cast<uint64_t>(from.shape[0]);
    for (int64_t expert = 0; expert < from.shape[0]; ++expert) {
      std::string of = name;
      of.replace(place, 3, std::to_string(expert));
      made.tensors.push_back(make(own, of, 0));
      own.data += own.bytes;
    }
    return {};
  }

  /// One matrix of the tensors of a join, which are of one shape, an axis of
  /// experts and rows.
  Status finish(const std::string &name, const Join &join) {
    const Tensor *first = join.first.get(), *second = join.second.get();
    bool isWhole = first && (second || !join.as->second);
    bool isAlike = isWhole && (!second || first->shape == second->shape) &&
                   (first->shape.size() == 3 || first->shape.size() == 2);
    if (!isAlike) {
      return makeError(Code::InvalidArgument, file->path(), ": tensors ",
                       join.as->first,
                       join.as->second ? concat(" and ", join.as->second) : "",
                       " of ", quoteName(name),
                       ": expected both, of one shape with an axis of "
                       "experts, got others");
    }
    auto matrix = std::make_shared<GgufJoined>();
    matrix->from.push_back(join.first);
    if (second) {
      matrix->from.push_back(join.second);
    }
    matrix->inTurns = join.as->inTurns;
    matrix->own = first->shape[1];
    matrix->columns = first->shape.size() == 3 ? first->shape[2] : 1;
    auto parts = static_cast<int64_t>(matrix->from.size());
    matrix->rows = first->shape[0] * parts * matrix->own;
    bool isOneType = !second || second->dtype == first->dtype;
    matrix->dtype = isOneType ? first->dtype : DType::F32;
    matrix->isOutIn = true;
    for (const auto &each : matrix->from) {
      matrix->parts.push_back(each.get());
    }
    Tensor tensor;
    tensor.name = name;
    tensor.dtype = matrix->dtype;
    tensor.shape = first->shape;
    tensor.shape[1] *= parts;
    if (tensor.shape.size() == 3) {
      tensor.shape = {matrix->rows, matrix->columns};
    }
    tensor.bytes = static_cast<uint64_t>(tensor.elements()) * sizeof(float);
    tensor.file = file->path();
    tensor.quantized = std::move(matrix);
    made.tensors.push_back(std::make_shared<const Tensor>(std::move(tensor)));
    return {};
  }

  std::shared_ptr<const Tensor> make(const GgufTensor &from,
                                     const std::string &name, int64_t width) {
    Tensor tensor;
    tensor.name = name;
    tensor.dtype = from.type->decode ? DType::U8 : from.type->dtype;
    tensor.shape = from.shape;
    tensor.data = from.data;
    tensor.bytes = from.bytes;
    tensor.file = file->path();
    tensor.isMapped = true;
    if (from.type->decode || width > 0 || addedTo(from) != 0) {
      decodeLater(tensor, from, width);
    }
    return std::make_shared<const Tensor>(std::move(tensor));
  }

  void decodeLater(Tensor &tensor, const GgufTensor &from, int64_t width) {
    if (from.type->readIntegers && addedTo(from) == 0) {
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
    // Vectors are columns.
    matrix.columns = from.shape.size() == 1 ? 1 : from.shape.back();
    matrix.rows = tensor.elements() / matrix.columns;
    matrix.dtype = from.type->dtype;
    rows = {tensor, from.type, width, addedTo(from), file};
    matrix.parts = {&rows.stored};
  }
};

} // namespace

Result<GgufTensors> nameTensors(const std::shared_ptr<GgufFile> &file) {
  Result<const GgufArchitecture *> of = findArchitecture(*file);
  if (!of) {
    return std::move(of.error());
  }
  return Namer(file, **of).run();
}

} // namespace tfc::rt
