// Passes from transformer to transformer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_FUSION_PASSES
#define TFC_COMPILER_FUSION_PASSES

include "mlir/Pass/PassBase.td"

def OutlineLayersPass : Pass<"tfc-outline-layers", "::mlir::ModuleOp"> {
  let summary = "loops over layers, where there are many, become functions";
  let description = [{
    A loop over the layers of an entry becomes a private function, which the
    entry calls, where the entry has several loops: its layers are of several
    structures. So no pass sees a function that grows with their number, and
    each has a name in profiles.

    ```mlir
    %y = scf.for %i = %c0 to %c1 step %c1 iter_args(%h = %x) -> (tensor<?x8xf32>) { ... }
    // becomes
    %y = call @step.decoder.layers.3(%x, %batch, %cache) : ...

    func.func private @step.decoder.layers.3(
        %x: tensor<?x8xf32> {transformer.tokens}, %batch: !transformer.batch,
        %cache: !transformer.cache<...>) -> tensor<?x8xf32>
        attributes {transformer.layers_of = @step} {
      %y = scf.for ...
      return %y
    }
    ```

    The arguments for what the loop carries come first: `tfc-lower-to-linalg`
    computes results in their place. Entries with one loop stay as they are, as
    does @prepare, and so does rounding.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let statistics = [
    Statistic<"numFunctions", "num-functions", "functions made of loops">];
}

def PrepareWeightsPass : Pass<"tfc-prepare-weights", "::mlir::ModuleOp"> {
  let summary = "what layers compute of weights alone is computed once";
  let description = [{
    A value of a layer that depends on weights, constants and the layer's number
    alone, has a product in it and is read by something that does not, is
    computed in an entry of its own, @prepare, which the host runs once over the
    packed weights, and is a weight to the step. So are the tables of an
    attention's terms of distances.

    ```mlir
    scf.for %i = %c0 to %c12 step %c1 ... {
      %r = transformer.weight @encoder.relative.weight : tensor<64x104xf32>
      %w = transformer.weight @encoder.layers.attn.k.weight[%i] : tensor<104x104xf32>
      %a = transformer.linear %r, %w : tensor<64x104xf32>, tensor<104x104xf32>
      %y = transformer.attention %q, ... relative_keys %a ...
    // becomes, with
    transformer.parameter @encoder.layers.attn.relative_k : tensor<64x104xf32>
      layers 12 prepared
    scf.for %i = %c0 to %c12 step %c1 ... {
      %a = transformer.weight @encoder.layers.attn.relative_k[%i] : tensor<64x104xf32>
      %y = transformer.attention %q, ... relative_keys %a ...

    func.func @prepare(%rows: tensor<?xi32> {transformer.rows},
                       %batch: !transformer.batch)
        attributes {transformer.prepare} {
      scf.for %i = %c0 to %c12 step %c1 {
        %r = transformer.weight @encoder.relative.weight : tensor<64x104xf32>
        %w = transformer.weight @encoder.layers.attn.k.weight[%i] : tensor<104x104xf32>
        %a = transformer.linear %r, %w : tensor<64x104xf32>, tensor<104x104xf32>
        transformer.keep %a, @encoder.layers.attn.relative_k[%i] : tensor<64x104xf32>
      }
      return
    }
    ```

    The first pass, where loops over layers are still in their entries. Kept is
    f32, as declared, whatever matrices are kept in. Rounding does not change: a
    row of a product has the same bits in any step.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::scf::SCFDialect", "::tfc::transformer::TransformerDialect"];
  let statistics = [
    Statistic<"numPrepared", "num-prepared", "values that became weights">];
}

def SplitRanksPass : Pass<"tfc-split-ranks", "::mlir::ModuleOp"> {
  let summary = "a model becomes what one of several ranks computes of it";
  let description = [{
    In layers, a product whose result nobody reads whole has some rows of its
    matrix at each rank, and so the rank some columns of the result; what is
    computed from columns of the same rank (`SharedColumnsOpInterface`: heads of
    an attention, an activation) is computed of those alone; a product that reads
    them has the same columns of its matrix, and its result is a part of a sum,
    which `transformer.all_reduce` adds up. Everything else every rank computes
    (Shoeybi et al. 2019, arXiv:1909.08053).

    ```mlir
    %h = transformer.linear %x, %up bias %a act relu
           : tensor<?x8xf32>, tensor<32x8xf32>, tensor<32xf32>
    %y = transformer.linear %h, %down bias %b
           : tensor<?x32xf32>, tensor<8x32xf32>, tensor<8xf32>
    // becomes, of 2 ranks
    %h = transformer.linear %x, %up bias %a act relu
           : tensor<?x8xf32>, tensor<16x8xf32>, tensor<16xf32>
    %p = transformer.linear %h, %down bias %b
           : tensor<?x16xf32>, tensor<8x16xf32>, tensor<8xf32>
    %y = transformer.all_reduce %p : tensor<?x8xf32>
    ```

    The program is the same for all ranks: which part of a parameter is whose,
    its source says (`#transformer.share`). A bias behind a sum is rank 0's, and
    of the others zeros. Heads of keys and values that are fewer than the ranks
    are each of several. A matrix of a layer that every rank would have to have
    whole is an error, as is a number of columns that is no multiple of the
    ranks. The first pass, over ops that `tfc-decompose-ffn` has left.

    A sum has another order than in one rank: rounding changes.
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", "1", "how many ranks share the model">];
  let dependentDialects = ["::tfc::transformer::TransformerDialect"];
  let statistics = [
    Statistic<"numSums", "num-sums", "products whose results are added up">];
}

def DecomposeFfnPass : Pass<"tfc-decompose-ffn"> {
  let summary = "feed-forward blocks become the products they are made of";
  let description = [{
    `transformer.linear` is the one product that later passes know.

    ```mlir
    %y = transformer.ffn %x up %u down %d gate %g act silu : ...
    // becomes
    %a = transformer.linear %x, %g act silu : ...
    %h = transformer.linear %x, %u factor %a : ...
    %y = transformer.linear %h, %d : ...
    ```

    The products are located at the block's path and their part of it
    (`decoder.layers.ffn.up`). Rounding does not change: what the block is
    rounded to, its last product is.
  }];
  let dependentDialects = ["::tfc::transformer::TransformerDialect"];
  let statistics = [
    Statistic<"numDecomposed", "num-decomposed", "blocks replaced">];
}

def DecomposeExpertsPass : Pass<"tfc-decompose-experts"> {
  let summary = "mixtures of experts become products of rows sorted by expert";
  let description = [{
    The rows of an expert are put next to each other, so that a product meets
    its matrix once, and each row the matrices of its experts alone.

    ```mlir
    %y = transformer.experts %x, %ids, %w up %u down %d gate %g act silu : ...
    // becomes
    %rows, %own, %places = transformer.group_by %ids of 8 : ...
    %s = transformer.gather_rows %x, %rows : ...
    %a = transformer.expert_linear %s of %own, %g act silu : ...
    %h = transformer.expert_linear %s of %own, %u factor %a : ...
    %f = transformer.expert_linear %h of %own, %d : ...
    %y = transformer.combine %f, %places, %w : ...
    ```

    The products are located at the mixture's path and their part of it
    (`decoder.layers.moe.up`). Rounding does not change: what the mixture is
    rounded to, its sum is.
  }];
  let dependentDialects = ["::tfc::transformer::TransformerDialect"];
  let statistics = [
    Statistic<"numDecomposed", "num-decomposed", "mixtures replaced">];
}

def FuseEpiloguesPass : Pass<"tfc-fuse-epilogues"> {
  let summary = "activations and residuals join the product before them";
  let description = [{
    An activation or an addition that is the only user of a product becomes part
    of it, to be done while the product's tile is in registers:

    ```mlir
    %p = transformer.linear %x, %w bias %b : ...
    %y = transformer.add %r, %p : ...
    // becomes
    %y = transformer.linear %x, %w bias %b residual %r : ...
    ```

    `transformer.linear` takes one activation and then one residual. Afterwards the product has the location of
    the op that it absorbed. Rounding does not change: a product of 16 bits is
    rounded before others read it, and absorbs nothing.
  }];
  let dependentDialects = ["::tfc::transformer::TransformerDialect"];
  let statistics = [
    Statistic<"numActivations", "num-activations", "activations absorbed">,
    Statistic<"numResiduals", "num-residuals", "additions absorbed">];
}

def ChoosePrecisionPass : Pass<"tfc-choose-precision", "::mlir::ModuleOp"> {
  let summary = "decide what matrices, and values between ops, are kept in";
  let description = [{
    Writes the element type on parameters and on their uses: that of `weights`
    where all that read a matrix widen it (a product, a look-up), f32 elsewhere:
    vectors, and tables whose elements go into arithmetic as they are. What is
    computed, and so every result, stays as it is. The last pass of its stage:
    those before know f32 only.

    ```mlir
    transformer.parameter @w : tensor<150x104xf32> from <["w"], stored_rows = 150>
    %w = transformer.weight @w : tensor<150x104xf32>
    // becomes, with weights=bf16
    transformer.parameter @w : tensor<150x104xbf16> from <["w"], stored_rows = 150>
    %w = transformer.weight @w : tensor<150x104xbf16>
    ```

    With `rounds` a stored element that the type does not hold is rounded to the
    nearest (even) one when weights are loaded; without it is an error then.

    With `values` of 16 bits, what ops compute and what loops carry from trip to
    trip is of that type, and caches keep keys and values so. It is the ops that
    round: inside of one, sums, statistics and epilogues are f32. Outputs are
    f32, and so is what is made of positions alone.

    ```mlir
    %y = transformer.rms_norm %x, %w {eps = 1.0e-6 : f64}
      : tensor<?x104xf32>, tensor<104xf32>
    // becomes, with values=bf16
    %y = transformer.rms_norm %x, %w {eps = 1.0e-6 : f64}
      : tensor<?x104xbf16>, tensor<104xf32> -> tensor<?x104xbf16>
    ```

    With `factors` of bf16, so is what a product multiplies, and nothing else: its
    weight where `weights` are, its rows where that weight is. A norm, product or
    activation that computes them for products alone rounds them; others are
    rounded beside, in each block once, by a `transformer.activation identity`.

    ```mlir
    %x = transformer.rms_norm %r, %n {eps = 1.0e-6 : f64} : ...
    %y = transformer.linear %x, %w : tensor<?x104xf32>, tensor<150x104xbf16>
    // becomes, with factors=bf16
    %x = transformer.rms_norm %r, %n {eps = 1.0e-6 : f64} : ... -> tensor<?x104xbf16>
    %y = transformer.linear %x, %w
      : tensor<?x104xbf16>, tensor<150x104xbf16> -> tensor<?x150xf32>
    ```

    With `attention` of bf16 all attention has such `factors`, or none has: where
    there are terms of distances, latents, or keys and values of integers.

    With weights of int8 a matrix that products alone read is of bytes and has
    scales, and the products multiply integers: their rows are quantised, in each
    block once. Matrices that are looked up in too, and those of more than 2^17
    columns, whose sums could be too large, are of bf16, and so is a parameter with
    the attribute `transformer.kept_wide`.

    ```mlir
    %y = transformer.linear %x, %w : tensor<?x104xf32>, tensor<150x104xf32>
    // becomes, with weights=int8
    %q, %s = transformer.quantize_rows %x : tensor<?x104xf32>
    %y = transformer.linear %q, %w scales %s, %ws : tensor<?x104xi8>,
           tensor<150x104xi8>, tensor<?xf32>, tensor<150xf32>
    ```

    With weights of int4 such a matrix is of i4, with a scale for each `group` of
    its columns, and with `zeros` a zero point, or with `float-zeros` a number that
    comes off, where groups divide them, both kept in what `scales` says; it is of
    bytes where they do not, and where the parameter has the attribute
    `transformer.kept_byte`. With a `group` bytes have such scales, too, where
    groups divide the columns.

    ```mlir
    %y = transformer.linear %x, %w : tensor<?x128xf32>, tensor<150x128xf32>
    // becomes, with weights=int4 group=32
    %q, %s = transformer.quantize_rows %x : tensor<?x128xf32>
    %y = transformer.linear %q, %w scales %s, %ws : tensor<?x128xi8>,
           tensor<150x128xi4>, tensor<?xf32>, tensor<150x4xf32>
    ```

    With `values` of 16 bits as well, rows are those values and no integers: the
    products widen the matrix, and have its scales alone. What would have zeros
    that are floats is kept in bf16 there.

    ```mlir
    // becomes, with weights=int8 values=bf16
    %y = transformer.linear %x, %w scales %ws : tensor<?x104xbf16>,
           tensor<150x104xi8>, tensor<150xf32> -> tensor<?x150xbf16>
    ```

    Rows that come into a loop as f32 are rounded there, and those that an output
    or another dialect's op reads are widened for it, by a
    `transformer.activation identity`.
  }];
  let dependentDialects = ["::tfc::transformer::TransformerDialect"];
  let options = [
    Option<"weights", "weights", "::tfc::transformer::Storage",
           "::tfc::transformer::Storage::F32", "f32, f16, bf16, int8 or int4",
           [{::llvm::cl::values(
             clEnumValN(::tfc::transformer::Storage::F32, "f32", "4 bytes"),
             clEnumValN(::tfc::transformer::Storage::F16, "f16", "2 bytes"),
             clEnumValN(::tfc::transformer::Storage::BF16, "bf16",
                        "2 bytes"),
             clEnumValN(::tfc::transformer::Storage::Int8, "int8",
                        "a byte"),
             clEnumValN(::tfc::transformer::Storage::Int4, "int4",
                        "half a byte, with group"))}]>,
    Option<"group", "group", "int64_t", "0",
           "columns of integers that have a scale: 32, 64 or 128, or of int8 "
           "0, all of a row">,
    Option<"hasZeros", "zeros", "bool", "false",
           "of int4, whether groups have zero points">,
    Option<"hasFloatZeros", "float-zeros", "bool", "false",
           "of int4, whether groups have zeros that are floats, which come off "
           "behind the scale">,
    Option<"scales", "scales", "::tfc::transformer::Storage",
           "::tfc::transformer::Storage::F32",
           "of int4, what groups' scales, and zeros that are floats, are kept "
           "in: f32, f16 or bf16",
           [{::llvm::cl::values(
             clEnumValN(::tfc::transformer::Storage::F32, "f32", "4 bytes"),
             clEnumValN(::tfc::transformer::Storage::F16, "f16", "2 bytes"),
             clEnumValN(::tfc::transformer::Storage::BF16, "bf16",
                        "2 bytes"))}]>,
    Option<"rounds", "rounds", "bool", "false",
           "whether what is stored with more bits is rounded">,
    Option<"values", "values", "::tfc::transformer::Storage",
           "::tfc::transformer::Storage::F32",
           "what values between ops are kept in: f32, f16 or bf16",
           [{::llvm::cl::values(
             clEnumValN(::tfc::transformer::Storage::F32, "f32", "4 bytes"),
             clEnumValN(::tfc::transformer::Storage::F16, "f16", "2 bytes"),
             clEnumValN(::tfc::transformer::Storage::BF16, "bf16",
                        "2 bytes"))}]>,
    Option<"factors", "factors", "::tfc::transformer::Storage",
           "::tfc::transformer::Storage::F32",
           "what products multiply: f32 or bf16",
           [{::llvm::cl::values(
             clEnumValN(::tfc::transformer::Storage::F32, "f32", "4 bytes"),
             clEnumValN(::tfc::transformer::Storage::BF16, "bf16",
                        "2 bytes"))}]>,
    Option<"attention", "attention", "::tfc::transformer::Storage",
           "::tfc::transformer::Storage::F32",
           "what attention multiplies: f32 or bf16",
           [{::llvm::cl::values(
             clEnumValN(::tfc::transformer::Storage::F32, "f32", "4 bytes"),
             clEnumValN(::tfc::transformer::Storage::BF16, "bf16",
                        "2 bytes"))}]>];
  let statistics = [
    Statistic<"numNarrow", "num-narrow", "matrices kept in 16 or 8 bits">,
    Statistic<"numValues", "num-values", "values kept in 16 bits">,
    Statistic<"numFactors", "num-factors", "rows rounded or quantised for products">];
}

def FuseProjectionsPass
    : Pass<"tfc-fuse-projections", "::mlir::ModuleOp"> {
  let summary = "linears of one input become one linear";
  let description = [{
    Linears that read the same rows, such as those of queries, keys and values,
    become one, whose weight has the rows of all: the rows are read once, and
    the work is in fewer and larger loops.

    ```mlir
    %qw = transformer.weight @attn.q.weight[%i] : tensor<104x104xf32>
    %q = transformer.linear %x, %qw : ...
    %kw = transformer.weight @attn.k.weight[%i] : tensor<52x104xf32>
    %k = transformer.linear %x, %kw : ...
    // becomes, with
    transformer.parameter @attn.q_k.weight : tensor<156x104xf32> layers 2
      parts [@attn.q.weight, @attn.k.weight]
    %w = transformer.weight @attn.q_k.weight[%i] : tensor<156x104xf32>
    %y = transformer.linear %x, %w : ...
    %q = transformer.slice_columns %y[0, 104] : tensor<?x156xf32>
    %k = transformer.slice_columns %y[104, 52] : tensor<?x156xf32>
    ```

    It takes linears of one block, in its order, that all have a bias or all
    have none, that have neither activation nor residual, and whose weights are
    of the same layer and read nowhere else, and that are rounded alike. What reads the results must take
    rows with gaps between them, as attention, the cache and rotary do: for
    others each part would have to be copied. A tap does not.

    Of a weight that has parts already, the new one has these.

    Afterwards the parts have no reader. Rounding does not change: each column
    is the sum that it was.
  }];
  let dependentDialects = ["::tfc::transformer::TransformerDialect"];
  let statistics = [
    Statistic<"numFused", "num-fused", "linears that became part of another">];
}

#endif // TFC_COMPILER_FUSION_PASSES
