// The tensors of a GGUF file as Hugging Face's folder has them: names, the
// order of rows that rotary positions turn, experts apart.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/gguf/GgufArchitecture.h"
#include "runtime/src/files/gguf/GgufMatrices.h"
#include "runtime/src/files/quantized/QuantizedModule.h"

#include <algorithm>
#include <cstdlib>

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
  std::string layer, part; // "7.", "" where it is of no layer
};

LayerPart splitName(const std::string &name) {
  size_t end = name.rfind("blk.", 0) == 0 ? name.find('.', 4) : name.npos;
  return end == name.npos
             ? LayerPart{"", name}
             : LayerPart{name.substr(4, end - 3), name.substr(end + 1)};
}

class Namer {
public:
  Namer(const std::shared_ptr<GgufFile> &file, const GgufArchitecture &of)
      : file(file), of(of) {}

  Result<GgufTensors> run() {
    for (const GgufTensor &tensor : file->tensors()) {
      bool isSetting =
          std::count(std::begin(settings), std::end(settings), tensor.name);
      Status status = isSetting || guesses(tensor) ? Status() : add(tensor);
      if (!status) {
        return std::move(status.error());
      }
    }
    for (auto &[name, join] : joins) {
      if (Status status = finish(name, join); !status) {
        return std::move(status.error());
      }
    }
    for (auto &[layer, join] : latents) {
      if (Status status = finishLatents(layer, join); !status) {
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
  std::map<std::string, Join> joins, latents;

  /// Whether it is of a layer behind the model's, which guesses a token more.
  bool guesses(const GgufTensor &tensor) const {
    int64_t more = size("nextn_predict_layers"), all = size("block_count");
    std::string layer = splitName(tensor.name).layer;
    return more > 0 && !layer.empty() &&
           std::atoll(layer.c_str()) >= all - more;
  }

  template <typename... Ts>
  static Error fault(const GgufTensor &tensor, const Ts &...parts) {
    return makeError(Code::InvalidArgument, tensor.file, ": tensor ",
                     quoteName(tensor.name), ": expected ", parts...);
  }

  /// Hugging Face's name of a tensor; its own where there is none.
  std::string nameOf(const std::string &name) const {
    LayerPart split = splitName(name);
    if (split.layer.empty()) {
      std::string whole = replaceBeginning(name, of.whole);
      whole = whole.empty() ? replaceBeginning(name, wholeNames) : whole;
      return whole.empty() ? name : whole;
    }
    std::string part = replaceBeginning(split.part, of.layers);
    part = part.empty() ? replaceBeginning(split.part, layerNames) : part;
    return part.empty() ? name : of.layersAre + split.layer + part;
  }

  /// How the file has what this tensor is.
  struct Form {
    GgufOrder rows, columns;
    GgufChange change = GgufChange::None;
    bool isVector = false; // of however many axes
  };

  int64_t size(const char *key) const {
    return file->integer(concat(of.name, ".", key)).value_or(0);
  }

  /// Of layers that have some.
  int64_t most(const char *key) const {
    std::vector<double> all = file->numbers(concat(of.name, ".", key));
    double found = 0;
    for (double each : all) {
      found = each > found ? each : found;
    }
    return found < 0x1p40 ? static_cast<int64_t>(found) : 0;
  }

  Result<Form> formOf(const GgufTensor &tensor) const {
    Form form;
    std::string part = splitName(tensor.name).part;
    bool isNorm = part.find("norm.weight") != std::string::npos;
    if (of.addsOneToNorms && isNorm && part.rfind("ssm_", 0) != 0) {
      form.change = GgufChange::OneAdded;
    }
    int64_t rows = tensor.shape.front();
    bool isQuery = part.rfind("attn_q.", 0) == 0,
         isKey = part.rfind("attn_k.", 0) == 0;
    if (of.turnsNeighbours && (isQuery || isKey)) {
      int64_t heads =
          most(isKey ? "attention.head_count_kv" : "attention.head_count");
      heads = heads > 0 ? heads : most("attention.head_count");
      if (heads < 1 || rows % heads != 0 || rows / heads % 2 != 0) {
        return fault(tensor, "an even number of rows for each of ", heads,
                     " heads, got ", rows, " rows");
      }
      form.rows.kind = GgufOrder::Pairs;
      form.rows.width = rows / heads;
    }
    if (of.joinsHeads && part.rfind("attn_qkv.", 0) == 0) {
      return formOfHeads(tensor, form);
    }
    if (of.states == GgufStates::Delta || of.states == GgufStates::Grouped) {
      return formOfState(tensor, part, form);
    }
    if (of.states == GgufStates::Mamba) {
      form.isVector =
          part == "ssm_a" || part == "ssm_d" || part == "ssm_norm.weight";
      form.change = part == "ssm_a" ? GgufChange::NegativePower : form.change;
    }
    return form;
  }

  /// Heads of queries beside those of keys and values that they belong to.
  Result<Form> formOfHeads(const GgufTensor &tensor, Form form) const {
    int64_t queries = most("attention.head_count"),
            keys = most("attention.head_count_kv"), rows = tensor.shape.front();
    keys = keys > 0 ? keys : queries;
    if (keys < 1 || queries % keys != 0 || rows % (queries + 2 * keys) != 0) {
      return fault(tensor, "rows for ", queries, " heads of queries and ", keys,
                   " of keys and values each, got ", rows);
    }
    form.rows.kind = GgufOrder::Joined;
    form.rows.width = rows / (queries + 2 * keys);
    form.rows.groups = keys;
    form.rows.each = queries / keys;
    return form;
  }

  /// Of a layer's state: heads of keys and of values, columns of values, and
  /// those of a head of keys; whether they go together.
  struct StateSizes {
    int64_t keys = 0, heads = 0, inner = 0, state = 0;
    bool isGood = false;
  };

  StateSizes stateSizes() const {
    StateSizes sizes = {size("ssm.group_count"), size("ssm.time_step_rank"),
                        size("ssm.inner_size"), size("ssm.state_size"), false};
    constexpr int64_t most = int64_t(1) << 20;
    sizes.isGood = sizes.heads >= 1 && sizes.heads <= most && sizes.keys >= 1 &&
                   sizes.heads % sizes.keys == 0 &&
                   sizes.inner % sizes.heads == 0 &&
                   sizes.inner / sizes.heads <= most && sizes.state >= 0 &&
                   sizes.state <= most;
    return sizes;
  }

  /// Heads of values lie group by group, each with its head of keys; in the
  /// file the first ones of all groups do.
  Result<Form> formOfState(const GgufTensor &tensor, const std::string &part,
                           Form form) const {
    constexpr std::string_view ofHeads[] = {"ssm_a", "ssm_dt.bias",
                                            "ssm_alpha.weight",
                                            "ssm_beta.weight"},
                               ofColumns[] = {"attn_gate.weight",
                                              "attn_qkv.weight",
                                              "ssm_conv1d.weight"};
    auto among = [&](const auto &names) {
      return std::count(std::begin(names), std::end(names), part) > 0;
    };
    bool isOut = part == "ssm_out.weight";
    if (part == "ssm_a") {
      form.change = GgufChange::NegativePower;
    }
    bool isMoved = among(ofHeads) || among(ofColumns) || isOut;
    if (!isMoved || of.states == GgufStates::Grouped) {
      return form;
    }
    StateSizes sizes = stateSizes();
    GgufOrder order;
    int64_t expected = -1;
    if (sizes.isGood) {
      order.kind = GgufOrder::Heads;
      order.groups = sizes.keys;
      order.each = sizes.heads / sizes.keys;
      order.width = among(ofHeads) ? 1 : sizes.inner / sizes.heads;
      bool hasAll = part == "attn_qkv.weight" || part == "ssm_conv1d.weight";
      order.before = hasAll ? 2 * sizes.keys * sizes.state : 0;
      expected = order.before + sizes.heads * order.width;
    }
    int64_t found = isOut ? tensor.shape.back() : tensor.shape.front();
    if (found != expected) {
      return fault(tensor, isOut ? "columns" : "rows",
                   " for heads as ssm.group_count, ssm.time_step_rank, "
                   "ssm.inner_size and ssm.state_size say, got ",
                   found);
    }
    (isOut ? form.columns : form.rows) = order;
    return form;
  }

  Status add(const GgufTensor &from) {
    LayerPart split = splitName(from.name);
    for (const GgufJoin &join : of.joins) {
      bool isFirst = split.part == join.first;
      if (isFirst || (join.second && split.part == join.second)) {
        Join &own = joins[of.layersAre + split.layer + join.to];
        own.as = &join;
        (isFirst ? own.first : own.second) = make(from, from.name, {});
        return {};
      }
    }
    if (of.splitsLatents &&
        (split.part == "attn_k_b.weight" || split.part == "attn_v_b.weight")) {
      Join &own = latents[of.layersAre + split.layer];
      (split.part[5] == 'k' ? own.first : own.second) =
          make(from, from.name, {});
      return {};
    }
    std::string name = nameOf(from.name);
    size_t expert = std::min(name.find("{e}"), name.find("{h}"));
    if (expert != name.npos) {
      return addExperts(from, name, expert);
    }
    Result<Form> form = formOf(from);
    if (!form) {
      return std::move(form.error());
    }
    if (from.shape.size() == 1 && from.type->decode) {
      return fault(from, "a vector of floats, got ", from.type->name,
                   " blocks");
    }
    made.tensors.push_back(make(from, name, *form));
    return {};
  }

  /// A tensor for each expert, or head.
  Status addExperts(const GgufTensor &from, const std::string &name,
                    size_t place) {
    bool isHead = name[place + 1] == 'h';
    if (from.shape.size() != (isHead ? 2U : 3U)) {
      return fault(from,
                   isHead ? "two axes, of which the first are heads, got "
                          : "three axes, of which the first are experts, got ",
                   from.shape.size());
    }
    GgufTensor own = from;
    own.shape.erase(own.shape.begin());
    own.bytes = from.bytes / static_cast<uint64_t>(from.shape[0]);
    for (int64_t expert = 0; expert < from.shape[0]; ++expert) {
      std::string of = name;
      of.replace(place, 3, std::to_string(expert));
      made.tensors.push_back(make(own, of, {}));
      own.data += own.bytes;
    }
    return {};
  }

  /// One matrix of the tensors of a join, which are of one shape, an axis of
  /// experts and rows.
  Status finish(const std::string &name, const Join &join) {
    const Tensor *first = join.first.get(), *second = join.second.get();
    bool isWhole = first && (second || !join.as->second);
    bool isMatrix = join.as->isMatrix;
    if (isWhole && join.as->isOfStates) {
      return finishStates(name, join);
    }
    bool isAlike =
        isWhole && (!second || first->shape == second->shape) &&
        ((first->shape.size() == 3 && !isMatrix) || first->shape.size() == 2);
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
    auto parts = static_cast<int64_t>(matrix->from.size());
    bool hasColumns = isMatrix || first->shape.size() == 3;
    int64_t own = first->shape[isMatrix ? 0 : 1];
    for (size_t part = 0; part < matrix->from.size(); ++part) {
      matrix->runs.push_back({part, 0, join.as->inTurns ? 1 : own});
    }
    matrix->columns = hasColumns ? first->shape.back() : 1;
    matrix->rows = (isMatrix ? 1 : first->shape[0]) * parts * own;
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
    if (hasColumns) {
      tensor.shape = {matrix->rows, matrix->columns};
    }
    tensor.bytes = static_cast<uint64_t>(tensor.elements()) * sizeof(float);
    tensor.file = file->path();
    tensor.quantized = std::move(matrix);
    made.tensors.push_back(std::make_shared<const Tensor>(std::move(tensor)));
    return {};
  }

  /// Of each head of keys its queries, its keys, and its values with their
  /// gates, which the file has apart.
  Status finishStates(const std::string &name, const Join &join) {
    StateSizes sizes = stateSizes();
    const Tensor &all = *join.first, &gates = *join.second;
    int64_t own = sizes.isGood ? sizes.inner / sizes.keys : 0,
            before = 2 * sizes.keys * sizes.state;
    bool isAlike = sizes.isGood && all.shape.size() == 2 &&
                   gates.shape.size() == 2 && all.shape[1] == gates.shape[1] &&
                   all.shape[0] == before + sizes.inner &&
                   gates.shape[0] == sizes.inner;
    if (!isAlike) {
      return makeError(Code::InvalidArgument, file->path(), ": tensors ",
                       join.as->first, " and ", join.as->second, " of ",
                       quoteName(name),
                       ": expected rows for heads as ssm.group_count, "
                       "ssm.time_step_rank, ssm.inner_size and ssm.state_size "
                       "say, got others");
    }
    auto matrix = std::make_shared<GgufJoined>();
    matrix->from = {join.first, join.second};
    matrix->runs = {{0, 0, sizes.state},
                    {0, sizes.keys * sizes.state, sizes.state},
                    {0, before, own},
                    {1, 0, own}};
    matrix->rows = before + 2 * sizes.inner;
    matrix->columns = all.shape[1];
    matrix->dtype = all.dtype == gates.dtype ? all.dtype : DType::F32;
    matrix->parts = {&all, &gates};
    Tensor tensor;
    tensor.name = name;
    tensor.dtype = matrix->dtype;
    tensor.shape = {matrix->rows, matrix->columns};
    tensor.bytes = static_cast<uint64_t>(tensor.elements()) * sizeof(float);
    tensor.file = all.file;
    tensor.quantized = std::move(matrix);
    made.tensors.push_back(std::make_shared<const Tensor>(std::move(tensor)));
    return {};
  }

  /// The one matrix that a folder has of a layer's.
  Status finishLatents(const std::string &layer, const Join &join) {
    const Tensor *keys = join.first.get(), *values = join.second.get();
    bool isAlike = keys && values && keys->shape.size() == 3 &&
                   values->shape.size() == 3 &&
                   keys->shape[0] == values->shape[0] &&
                   keys->shape[1] == values->shape[2];
    if (!isAlike) {
      return makeError(Code::InvalidArgument, file->path(),
                       ": tensors attn_k_b.weight and attn_v_b.weight of ",
                       quoteName(layer),
                       ": expected both, of as many heads and of one latent, "
                       "got others");
    }
    auto matrix = std::make_shared<GgufLatents>();
    matrix->keys = join.first;
    matrix->values = join.second;
    matrix->columns = keys->shape[1];
    matrix->rows = keys->shape[0] * (keys->shape[2] + values->shape[1]);
    matrix->dtype = keys->dtype == values->dtype ? keys->dtype : DType::F32;
    matrix->parts = {keys, values};
    Tensor tensor;
    tensor.name = layer + "self_attn.kv_b_proj.weight";
    tensor.dtype = matrix->dtype;
    tensor.shape = {matrix->rows, matrix->columns};
    tensor.bytes = static_cast<uint64_t>(tensor.elements()) * sizeof(float);
    tensor.file = keys->file;
    tensor.quantized = std::move(matrix);
    made.tensors.push_back(std::make_shared<const Tensor>(std::move(tensor)));
    return {};
  }

  std::shared_ptr<const Tensor>
  make(const GgufTensor &from, const std::string &name, const Form &form) {
    Tensor tensor;
    tensor.name = name;
    tensor.dtype = from.type->decode ? DType::U8 : from.type->dtype;
    tensor.shape = from.shape;
    tensor.data = from.data;
    tensor.bytes = from.bytes;
    tensor.file = from.file;
    tensor.isMapped = true;
    if (form.isVector) {
      tensor.shape = {tensor.elements()};
    }
    GgufRows rows{tensor,       from.type,   form.rows,
                  form.columns, form.change, file};
    if (!rows.isPlain()) {
      decodeLater(tensor, from, std::move(rows));
    }
    return std::make_shared<const Tensor>(std::move(tensor));
  }

  void decodeLater(Tensor &tensor, const GgufTensor &from, GgufRows rows) {
    // Blocks are whole where columns change places with them.
    bool isWhole = rows.columnOrder.kind == GgufOrder::Same ||
                   (rows.columnOrder.width % from.type->elements == 0 &&
                    rows.columnOrder.before % from.type->elements == 0);
    if (from.type->readIntegers && isWhole && rows.change == GgufChange::None) {
      auto matrix = std::make_shared<GgufIntegers>();
      place(*matrix, matrix->from, tensor, std::move(rows));
      matrix->bits = from.type->bits;
      matrix->middle = from.type->middle;
      matrix->hasFloatZeros = from.type->hasMinima;
      matrix->scaleType = from.type->scaleType;
      matrix->groups = matrix->columns / from.type->group;
      matrix->groupOf = groupsOf(matrix->columns, from.type->group);
      tensor.quantized = std::move(matrix);
    } else {
      auto matrix = std::make_shared<GgufMatrix>();
      place(*matrix, matrix->from, tensor, std::move(rows));
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

  static void place(QuantizedMatrix &matrix, GgufRows &to, const Tensor &tensor,
                    GgufRows rows) {
    // Vectors are columns.
    matrix.columns = tensor.shape.size() == 1 ? 1 : tensor.shape.back();
    matrix.rows = tensor.elements() / matrix.columns;
    // What is changed has more bits than it had.
    matrix.dtype =
        rows.change == GgufChange::None ? rows.type->dtype : DType::F32;
    to = std::move(rows);
    matrix.parts = {&to.stored};
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
