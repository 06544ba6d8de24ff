// Passes from tensors to the LLVM dialect on a CPU.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_PASSES
#define TFC_COMPILER_CPU_PASSES

include "mlir/Pass/PassBase.td"

def ExpandCpuKernelsPass : Pass<"tfc-expand-cpu-kernels", "::mlir::ModuleOp"> {
  let summary = "attention and the cache, on buffers, become loops";
  let description = [{
    `paged_attention` and `cache_write` become parallel loops over the step's
    work items, `product` one over panels and rows, `ragged_conv` and
    `ragged_recurrence` one over sequences and columns. The arguments for batch,
    cache and states, which live in the step, go. The layout of the cache's blocks is
    written to the entry as `transformer.cache`, that of a cross cache as
    `transformer.cross_cache`, that of states as `transformer.state`; an entry
    with another cache of one of these is an error.

    Runs after `tfc-bind-weights`, which adds the arguments for the step and the
    number of workers, and `tfc-call-taps`. Afterwards only `parameter` and
    `worker` are left of the dialect.

    Option `kernels=scalar` is the plain expansion of `--opt=none`: one query
    at a time, keys and values as rows. `kernels=vector` computes in vectors of
    `lanes` floats: tiles of 1, 2, 4 or 8 queries of a head, whose sums stay in
    registers, against keys that lie by groups of 16 positions. The bits of a
    query's result depend on the query and what it sees alone, and are the same
    for 16 lanes and for 8.

    A `product` follows its `#transformer.product_tile`, with either option. Its
    inner loops are functions that all products of the module share, one for
    each number of rows and what it asks for ahead of time:

    ```mlir
    func.func private @product.8x48_next6(row, bytes of a row, last row, panel,
                                          steps, sums, is first, next panel)
    ```

    A tile of fewer rows repeats the last one. The tiles of an item read the same
    panel one after the other, in blocks of steps if it has more than
    `block_bytes`; an item that has all its rows asks for the next panel
    meanwhile, a part a tile, one of fewer rows `ahead` steps ahead in its own
    as well. Of a panel of 16 bits the first of more than two tiles leaves f32 in
    the worker's memory (`_keep`), which the others read. The sums begin at zero and go through k in order. Behind the last
    block the product's body follows, a row at a time, as narrow as the last
    panel is.

    Option `dots=amx` computes the tiles of products of the kind `dot`, those of
    four bits aside, in registers of AMX: an item's tiles are one call, whose
    tiles of 32 rows, and of 16 or fewer behind them, begin at zero and take 16
    words of k a turn. The words behind the last whole turn, and products of
    bytes with at most 8 rows, are tiles of vectors as with `dots=vector`.

    ```mlir
    func.func private @product.32x48_amx_bf16_next(first row, bytes of a row,
                                                   rows, panel, turns, sums)
    ```
  }];
  let options = [Option<"kernels", "kernels", "std::string", "\"scalar\"",
                        "which kernels: scalar or vector">,
                 Option<"lanes", "lanes", "int64_t", "16",
                        "floats in a vector register: 16 or 8">,
                 Option<"dots", "dots", "std::string", "\"vector\"",
                        "what has the sums of dots: vector or amx">];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"numExpanded", "num-expanded", "structured ops expanded">];
}

def ExpandMathPass : Pass<"tfc-expand-math"> {
  let summary = "exp, tanh, erf, sin and cos become arithmetic";
  let description = [{
    The library imports nothing, so no function of libm is left: in f32, exp,
    tanh, erf, sin and cos become arithmetic, on scalars and vectors alike. Afterwards of
    the math dialect only ops with an instruction of their own are left (sqrt,
    fma, abs, ...).

    Option `polynomials=upstream` takes MLIR's approximations, which
    `--opt=none` keeps; but for sin and cos, where they lose digits with the
    size of the angle. `polynomials=own` takes ours, and expands rsqrt and
    rounding to bf16, too, which machines do in more ways than one (those with
    AVX512_BF16 take small numbers for zeros):

    ```mlir
    %y = math.rsqrt %x : vector<16xf32>
    // becomes
    %root = math.sqrt %x : vector<16xf32>
    %y = arith.divf %ones, %root : vector<16xf32>
    ```

    Their multiplications and additions are explicit `math.fma`, so that a lane
    has the same bits in every vector and on every instruction set with fused
    multiply-add. Largest errors over all floats, in units in the last place:
    exp 0.9 (below 2^-125.5 the result is 0), tanh and erf 4.7, rsqrt 1.5;
    sin and cos 1.6 for angles up to 2^17.
  }];
  let options = [Option<"polynomials", "polynomials", "::tfc::Polynomials",
                        "::tfc::Polynomials::Upstream",
                        "whose approximations of the functions", [{
    ::llvm::cl::values(
        clEnumValN(::tfc::Polynomials::Upstream, "upstream", "MLIR's"),
        clEnumValN(::tfc::Polynomials::Own, "own",
                   "faster, of stated accuracy"))}]>];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"numFunctions", "num-functions", "functions that became arithmetic">];
}

def VectorizePass : Pass<"tfc-vectorize", "::mlir::func::FuncOp"> {
  let summary = "static tiles become vectors of the same shape";
  let description = [{
    Every linalg op of static shape becomes vector code on whole tiles:

    ```mlir
    %sums = scf.for %k = %c0 to %c768 step %c64 iter_args(%acc = %zero)
        -> (vector<1x64xf32>) {
      %x = vector.transfer_read %rows[%i, %k] ... : vector<1x64xf32>
      %next = arith.addf %acc, %x : vector<1x64xf32>
      ...
    ```

    The accumulators of loops that `tfc-tile-and-fuse` marked as reductions
    leave the loop's memory for its iter_args, multiplications and additions
    become one fma in every case alike, and the loop's body is repeated `unroll`
    times. What the registers of a machine hold is for
    `tfc-split-tiles` to say, after bufferization: until then a tile is
    one op.

    Ops of dynamic shape are left alone.
  }];
  let options = [
    Option<"unroll", "unroll", "int64_t", "4",
           "repetitions of a reduction's body, at most">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::ub::UBDialect",
                           "::mlir::vector::VectorDialect"];
}

def SplitTilesPass
    : Pass<"tfc-split-tiles", "::mlir::func::FuncOp"> {
  let summary = "tiles become vectors of one row by lanes";
  let description = [{
    Runs after bufferization. A vector of any shape becomes as many vectors of
    `lanes` as it takes, row by row, and a shorter one at the end of each row:
    `vector<8x48xf32>` 24 of 16 floats, `vector<2x20xf32>` 2 of 16 and 2 of 4.
    Ops that work element by element are repeated, loops carry all parts.
    Transfers become loads and stores at plain addresses, through views of
    views; what a tile repeats is loaded once, and a float that a row repeats is
    a scalar load. Chains that end in a store are put before it, depth first.
    The reduction of a tile adds parts, then halves of what is left, each an op
    of its own: the order is the IR's, whatever the back end would like.

    An op on a tile that does none of this is an error.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "16",
                        "floats of a vector register">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // TFC_COMPILER_CPU_PASSES
