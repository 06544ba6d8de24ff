// Passes from tensors to the LLVM dialect on a CPU.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_PASSES
#define TFC_COMPILER_CPU_PASSES

include "mlir/Pass/PassBase.td"

def ExpandCpuKernelsPass : Pass<"tfc-expand-cpu-kernels", "::mlir::ModuleOp"> {
  let summary = "expand the structured ops, on buffers, into loops";
  let description = [{
    `paged_attention` and `cache_write` become parallel loops over the step's
    work items, `weight` a view of the packed weights, `tap` a call of the
    host. Entries get arguments for what the host lends, marked by attributes:
    the step (`transformer.step`), the packed weights (`transformer.weights`)
    and the number of workers (`transformer.workers`); those for batch and
    cache, which both live in the step, go. The layout of the cache's blocks is
    written to the entry as `transformer.cache`.

    Afterwards only `parameter` and `worker` are left of the dialect.

    Option `kernels=scalar` is the plain expansion of `--opt=none`: one query
    at a time, keys and values as rows. `kernels=vector` computes in vectors of
    `lanes` floats: tiles of 1, 2, 4 or 8 queries of a head, whose sums stay in
    registers, against keys that lie by groups of 16 positions. The bits of a
    query's result depend on the query and what it sees alone, and are the same
    for 16 lanes and for 8.
  }];
  let options = [Option<"kernels", "kernels", "std::string", "\"scalar\"",
                        "which kernels: scalar or vector">,
                 Option<"lanes", "lanes", "int64_t", "16",
                        "floats in a vector register: 16 or 8">];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
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
    size of the angle. `polynomials=own` takes ours, and expands rsqrt too:

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
}

def VectorizePass : Pass<"tfc-vectorize", "::mlir::func::FuncOp"> {
  let summary = "static tiles become vectors of the same shape";
  let description = [{
    Every linalg op of static shape becomes vector code on whole tiles:

    ```mlir
    %sums = scf.for %k = %c0 to %c768 step %c4 iter_args(%acc = %zero)
        -> (vector<8x48xf32>) {
      %x = vector.transfer_read %rows[%i, %k] {permutation_map = (d0, 0)} ...
      %w = vector.transfer_read %panel[%p, %k, %c0] {permutation_map = (0, d2)} ...
      %next = math.fma %x, %w, %acc : vector<8x48xf32>
      ...
    ```

    The accumulators of loops that `tfc-tile-and-fuse` marked as reductions
    leave the loop's memory for its iter_args, multiplications and additions
    become one fma in every case alike, and the loop's body is repeated `unroll`
    times, or less often where tiles of many rows would be more than `turn-rows`
    rows together. What the registers of a machine hold is for
    `tfc-split-tiles` to say, after bufferization: until then a tile is
    one op.

    Ops of dynamic shape are left alone.
  }];
  let options = [
    Option<"unroll", "unroll", "int64_t", "4",
           "repetitions of a reduction's body, at most">,
    Option<"turnRows", "turn-rows", "int64_t", "32",
           "rows of the tiles of all repetitions, at most">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::ub::UBDialect",
                           "::mlir::vector::VectorDialect"];
}

def BlockReductionsPass
    : Pass<"tfc-block-reductions", "::mlir::func::FuncOp"> {
  let summary = "long products go over an item's tiles in blocks of steps";
  let description = [{
    Runs after bufferization, while a tile is one vector. Every tile of an item
    reads the same panel of weights, from the second-level cache if that holds
    it. If it is more than `block-bytes`, the loop over the steps is cut into
    equal blocks, each of which goes over all full tiles before the next one
    begins; what the tiles have summed up waits in a worker's scratch memory of
    `block` rows. Every sum has the same terms in the same order as before.

    ```mlir
    scf.for %first = %c0 to %c3072 step %c1024 {
      scf.for %r = %c0 to %rows step %c8 {
        %init = zero in the first block, else %sums[%worker, %r, 0]
        %sum = scf.for %k = %first to %first + 1024 iter_args(%acc = %init)
        in the last block the epilogue, else %sums[%worker, %r, 0] = %sum
    ```

    Rows that are left after the full tiles have one loop over all steps: they
    are one tile. The function has an argument for the number of workers
    (`tfc-expand-cpu-kernels`); one without is left alone.
  }];
  let options = [
    Option<"blockBytes", "block-bytes", "int64_t", "786432",
           "what the steps of a block read for all tiles, at most">,
    Option<"block", "block", "int64_t", "64", "rows of an item, at most">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::tfc::transformer::TransformerDialect"];
}

def PrefetchPanelsPass
    : Pass<"tfc-prefetch-panels", "::mlir::func::FuncOp"> {
  let summary = "products ask ahead of time for weights and what is added";
  let description = [{
    Runs after bufferization, while a tile is one vector. Where a loop's step
    reads one row of a buffer for a tile of at least `rows` rows, that is, a
    product its panel, it also asks for weights of later, which come into the
    second-level cache. Panels follow each other in memory.

    A product of many rows goes over a panel once a tile, and only the first
    time waits for memory, longer than it computes. So the full tiles of an item
    of `block` rows ask for the next panel, each for a part of it, and find
    their own in the cache. An item of fewer rows may not have got all of its
    panel: its tiles ask for the row `distance` steps ahead, and also for twice
    that part of the next panel, from the second tile on. That is a loop of its
    own, chosen when it runs. Where `tfc-block-reductions` cut a panel, this is
    the next block.

    ```mlir
    scf.for %r = %c0 to %rows step %c8 {
      %whole = arith.cmpi sge, %rows, %c64
      scf.if %whole -> vector<8x48xf32> { loop over k; next panel }
      else { loop over k; %k + distance, next panel }
    }
    ```

    Tiles of fewer rows, and tiles of panels of more than `next-bytes`, of which
    the cache does not hold two, ask `distance` steps ahead only. A tile of one
    row is at the speed of memory without.

    What is read once the product is there, such as the residual's rows, is
    asked for in the loop's last steps, a row every 16. They are a loop of their
    own: the others have nothing more to do.

    ```mlir
    %sums = loop over %k from 0 to 640
    %tile = memref.subview %residual[%r, %column] [8, 48] [1, 1]
    loop over %k from 640 to 768, from %sums {
      %row = arith.divui (%k - 640), 16
      memref.prefetch %tile[%row, 0]; memref.prefetch %tile[%row, 16] ...
    }
    ```
  }];
  let options = [
    Option<"distance", "distance", "int64_t", "64", "steps ahead">,
    Option<"rows", "rows", "int64_t", "2", "the fewest rows of a tile">,
    Option<"block", "block", "int64_t", "64", "rows of a whole item">,
    Option<"nextBytes", "next-bytes", "int64_t", "786432",
           "the largest block that is asked for while the one before is used">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
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
