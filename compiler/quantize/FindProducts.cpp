// Finds products by their ops, and folds by how ops are connected.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/quantize/FindProducts.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::quantize;
using namespace tfc::transformer;

/// Longer rows are no sums that 32 bits hold.
static constexpr int64_t kMaxColumns = 1 << 17;

namespace {

/// A product of a matrix of the layers.
struct Product {
  LinearOp op;
  WeightOp weight;
  ParameterOp parameter;
};

class Finder {
public:
  Finder(ModuleOp module, const VerifyWeights &weights)
      : module(module), symbols(module), weights(weights) {}

  rt::Result<Products> find();

private:
  void addProduct(LinearOp op);
  void addFolds(LinearOp op);
  /// What computes `factors` alone, divided instead.
  void foldNorm(LinearOp op);
  void foldValues(LinearOp op, AttentionOp attention);
  void foldUp(LinearOp op, LinearOp up);
  void addFold(Operation *site, ArrayRef<Product> readers,
               ArrayRef<WeightOp> writers, std::vector<int64_t> rowOf);

  const Product *productOf(LinearOp op) const;
  ParameterOp parameterOf(WeightOp weight) const {
    return symbols.lookup<ParameterOp>(weight.getName());
  }
  /// Whether `weight` alone uses its parameter, which has a tensor a layer.
  bool isOwn(WeightOp weight) const;

  ModuleOp module;
  SymbolTable symbols;
  const VerifyWeights &weights;
  std::vector<Product> products;
  Products found;
  llvm::StringMap<size_t> indexOf;          // of matrices, by tensor
  std::vector<llvm::SetVector<Operation *>> // of matrices: products and layer
      readersOf;
  std::vector<llvm::SetVector<int64_t>> layersOf;
  llvm::StringMap<int> uses;                 // of parameters
  llvm::DenseMap<Value, std::string> groups; // by what is multiplied
  rt::Faults faults;
  llvm::StringSet<> refused; // tensors
};

} // namespace

static WeightOp weightOf(Value value) {
  return value ? value.getDefiningOp<WeightOp>() : WeightOp();
}

/// Taps aside.
static SmallVector<OpOperand *> usesOf(Value value) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses()) {
    if (!isa<TapOp>(use.getOwner())) {
      uses.push_back(&use);
    }
  }
  return uses;
}

static std::string pathOf(Operation *op) {
  auto name = dyn_cast<NameLoc>(op->getLoc());
  return name ? name.getName().str() : op->getName().getStringRef().str();
}

/// "decoder.layers.attn.q" of "decoder.layers.2.attn.q.weight".
static std::string kindOf(ParameterOp parameter) {
  StringRef name = parameter.getSymName();
  name.consume_back(".weight");
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  llvm::erase_if(parts, [](StringRef part) {
    return llvm::all_of(part, [](char c) { return llvm::isDigit(c); });
  });
  return llvm::join(parts, ".");
}

static std::vector<int64_t> identity(int64_t count) {
  std::vector<int64_t> numbers(count);
  for (int64_t i = 0; i < count; ++i) {
    numbers[i] = i;
  }
  return numbers;
}

const Product *Finder::productOf(LinearOp op) const {
  auto own =
      llvm::find_if(products, [&](const Product &p) { return p.op == op; });
  return own == products.end() ? nullptr : &*own;
}

bool Finder::isOwn(WeightOp weight) const {
  ParameterOp parameter = parameterOf(weight);
  if (!parameter || !parameter.getSource() || !weight.getLayer() ||
      uses.lookup(weight.getName()) != 1 || !weight->hasOneUse()) {
    return false;
  }
  // Layers may share a tensor.
  llvm::SmallPtrSet<const rt::Tensor *, 8> seen;
  int64_t layers = parameter.getLayers().value_or(1);
  for (int64_t layer = 0; layer < layers; ++layer) {
    const rt::Tensor *tensor = weights.find(parameter, layer);
    if (tensor && !seen.insert(tensor).second) {
      return false;
    }
  }
  return true;
}

