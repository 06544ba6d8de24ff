// What a step must cost: the operations of its products and of attention, and
// the bytes that have to be read once. From the library's own tables.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_COSTSHEET_H
#define TFC_RUNTIME_TOOLS_COSTSHEET_H

#include "runtime/src/DotProbes.h"
#include "runtime/src/Error.h"
#include "runtime/src/step/Batch.h"

#include <map>
#include <string>

namespace tfc::bench {

/// A fused multiply-add is two operations. Norms, activations, softmax and
/// additions are not counted: no implementation needs the same number of them.
/// Bytes are packed weights, read once a step however many rows there are, the
/// rows of tables that tokens look up, and keys and values, read once a
/// sequence, and so are those of its source. Activations are not counted: they
/// fit into caches.
struct Cost {
  double flops = 0, bytes = 0;
  /// Those of `flops` that the program does with its dot (rt::Dot).
  double dots = 0;

  friend Cost operator+(const Cost &a, const Cost &b) {
    return {a.flops + b.flops, a.bytes + b.bytes, a.dots + b.dots};
  }
};

/// The cost of an op, all layers together. The name is that of its parameter
/// without ".weight" ("decoder.layers.ffn.up"), of the sublayer for attention
/// itself ("decoder.layers.attn"), or "embeddings".
struct NamedCost {
  std::string name;
  Cost cost;
};

class CostSheet {
public:
  /// Reads the tables of a checked module, and of a program of it. Errors:
  /// Incompatible when its spec is not what a compiler of this version writes.
  static rt::Result<CostSheet> read(const tfc_module_v0 &module,
                                    const tfc_program_v0 &program);

  /// The costs of a step that computes the outputs p with wanted[p].
  std::vector<NamedCost> list(const tfc_entry_v0 &entry, const rt::Batch &batch,
                              bool isCausal,
                              const std::vector<uint8_t> &wanted) const;
  /// What matrices are kept in: "f32", "f16", "bf16", "int8" or "int4".
  const std::string &weightType() const { return storage; }
  /// What the program's products multiply with.
  rt::Dot dot() const { return unit; }
  /// Their sum.
  Cost of(const tfc_entry_v0 &entry, const rt::Batch &batch, bool isCausal,
          const std::vector<uint8_t> &wanted) const;

private:
  /// A product: its weights, a row in and a row out; of all layers.
  struct Product {
    std::string name;
    double weights = 0, bytes = 0;
    bool isEncoders = false; // of the entry "encode", else of "step"
    bool isInteger = false;  // its matrix is
    /// Of experts, how many a layer has and how many of them a row takes.
    double experts = 1, perToken = 1;
  };
  struct Head {
    std::string from;
    std::vector<Product> products;
  };
  struct Attention {
    double queryWidth = 0, cacheWidth = 0, layers = 0;
    bool isEncoders = false, isCross = false;
  };

  void readWeight(const tfc_weight_v0 &weight);
  Product makeProduct(const std::string &name,
                      const tfc_weight_v0 &weight) const;
  void readPrecision(const std::string &weights, const tfc_program_v0 &program);
  bool hasIntegers() const { return storage == "int8" || storage == "int4"; }
  Cost costOf(const Product &product, double rows) const;
  bool multipliesTiles(const tfc_entry_v0 &entry) const;
  rt::Status readSpec(const tfc_module_v0 &module,
                      const tfc_program_v0 &program);

  std::string storage = "f32";
  bool isDevice = false;
  rt::Dot unit = rt::Dot::None;
  // Of what is not kept as integers.
  double bytesPerEntry = 4;
  // Values that a token looks up, in "step" and in "encode".
  double tableWidths[2] = {0, 0};
  std::vector<Product> products;
  std::map<std::string, Attention> attention; // by sublayer
  std::map<std::string, Head> heads;
  std::map<std::string, std::string> outputHeads; // output -> head
};

} // namespace tfc::bench

#endif // TFC_RUNTIME_TOOLS_COSTSHEET_H
