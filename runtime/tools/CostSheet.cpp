// Counts operations and bytes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/CostSheet.h"

#include "runtime/src/load/ModuleTables.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace tfc::bench {

using nlohmann::json;
using rt::Code;

/// Of a key's or value's number, in the entry's cache of that role.
static double bytesPerValue(const tfc_entry_v0 &entry, bool isCross) {
  uint32_t role = isCross ? TFC_CACHE_CROSS : TFC_CACHE_SELF;
  return rt::cacheOf(entry, role).dtype == TFC_DTYPE_F32 ? 4 : 2;
}

static bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

static bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

/// Whether the encoder's entry computes a stack's op. It makes the keys and
/// values of cross-attention too.
static bool isEncoders(std::string_view stem) {
  return stem.substr(0, 8) == "encoder." || endsWith(stem, ".cross.k") ||
         endsWith(stem, ".cross.v");
}

static double valuesOf(const tfc_weight_v0 &weight) {
  return static_cast<double>(weight.rows) * static_cast<double>(weight.cols);
}

/// What a number of a matrix takes that is kept as integers: its bits, and its
/// share of what its group or its row has.
static double bytesOfInteger(const tfc_weight_v0 &weight, bool hasGroups) {
  if (!hasGroups) {
    // A scale and the sum of a row, of 32 bits each.
    return 1 + 8 / static_cast<double>(weight.cols);
  }
  double scale = weight.flags & TFC_WEIGHT_HALF_SCALES ? 2 : 4;
  double zero = weight.flags & TFC_WEIGHT_FLOAT_ZEROS ? scale
                : weight.flags & TFC_WEIGHT_ZEROS     ? 1
                                                      : 0;
  return (weight.kept == TFC_DTYPE_I4 ? 0.5 : 1) +
         (scale + zero) / static_cast<double>(weight.group);
}

CostSheet::Product CostSheet::makeProduct(const std::string &name,
                                          const tfc_weight_v0 &weight) const {
  Product product;
  product.name = name;
  product.weights = valuesOf(weight);
  product.experts = static_cast<double>(std::max(weight.experts, 1U));
  // Devices have no groups of bytes, no experts of integers, and no zeros that
  // are floats.
  bool isWidened =
      isDevice && (weight.experts > 0 || weight.flags & TFC_WEIGHT_FLOAT_ZEROS);
  product.isInteger = weight.kept != 0 && !isWidened;
  bool hasGroups =
      weight.group > 0 && (!isDevice || weight.kept == TFC_DTYPE_I4);
  product.bytes =
      product.weights *
      (product.isInteger ? bytesOfInteger(weight, hasGroups) : bytesPerEntry);
  return product;
}

void CostSheet::readWeight(const tfc_weight_v0 &weight) {
  std::string name = weight.name;
  std::string stem = name.substr(0, name.rfind('.'));
  if (weight.sources->rank != 2) {
    return;
  }
  if (contains(name, ".embeddings.")) {
    tableWidths[isEncoders(name)] += static_cast<double>(weight.cols);
  }
  if (!contains(name, ".layers.")) {
    return;
  }
  Product product = makeProduct(stem, weight);
  product.weights *= weight.layers;
  product.bytes *= weight.layers;
  product.isEncoders = isEncoders(stem);
  products.push_back(std::move(product));
  for (const char *part : {".q", ".k", ".v"}) {
    if (endsWith(stem, part)) {
      Attention &attn = attention[stem.substr(0, stem.size() - 2)];
      (part[1] == 'q' ? attn.queryWidth : attn.cacheWidth) +=
          static_cast<double>(weight.rows);
      attn.layers = weight.layers;
      attn.isCross = endsWith(stem.substr(0, stem.size() - 2), ".cross");
      attn.isEncoders = stem.substr(0, 8) == "encoder.";
    }
  }
}

/// Beside integers, what is kept as none is of 16 bits.
void CostSheet::readPrecision(const std::string &weights,
                              const tfc_program_v0 &program) {
  storage = weights;
  bytesPerEntry = storage == "f32" ? 4 : 2;
  isDevice = program.isa == TFC_ISA_CUDA;
  unit = rt::dotOf(program.isa, program.features, hasIntegers());
}

rt::Result<CostSheet> CostSheet::read(const tfc_module_v0 &module,
                                      const tfc_program_v0 &program) {
  CostSheet sheet;
  rt::Status status = sheet.readSpec(module, program);
  if (!status) {
    return std::move(status.error());
  }
  return sheet;
}

/// How many experts a row takes: of the first mixture below `spec`; or null.
static const json *findPerToken(const json &spec) {
  if (spec.is_object() && spec.contains("per_token")) {
    return &spec["per_token"];
  }
  if (spec.is_structured()) {
    for (const json &each : spec) {
      if (const json *found = findPerToken(each)) {
        return found;
      }
    }
  }
  return nullptr;
}