void Finder::addProduct(LinearOp op) {
  WeightOp weight = weightOf(op.getWeight());
  ParameterOp parameter = weight ? parameterOf(weight) : ParameterOp();
  if (!parameter || !parameter.getSource() ||
      !parameter.getSymName().contains(".layers.")) {
    return;
  }
  std::vector<size_t> &own = found.matricesOf[parameter.getSymName()];
  bool isFirst = own.empty();
  auto layers = static_cast<int64_t>(parameter.getLayers().value_or(1));
  for (int64_t layer = 0; layer < layers; ++layer) {
    const rt::Tensor *tensor = weights.find(parameter, layer);
    bool isMatrix = tensor && tensor->shape.size() == 2;
    if (!isMatrix || parameter.getSource()->getInOut() ||
        tensor->shape[1] > kMaxColumns) {
      // Parts of one tensor have one fault.
      if (tensor && !refused.insert(tensor->name).second) {
        return;
      }
      faults.add(rt::makeError(
          rt::Code::Unsupported,
          tensor ? rt::quoteName(tensor->name)
                 : parameter.getSymName().str() + " of a layer",
          ": expected a matrix stored as [out, in] with at most ", kMaxColumns,
          " columns (compressed-tensors has integers for nn.Linear alone), "
          "got ",
          !tensor                             ? "none"
          : parameter.getSource()->getInOut() ? "one stored as [in, out]"
                                              : rt::shapeText(tensor->shape)));
      return;
    }
    auto [place, isNew] =
        indexOf.try_emplace(tensor->name, found.matrices.size());
    if (isNew) {
      std::string kind = kindOf(parameter);
      std::string &group = groups[op.getInput()];
      group = group.empty() ? kind : group;
      found.matrices.push_back(
          {tensor->name, kind, group,
           parameter.getSource()->getFirstLayer() +
               layer * parameter.getSource()->getLayerStep(),
           tensor->shape[0], tensor->shape[1]});
      readersOf.emplace_back();
      layersOf.emplace_back();
    }
    readersOf[place->second].insert(op);
    layersOf[place->second].insert(layer);
    if (isFirst) {
      own.push_back(place->second);
    }
  }
  products.push_back({op, weight, parameter});
}

/// `rowOf` begins with the first row of a part.
void Finder::addFold(Operation *site, ArrayRef<Product> readers,
                     ArrayRef<WeightOp> writers, std::vector<int64_t> rowOf) {
  llvm::SetVector<Operation *> ops;
  Product first = readers.front();
  for (Product product : readers) {
    ops.insert(product.op);
    if (product.weight.getLayer() != first.weight.getLayer() ||
        !isOwn(product.weight)) {
      return;
    }
  }
  for (WeightOp writer : writers) {
    if (!isOwn(writer) || writer.getLayer() != first.weight.getLayer()) {
      return;
    }
  }
  auto layers = static_cast<int64_t>(first.parameter.getLayers().value_or(1));
  for (int64_t layer = 0; layer < layers; ++layer) {
    Fold fold;
    fold.site = pathOf(site);
    fold.layer = layer;
    fold.rowOf = rowOf;
    fold.numRows = *std::max_element(rowOf.begin(), rowOf.end()) + 1;
    bool isWhole = true;
    llvm::SetVector<size_t> matrices;
    for (Product product : readers) {
      size_t index = found.matricesOf[product.parameter.getSymName()][layer];
      matrices.insert(index);
      // Nobody else may read the tensor's columns.
      isWhole &= layersOf[index].size() == 1 &&
                 llvm::all_of(readersOf[index],
                              [&](Operation *op) { return ops.contains(op); });
    }
    for (WeightOp writer : writers) {
      ParameterOp parameter = parameterOf(writer);
      if (const rt::Tensor *tensor = weights.find(parameter, layer)) {
        fold.writers.push_back(
            {tensor->name, parameter.getSource()->getFirstRow()});
      }
    }
    if (isWhole) {
      fold.readers.assign(matrices.begin(), matrices.end());
      found.folds.push_back(std::move(fold));
    }
  }
}

/// All products that read a norm's rows, and nobody else does.
void Finder::foldNorm(LinearOp op) {
  Operation *norm = op.getInput().getDefiningOp();
  Value weight, bias;
  double offset = 0;
  if (auto layerNorm = dyn_cast_or_null<LayerNormOp>(norm)) {
    weight = layerNorm.getWeight();
    bias = layerNorm.getBias();
    offset = layerNorm.getOffset().convertToDouble();
  } else if (auto rmsNorm = dyn_cast_or_null<RmsNormOp>(norm)) {
    weight = rmsNorm.getWeight();
    offset = rmsNorm.getOffset().convertToDouble();
  }
  WeightOp scale = weightOf(weight), shift = weightOf(bias);
  // What is stored as a difference from 1 is not a factor.
  if (!scale || offset != 0 || (bias && !shift) ||
      cast<RankedTensorType>(weight.getType()).getNumElements() !=
          cast<RankedTensorType>(op.getInput().getType()).getDimSize(1)) {
    return;
  }
  SmallVector<Product> readers;
  for (OpOperand *use : llvm::reverse(usesOf(op.getInput()))) {
    auto linear = dyn_cast<LinearOp>(use->getOwner());
    const Product *product = linear ? productOf(linear) : nullptr;
    if (!product || use != &linear.getInputMutable()) {
      return;
    }
    readers.push_back(*product);
  }
  // The first reader speaks for all.
  if (readers.front().op != op) {
    return;
  }
  SmallVector<WeightOp> writers = {scale};
  if (shift) {
    writers.push_back(shift);
  }
  addFold(norm, readers, writers,
          identity(cast<RankedTensorType>(weight.getType()).getNumElements()));
}

