// Passes that give the structured ops and the functions of math to any target.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_PASSES
#define TFC_COMPILER_KERNEL_PASSES

include "mlir/Pass/PassBase.td"

def ExpandScalarKernelsPass
    : Pass<"tfc-expand-scalar-kernels", "::mlir::ModuleOp"> {
  let summary = "structured ops on buffers become loops over numbers";
  let description = [{
    `paged_attention`, `paged_latent` and `cache_write` become parallel loops
    over the step's work items, `ragged_unfold`, `ragged_conv` and
    `ragged_recurrence` over sequences and columns, `choose_experts` and
    `ragged_pool` over rows. The
    arguments for batch, cache and states, which live in the step, go. The layout
    of the cache's blocks is written to the entry as `transformer.cache`, that of
    a cross cache as `transformer.cross_cache`, that of states as
    `transformer.state`; an entry with another cache of one of these is an error.

    It is the plain expansion: one query at a time, keys and values as rows. Of
    any target with `--opt=none`, and of devices for what they have no kernels
    of.

    Runs after `tfc-bind-weights`, which adds the arguments for the step and the
    number of workers, and `tfc-call-taps`. Afterwards only `parameter`, `worker`
    and products are left of the dialect.
  }];
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
    multiply-add. With `rounding=false` roundings stay, for devices, which have
    one way. Largest errors over all floats, in units in the last place:
    exp 0.9 (below 2^-125.5 the result is 0), tanh and erf 4.7, rsqrt 1.5;
    sin and cos 1.6 for angles up to 2^17.
  }];
  let options = [Option<"polynomials", "polynomials", "::tfc::Polynomials",
                        "::tfc::Polynomials::Upstream",
                        "whose approximations of the functions", [{
    ::llvm::cl::values(
        clEnumValN(::tfc::Polynomials::Upstream, "upstream", "MLIR's"),
        clEnumValN(::tfc::Polynomials::Own, "own",
                   "faster, of stated accuracy"))}]>,
                 Option<"rounding", "rounding", "bool", "true",
                        "roundings to bf16, too, with `own`">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"numFunctions", "num-functions", "functions that became arithmetic">];
}

#endif // TFC_COMPILER_KERNEL_PASSES