rt::Status CostSheet::readSpec(const tfc_module_v0 &module,
                               const tfc_program_v0 &program) {
  std::map<std::string, const tfc_weight_v0 *> weights;
  for (uint32_t w = 0; w < module.n_weights; ++w) {
    weights[module.weights[w].name] = &module.weights[w];
  }
  try {
    json spec = json::parse(module.spec_json);
    json precision = spec.value("precision", json::object());
    readPrecision(precision.value("weights", "f32"), program);
    for (uint32_t w = 0; w < module.n_weights; ++w) {
      readWeight(module.weights[w]);
    }
    for (Product &product : products) {
      const json *taken = product.experts > 1 ? findPerToken(spec) : nullptr;
      product.perToken = taken ? taken->get<double>() : 1;
    }
    json all = spec.value("heads", json::object());
    json outputs = spec.value("outputs", json::object());
    for (auto &[name, head] : all.items()) {
      Head &to = heads[name];
      to.from = head.at("from").get<std::string>();
      for (const json &step : head.at("steps")) {
        // A norm is a weight of rank 1: its product is not counted.
        if (!step.contains("name") || step.at("op") == "norm") {
          continue;
        }
        std::string own =
            rt::concat("heads.", name, ".", step.at("name").get<std::string>());
        auto found = weights.find(step.value("tied", own) + ".weight");
        if (found != weights.end()) {
          to.products.push_back(makeProduct(own, *found->second));
        }
      }
    }
    for (auto &[name, value] : outputs.items()) {
      std::string text = value.get<std::string>();
      outputHeads[name] =
          heads.count(text) ? text : text.substr(0, text.rfind('.'));
    }
  } catch (const json::exception &fault) {
    return rt::makeError(
        Code::Incompatible, "expected a library with a ",
        "canonical spec, got one whose spec reads: ", fault.what());
  }
  return {};
}

/// Pairs (query, key) that attention looks at, and keys that it reads.
static std::pair<double, double> countKeys(const rt::Batch &batch,
                                           bool isCausal, bool isCross) {
  double pairs = 0, keys = 0;
  for (const tfc_sequence_v0 &sequence : batch.sequences) {
    double all = isCross ? sequence.cross_count : sequence.keys;
    double count = sequence.count, past = sequence.past;
    // Query t sees past + t + 1 keys.
    pairs += isCausal && !isCross ? count * past + count * (count + 1) / 2
                                  : count * all;
    keys += all;
  }
  return {pairs, keys};
}

/// Where others are integers, products of what is none are f32's; and so are
/// those of experts of floats in every program.
Cost CostSheet::costOf(const Product &product, double rows) const {
  bool isOfExperts = product.experts > 1;
  double taken = rows * product.perToken / product.experts;
  double flops = 2 * taken * product.weights;
  bool isF32 = unit == rt::Dot::None ||
               (!product.isInteger && (isOfExperts || hasIntegers()));
  return {flops,
          isOfExperts ? product.bytes * std::min(taken, 1.0) : product.bytes,
          isF32 ? 0 : flops};
}

/// Whether attention does: its items have as many queries as two tiles.
bool CostSheet::multipliesTiles(const tfc_entry_v0 &entry) const {
  constexpr uint32_t tileRows = 16;
  return unit == rt::Dot::Bf16Tiles && entry.query_rows == 2 * tileRows;
}

std::vector<NamedCost>
CostSheet::list(const tfc_entry_v0 &entry, const rt::Batch &batch,
                bool isCausal, const std::vector<uint8_t> &wanted) const {
  double tokens = static_cast<double>(batch.numTokens());
  bool isEncode = entry.name && std::string_view(entry.name) == "encode";
  std::vector<NamedCost> costs = {
      {"embeddings", {0, bytesPerEntry * tokens * tableWidths[isEncode]}}};
  auto addProduct = [&](const Product &product, double rows) {
    costs.push_back({product.name, costOf(product, rows)});
  };
  for (const Product &product : products) {
    if (product.isEncoders == isEncode) {
      addProduct(product, tokens);
    }
  }
  for (const auto &[name, attn] : attention) {
    if (attn.isEncoders != isEncode) {
      continue;
    }
    auto [pairs, keys] = countKeys(batch, isCausal, attn.isCross);
    double flops = 4 * pairs * attn.queryWidth * attn.layers;
    costs.push_back({name,
                     {flops,
                      bytesPerValue(entry, attn.isCross) * keys *
                          attn.cacheWidth * attn.layers,
                      multipliesTiles(entry) ? flops : 0}});
  }
  std::set<std::string> counted;
  for (uint32_t p = 0; p < entry.n_outputs; ++p) {
    const tfc_port_v0 &port = entry.outputs[p];
    auto output = outputHeads.find(port.name);
    if (!wanted[p] || output == outputHeads.end()) {
      continue;
    }
    double rows = port.rows == TFC_ROWS_TOKENS
                      ? tokens
                      : static_cast<double>(batch.rows.size());
    auto head = heads.find(output->second);
    while (head != heads.end() && counted.insert(head->first).second) {
      for (const Product &product : head->second.products) {
        addProduct(product, rows);
      }
      head = heads.find(head->second.from);
    }
  }
  return costs;
}

Cost CostSheet::of(const tfc_entry_v0 &entry, const rt::Batch &batch,
                   bool isCausal, const std::vector<uint8_t> &wanted) const {
  Cost sum;
  for (const NamedCost &op : list(entry, batch, isCausal, wanted)) {
    sum = sum + op.cost;
  }
  return sum;
}

} // namespace tfc::bench
