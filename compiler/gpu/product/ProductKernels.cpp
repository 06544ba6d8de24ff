// Skinny ones for the steps of generation, tiled ones for everything else.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/product/ProductKernels.h"

#include "compiler/gpu/product/ExpertTile.h"
#include "compiler/gpu/product/FloatProduct.h"
#include "compiler/gpu/product/SkinnyProduct.h"
#include "compiler/gpu/product/TiledProduct.h"
#include "compiler/gpu/product/WarpgroupProduct.h"
#include "compiler/gpu/product/WidenedWarpgroups.h"
#include "compiler/gpu/thread/KernelModule.h"
#include "compiler/support/DeviceKernels.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tfc;

/// More tokens are more registers: fewer operands are asked for at once.
static constexpr SkinnyProduct kSkinny[] = {
    {1, 1, 4}, {1, 2, 4}, {2, 4, 2}, {2, 8, 1}};

/// With a gate a block has rows of both.
static constexpr SkinnyProduct kGated[] = {
    {2, 1, 4}, {2, 2, 2}, {2, 4, 2}, {2, 8, 1}};

/// A round of integers has twice the tokens' operands.
static constexpr SkinnyProduct kWidened[] = {
    {1, 1, 4}, {1, 2, 2}, {2, 4, 1}, {2, 8, 1}};
static constexpr SkinnyProduct kWidenedGated[] = {
    {2, 1, 2}, {2, 2, 1}, {2, 4, 1}, {2, 8, 1}};

/// Small tiles where large ones would leave a device idle.
static constexpr TiledProduct kTiled[] = {{64}, {128}};

/// The same by warpgroups. Where sums are short, a block's beginning and end
/// are a good part of its time, and two blocks of half the stages find room on
/// a multiprocessor, one of which multiplies meanwhile.
static constexpr WarpgroupProduct kWarpgroups[] = {
    {1, 64, 7},
    {1, 128, 8},
    {2, 128, 6},
    {2, 128, 3, /*waitsAtOnce=*/true, /*mostDepth=*/2048},
    {2, 256, 4}};

/// Of integers.
static constexpr WidenedWarpgroups kWidenedWarpgroups[] = {{1, 6}, {2, 6}};

/// Of f32: tiles of 16 x 64, 64 x 64 and 128 x 128. The first are for
/// generation, the others for prompts.
static constexpr FloatProduct kFloat[] = {
    {1, 4, 4, 2}, {2, 2, 8, 4}, {4, 2, 8, 8}};

static ArrayRef<SkinnyProduct> listSkinny(const ProductForm &form) {
  if (form.isWidened()) {
    return form.gate ? kWidenedGated : kWidened;
  }
  return form.gate ? kGated : kSkinny;
}

static SmallVector<Type> listParameters(const ProductForm &form) {
  MLIRContext *context = form.element.getContext();
  size_t groups = (form.group ? 1 : 0) + (form.hasZeros ? 1 : 0);
  size_t pointers = 3 + form.columns.size() + form.rows.size() + groups +
                    (form.gate ? 1 + form.gateColumns.size() + groups : 0) +
                    (form.ofExperts ? 1 : 0);
  size_t numbers = 5 + form.rows.size() + (form.ofExperts ? 1 : 0);
  SmallVector<Type> types(pointers, LLVM::LLVMPointerType::get(context));
  types.append(numbers, IntegerType::get(context, 32));
  return types;
}

/// Operands as those of a product of the tile's rows and its expert's matrix.
static ProductOperands cutExpert(ThreadBuilder &t, const ProductForm &form,
                                 const ProductOperands &all,
                                 const ExpertTile &tile) {
  ProductOperands own = all;
  Value zero = t.number(0);
  auto advance = [&](Value &base, Type element, Value number, Value stride) {
    base = t.element(base, element, number, stride, zero);
  };
  auto advanceAll = [&](MutableArrayRef<Value> bases, ArrayRef<Type> elements) {
    for (auto [base, element] : llvm::zip_equal(bases, elements)) {
      advance(base, element, tile.expert, all.width);
    }
  };
  Value elements = t.multiply(all.width, all.depth);
  advance(own.weights, form.element, tile.expert, elements);
  advanceAll(own.columns, form.columns);
  if (form.gate) {
    advance(own.gateWeights, form.element, tile.expert, elements);
    advanceAll(own.gateColumns, form.gateColumns);
  }
  advance(own.input, form.element, tile.firstRow, all.inputStride);
  advance(own.result, form.result, tile.firstRow, all.resultStride);
  for (auto [base, element, stride] :
       llvm::zip_equal(own.rows, form.rows, all.rowStrides)) {
    advance(base, element, tile.firstRow, stride);
  }
  own.tokens = tile.rows;
  return own;
}