/// Heads of a group read the same values.
void Finder::foldValues(LinearOp op, AttentionOp attention) {
  // Others may read what this one has written.
  bool isShared = false;
  attention->getParentOfType<ModuleOp>().walk(
      [&](AttentionOp other) { isShared |= !other.getValue(); });
  if (isShared) {
    return;
  }
  auto value = attention.getValue().getDefiningOp<LinearOp>();
  const Product *own = productOf(op);
  if (!value || !own || value.getFactor() || value.getResidual() ||
      value.getAct() != Activation::Identity ||
      usesOf(attention.getResult()).size() != 1 ||
      usesOf(value.getResult()).size() != 1) {
    return;
  }
  SmallVector<WeightOp> writers = {weightOf(value.getWeight())};
  if (value.getBias()) {
    writers.push_back(weightOf(value.getBias()));
  }
  if (!llvm::all_of(writers, [](WeightOp weight) { return bool(weight); })) {
    return;
  }
  CacheType cache = attention.getCache().getType();
  int64_t heads = attention.getNumHeads(), size = cache.getHeadDim();
  std::vector<int64_t> rowOf;
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t d = 0; d < size; ++d) {
      rowOf.push_back(head / (heads / cache.getKvHeads()) * size + d);
    }
  }
  addFold(attention, {*own}, writers, std::move(rowOf));
}

/// What is times the activated gate, or of which the positive part is taken,
/// comes out divided as it goes in.
void Finder::foldUp(LinearOp op, LinearOp up) {
  const Product *own = productOf(op);
  bool isLinear = up.getAct() == Activation::Identity ||
                  (up.getAct() == Activation::Relu && !up.getFactor());
  if (!own || !isLinear || up.getResidual() ||
      usesOf(up.getResult()).size() != 1) {
    return;
  }
  SmallVector<WeightOp> writers = {weightOf(up.getWeight())};
  if (up.getBias()) {
    writers.push_back(weightOf(up.getBias()));
  }
  if (llvm::all_of(writers, [](WeightOp weight) { return bool(weight); })) {
    addFold(up, {*own}, writers,
            identity(
                cast<RankedTensorType>(op.getInput().getType()).getDimSize(1)));
  }
}

void Finder::addFolds(LinearOp op) {
  Operation *producer = op.getInput().getDefiningOp();
  if (auto attention = dyn_cast_or_null<AttentionOp>(producer)) {
    foldValues(op, attention);
  } else if (auto up = dyn_cast_or_null<LinearOp>(producer)) {
    foldUp(op, up);
  } else if (producer) {
    foldNorm(op);
  }
}

rt::Result<Products> Finder::find() {
  SmallVector<LinearOp> linears;
  module.walk([&](Operation *op) {
    if (auto weight = dyn_cast<WeightOp>(op)) {
      ++uses[weight.getName()];
    } else if (auto linear = dyn_cast<LinearOp>(op)) {
      linears.push_back(linear);
    }
  });
  llvm::for_each(linears, [&](LinearOp op) { addProduct(op); });
  if (faults.any()) {
    return std::move(faults.take().error());
  }
  if (products.empty()) {
    return rt::makeError(rt::Code::Unsupported,
                         "expected products in the model's layers, got none");
  }
  for (const Product &product : std::vector<Product>(products)) {
    addFolds(product.op);
  }
  module.walk([&](EmbeddingOp op) {
    WeightOp table = weightOf(op.getTable());
    ParameterOp parameter = table ? parameterOf(table) : ParameterOp();
    if (parameter && parameter.getSource()) {
      if (const rt::Tensor *tensor = weights.find(parameter, 0)) {
        found.tables.insert(tensor->name);
      }
    }
  });
  return std::move(found);
}

rt::Result<Products> tfc::quantize::findProducts(ModuleOp module,
                                                 const VerifyWeights &weights) {
  return Finder(module, weights).find();
}

void tfc::quantize::tapProducts(ModuleOp module, const Products &products) {
  SmallVector<LinearOp> linears;
  module.walk([&](LinearOp op) { linears.push_back(op); });
  for (LinearOp op : linears) {
    WeightOp weight = weightOf(op.getWeight());
    if (weight && products.matricesOf.count(weight.getName())) {
      OpBuilder b(op);
      TapOp::create(b, op.getLoc(), weight.getName().str(), op.getInput(),
                    weight.getLayer());
    }
  }
}