/// A function of a form's parameters for tiles of `rows`, its code by `emit`.
static gpu::GPUFuncOp buildFunction(
    gpu::GPUModuleOp kernels, const ProductForm &form, const Twine &name,
    int32_t rows, int32_t threads, int32_t sharedBytes,
    function_ref<void(ThreadBuilder &, const ProductOperands &, Value)> emit) {
  transformer::ProductOp op = form.op;
  ImplicitLocOpBuilder b(op.getLoc(), op.getContext());
  gpu::GPUFuncOp function = createKernel(
      b, kernels, name.str(), listParameters(form), threads, sharedBytes);
  b.setInsertionPointToStart(&function.getBody().front());
  ThreadBuilder t(b);
  SmallVector<Value> values;
  for (Value argument : function.getArguments()) {
    bool isAddress = isa<LLVM::LLVMPointerType>(argument.getType());
    values.push_back(isAddress ? t.global(argument) : argument);
  }
  ProductOperands operands = ProductOperands::take(form, values);
  Value shared = findSharedMemory(b, kernels);
  if (form.ofExperts) {
    ExpertList list = {operands.experts, operands.tokens, operands.numExperts};
    forExpertTile(t, list, rows, [&](const ExpertTile &tile) {
      emit(t, cutExpert(t, form, operands, tile), shared);
    });
  } else {
    emit(t, operands, shared);
  }
  gpu::ReturnOp::create(b);
  return function;
}

std::string ProductKernels::nameOf(const ProductForm &form, int64_t rows,
                                   int64_t columns) const {
  std::string name;
  llvm::raw_string_ostream stream(name);
  stream << "product_" << rows << 'x' << columns << '_' << form.element << '_';
  if (form.isWidened()) {
    stream << "int" << form.weightBits << '_';
  }
  if (form.ofExperts) {
    stream << "experts_";
  }
  stream << known.size();
  return name;
}

ProductKernel ProductKernels::buildSkinny(const ProductForm &form,
                                          const SkinnyProduct &tile) {
  gpu::GPUFuncOp function = buildFunction(
      kernels, form, nameOf(form, tile.tokens(), tile.resultColumns(form)),
      tile.tokens(), tile.threads(), tile.sharedBytes(),
      [&](ThreadBuilder &t, const ProductOperands &operands, Value shared) {
        if (options.doOverlap) {
          tile.prefetch(t, form, operands);
        }
        tile.build(t, form, operands, shared);
      });
  return {function, tile.isStriped ? 0 : tile.tokens(), tile.tokens(),
          tile.resultColumns(form), tile.threads()};
}

/// The most steps of k of what a tile is for, where it is for some alone.
static int64_t mostDepthOf(const WarpgroupProduct &tile) {
  return tile.mostDepth;
}
template <typename Tile> static int64_t mostDepthOf(const Tile &) { return 0; }

/// From the smallest tile to the largest: each is for products that would be
/// few blocks of the next one, but for the last one and those for short sums.
template <typename Tile>
void ProductKernels::buildTiles(const ProductForm &form, ArrayRef<Tile> tiles,
                                SmallVectorImpl<ProductKernel> &built) {
  for (const Tile &tile : tiles) {
    int64_t columns = tile.resultColumns(form), depth = mostDepthOf(tile);
    std::string name = nameOf(form, tile.rows(), columns);
    gpu::GPUFuncOp function = buildFunction(
        kernels, form, depth ? name + "_short" : name, tile.rows(),
        tile.threads(), tile.sharedBytes(form),
        [&](ThreadBuilder &t, const ProductOperands &operands, Value shared) {
          tile.build(t, form, operands, shared);
        });
    // They run for long.
    function->setAttr(kBeginsAloneAttrName,
                      UnitAttr::get(function.getContext()));
    built.push_back({function, 0, tile.rows(), columns, tile.threads(),
                     /*isForFewBlocks=*/&tile != &tiles.back() && depth == 0,
                     depth});
  }
}

SmallVector<ProductKernel> ProductKernels::build(const ProductForm &form) {
  SmallVector<ProductKernel> built;
  if (form.isFloat()) {
    buildTiles<FloatProduct>(form, kFloat, built);
    return built;
  }
  // Some experts have many rows where most have few, and would be read again
  // and again; tiles read them once, and are as fast with one row.
  ArrayRef<SkinnyProduct> few =
      form.ofExperts ? ArrayRef<SkinnyProduct>() : listSkinny(form);
  bool hasOneOrder = options.hasOneOrder && !few.empty();
  for (const SkinnyProduct &tile : hasOneOrder ? few.drop_back() : few) {
    built.push_back(buildSkinny(form, tile));
  }
  if (hasOneOrder) {
    SkinnyProduct last = few.back();
    last.isStriped = true;
    built.push_back(buildSkinny(form, last));
  } else if (options.hasWarpgroups && form.isWidened()) {
    buildTiles<WidenedWarpgroups>(form, kWidenedWarpgroups, built);
  } else if (options.hasWarpgroups) {
    buildTiles<WarpgroupProduct>(form, kWarpgroups, built);
  } else {
    buildTiles<TiledProduct>(form, kTiled, built);
  }
  return built;
}

ArrayRef<ProductKernel> ProductKernels::find(const ProductForm &form) {
  std::string key = form.key();
  auto found = known.find(key);
  if (found == known.end()) {
    SmallVector<ProductKernel> built = build(form);
    found = known.emplace(std::move(key), std::move(built)).first;
  }
  return found->second;
}
