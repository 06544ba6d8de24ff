// Passes to the programs of devices: kernels, their images, their launches.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_PASSES
#define TFC_COMPILER_GPU_PASSES

include "mlir/Pass/PassBase.td"

def ExpandDeviceExpertsPass
    : Pass<"tfc-expand-device-experts", "::mlir::ModuleOp"> {
  let summary = "choices of experts, and their order, become the work of warps";
  let description = [{
    `choose_experts`, on buffers, becomes a parallel loop over rows and the 32
    lanes of a warp. A lane has the scores of every 32nd expert in registers; the
    best of all is found by five exchanges, as often as experts are taken. Sums
    go over lanes, not over the experts in order, the same way for every row.

    `sort_by_expert` becomes a parallel loop over the 128 threads of one block:
    its warps count a part of the pairs each, 32 at a time, in shared memory,
    one of them finds where the experts begin, and all put their pairs there. Of
    256 pairs or fewer, a thread for each expert looks at all of them, as in
    plain loops (`tfc-expand-scalar-kernels`).

    What neither does is left as it is: more than 1024 experts to choose from, or
    2048 to sort by, more than 32 taken, choices by what is left of the scores
    (`sparsemixer`).

    ```mlir
    transformer.choose_experts softmax %z take 2 outs(%ids, %w)
        : (memref<?x8xf32>, memref<?x2xi32>, memref<?x2xf32>) -> ()
    // becomes
    scf.parallel (%row, %lane) = (%c0, %c0) to (%rows, %c32) step (%c1, %c1) {
      %z = memref.load %logits[%row, %lane] : memref<?x8xf32>
      ...
      %other, %valid = gpu.shuffle xor %choice, %c16, %c32 : f32
      ...
    }
    ```

    Dialects: structured ops and loops to scf, gpu, nvvm, arith, math, memref,
    llvm.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numExpanded", "num-expanded", "choices and orders expanded">];
}

def ExpandDeviceKernelsPass
    : Pass<"tfc-expand-device-kernels", "::mlir::ModuleOp"> {
  let summary = "attention and the cache become the work of warps";
  let description = [{
    `paged_attention` and `cache_write`, on buffers, become parallel loops over
    the step's work items, of one query each, where nothing else is said below. The arguments for caches, which
    live in the step, go; the layout of their blocks is written to the entry as
    `transformer.cache`, that of a cross cache as `transformer.cross_cache`.

    A warp does a query of a head: the last axis of the loop is its lanes. They
    score 32 positions at a time, a lane one of them; what the query does not
    see is not read. The softmax goes with the chunks: a new maximum, which five
    shuffles find, makes the total and the sums of before decay. Then the lanes
    add the values, weighted, each every 32nd column of the head, and hand each
    other the weights. Chunks lie at multiples of 32, so that the bits of a
    query's result depend on the query and what it sees alone.

    ```mlir
    transformer.paged_attention %q, %scale, %cache[%layer], %batch causal
        heads 8 outs(%y : memref<?x512xf32>) : ...
    // becomes
    scf.parallel (%item, %row, %head, %lane) = ... to (%items, %c1, %c8, %c32) {
      %all:4 = scf.for %begin = %c0 to %end step %c32
          iter_args(%max = %lowest, %total = %zero, %x0 = %zero, %x1 = %zero) {
        ...
        %other, %valid = gpu.shuffle xor %score, %c16, %c32 : f32
        ...
      }
      ...
    ```

    Where queries are kept in 16 bits as the cache is, in heads of a multiple of
    16 columns up to 176, tensor cores do it instead. An item has up to 64
    queries then, which a block of 128 threads does for a head, 64 positions at a
    time, out of shared memory, into which the next keys or values are copied
    meanwhile. The four warps share out the queries; or, where an item's queries
    and the heads that share their keys are together at most 16, as in a step of
    generation, the positions, and add up what they have at the end. Scores, their
    softmax and sums are f32; weights are rounded to 16 bits before they are
    multiplied with values. With `warpgroups` the four warps multiply many
    queries of heads of 64 or 128 columns together (`wgmma`). The host leaves out
    the launches that no item of the step can be for.

    Of few queries, all but an encoder's, up to 16 blocks do a part each: one or
    more whole stretches of 256 positions, as many as follow from what the item
    sees. Where there are several, they leave sums, maxima and totals in memory
    that is allocated for each sequence of the step, and a loop behind them puts
    these together, in order. What a thread allocates in memory space 3, its block
    shares, and `gpu.barrier` is one of the block: a block of `tfc-outline-threads`
    is the last axis of the loop.

    ```mlir
    %parts = memref.alloc(%sequences) : memref<?x2x16x16x68xf32>
    scf.parallel (%item, %head, %part, %thread) = ... to (%items, %c2, %c16, %c128) {
      %tiles = memref.alloca() {alignment = 128 : i64} : memref<34816xi8, 3>
      ...
      scf.for %begin = %first to %end step %c64 iter_args(...) {
        nvvm.cp.async.wait.group 0
        gpu.barrier
        nvvm.cp.async.shared.global ...
        nvvm.mma.sync ...
      }
      ...
    }
    scf.parallel (%item, %head, %row, %columns) = ... to (%items, %c2, %c16, %c16) {...}
    scf.parallel (%item, %head, %thread) = ... to (%items, %c8, %c128) {...}
    ```

    Of f32, in heads of a multiple of 4 columns up to 128, an item has up to 128
    queries, or 64 where heads have more than 64 columns. A warp does a query of
    items of up to 8, a block of 128 threads the others: a tile of 64 positions at
    a time comes to shared memory, as above, and is multiplied by fused
    multiply-adds in registers. Either computes a query in the same order, chunks
    of 64 positions, so that its bits are those that it has in any other step.

    A thread of a cache write has a vector of up to 16 bytes of keys, and one of
    values. Where loops before it fill the keys' buffer for nobody else, columns
    side by side from columns side by side (which is what turning by position
    is), the thread computes its keys itself, and the loops go.

    Wider heads, whose values are a multiple of 64 columns, and latents of such
    sizes are done in blocks of up to 64 rows, queries of all heads that share
    keys, where `shared-bytes` have room for them. There the four warps share out
    the positions of a tile for the scores, and the columns of values for the
    sums; weights go from the ones to the others through shared memory.

    A module with other latents or heads wider than 1024 stays as it is, for
    `tfc-expand-scalar-kernels`, which also expands what is left of the dialect.
    Runs after `tfc-bind-weights`.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let options = [
    Option<"warpgroups", "warpgroups", "bool", "false",
           "the device multiplies by four warps together (sm_90a)">,
    Option<"sharedBytes", "shared-bytes", "int64_t", "101376",
           "shared memory that a block may have, at most">];
  let statistics = [
    Statistic<"numAttentions", "num-attentions", "attentions expanded">];
}

def ExpandDeviceRecurrencesPass
    : Pass<"tfc-expand-device-recurrences", "::mlir::ModuleOp"> {
  let summary = "recurrences and short convolutions become the work of warps";
  let description = [{
    `ragged_recurrence`, on buffers, becomes a parallel loop over sequences,
    heads, stretches of a head's columns, and the 32 lanes of a warp. The head's
    matrix, keys by values, is read once, stays in registers for all tokens, and
    is written once. Lanes beside each other have up to 16 keys each (8 where each
    has a decay of its own) of the same columns: a sum over keys is two chains in
    each lane, their sum, and exchanges between lanes, in an order that follows
    from the op's sizes alone. The exchanges of what a token gives are those of
    the next token's key; rows are asked for two tokens ahead.

    `ragged_conv` becomes a parallel loop over stretches of 8 tokens and vectors
    of columns: a thread has its columns of the stretch and of the rows before it
    in registers. A warp looks for the sequence that its stretch is of. Who has
    the first one of a sequence writes the rows that are kept.

    What neither does is left as it is: heads of more than 512 keys, or of more
    than 256 that decay each, and more than 9 taps.

    ```mlir
    transformer.ragged_recurrence %q, %k, %v, %decay, %beta, %s[%layer] at 0,
        %batch heads 32 key_heads 16 outs(%y : memref<?x4096xbf16>) : ...
    // becomes
    scf.parallel (%sequence, %head, %stretch, %lane) = ...
        to (%sequences, %c32, %c16, %c32) {
      ...
      %last:52 = scf.for %t = %c0 to %count step %c1 iter_args(...) {
        ...
        %other, %valid = gpu.shuffle xor %sum, %c4, %c32 : f32
        ...
      }
      ...
    }
    ```

    Dialects: structured ops and loops to scf, gpu, nvvm, vector, arith, math,
    memref, llvm.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"numExpanded", "num-expanded",
              "recurrences and convolutions expanded">];
}

def DistributeRowsPass : Pass<"tfc-distribute-rows", "::mlir::ModuleOp"> {
  let summary = "a reduction along a row becomes the work of a warp";
  let description = [{
    An item of an outermost parallel loop that is a loop along a row, which
    gathers in one place what it computes of each element, becomes 32 items, the
    lanes of a warp: the loop gets one more axis, which is the last. Each lane
    takes every 32nd element, so that lanes beside each other read elements
    beside each other; five shuffles bring what they have together, and the
    first one adds what there was and stores it.

    ```mlir
    scf.parallel (%t) = (%c0) to (%tokens) step (%c1) {
      scf.for %k = %c0 to %c768 step %c1 {
        %v = memref.load %x[%t, %k] : memref<?x768xf32>
        %s = memref.load %sums[%t] : memref<?xf32>
        %n = arith.addf %s, %v : f32
        memref.store %n, %sums[%t] : memref<?xf32>
      }
    }
    // becomes
    scf.parallel (%t, %lane) = (%c0, %c0) to (%tokens, %c32) step (%c1, %c1) {
      %own = scf.for %k = %lane to %c768 step %c32 iter_args(%s = %zero) -> (f32) {...}
      %other, %valid = gpu.shuffle xor %own, %c16, %c32 : f32
      %both = arith.addf %own, %other : f32
      ...
      scf.if %isFirst { memref.store ... }
    }
    ```

    It names no op of the model: sums of norms and of products, and greatest
    values, are the same to it. A sum is rounded in another order than that of
    the plain loop, which is the same at every step and for every number of
    rows. Rows of dynamic length and of less than 32 elements stay as they are.
    Runs before `tfc-outline-threads`, whose blocks have whole warps.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numRows", "num-rows", "loops that a warp does an item of">];
}

def DistributeVectorsPass : Pass<"tfc-distribute-vectors", "::mlir::ModuleOp"> {
  let summary = "rows that are vectors are shared out in a warp, or in a block";
  let description = [{
    An item of an outermost parallel loop that works on a row as vectors as long
    as it becomes 32 items, the lanes of a warp, which is one more axis of the
    loop, the last; with rows of more than 2048 columns 128 items, the threads
    of a block. A lane has pieces of 8, 4, 2 or 1 columns, the most that
    divide the row and leave a piece for each lane; those of lanes beside each
    other are beside each other. The row is in the lanes' registers from the
    first load to the last store.

    ```mlir
    scf.parallel (%t) = (%c0) to (%tokens) step (%c1) {
      %v = vector.transfer_read %x[%t, %c0], %pad : memref<?x768xbf16>, vector<768xbf16>
      %w = arith.extf %v : vector<768xbf16> to vector<768xf32>
      %s = vector.multi_reduction <add>, %w, %zero [0] : vector<768xf32> to f32
      ...
    }
    // becomes
    scf.parallel (%t, %lane) = (%c0, %c0) to (%tokens, %c32) step (%c1, %c1) {
      %column = ... 8 * %lane
      %v = vector.load %x[%t, %column] : memref<?x768xbf16>, vector<8xbf16>
      ... two more of them, each 256 columns further ...
      %other, %valid = gpu.shuffle xor %own, %c16, %c32 : f32
      ...
    }
    ```

    What is the same in all columns, a mean, is computed once by each lane, not
    once a column. A sum is of a lane's pieces, then of a piece's columns, then of
    lanes, then of warps, which tell each other theirs in shared memory: the same
    at every step. Of a last piece that not every lane has, those
    without have zeros, which they neither count nor store.
    A loop with vectors of several lengths, or with ops on them that are not of
    this kind, stays as it is.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"numLoops", "num-loops", "loops that a warp does an item of">];
}

def WidenLoopsPass : Pass<"tfc-widen-loops", "::mlir::ModuleOp"> {
  let summary = "items that lie side by side become one";
  let description = [{
    Items of an outermost parallel loop that are arithmetic on elements side by
    side along its last axis become one item, on vectors of 16 bytes of what it
    stores: as many as divide the axis, 8, 4 or 2.

    ```mlir
    scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c64) step (%c1, %c1) {
      %v = memref.load %x[%t, %i] : memref<?x64xbf16>
      ...
    }
    // becomes
    scf.parallel (%t, %piece) = (%c0, %c0) to (%tokens, %c8) step (%c1, %c1) {
      %i = arith.muli %piece, %c8 : index
      %v = vector.load %x[%t, %i] {alignment = 16 : i64} : memref<?x64xbf16>, vector<8xbf16>
      ...
    }
    ```

    A loop with elements that lie apart, or with more than 32 ops, whose vectors
    would fill the registers, stays as it is. Each element is computed as before.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"numLoops", "num-loops", "loops with wider items">];
}

def JoinLoopsPass : Pass<"tfc-join-loops", "::mlir::ModuleOp"> {
  let summary = "parallel loops that do not need each other become one";
  let description = [{
    Outermost parallel loops behind each other, none of which touches what
    another one writes, become one loop, over the items of all: a launch instead
    of several. Items of one loop are behind those of the other, so that only
    one warp has some of both.

    ```mlir
    scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c64) step (%c1, %c1) {...}
    scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c8) step (%c1, %c1) {...}
    // becomes
    scf.parallel (%item) = (%c0) to (%all) step (%c1) {
      %isFirst = arith.cmpi ult, %item, %first : index
      scf.if %isFirst {...} else {...}
    }
    ```

    Which buffers are apart follows from what they are views of, or, of one
    buffer, from strides and offsets. A loop with loops that write in it, or
    whose lanes tell each other something, stays alone.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numLoops", "num-loops", "loops that share one with others">];
}

def LowerProductsPass : Pass<"tfc-lower-products", "::mlir::ModuleOp"> {
  let summary = "products become launches of kernels";
  let description = [{
    A `transformer.product` on buffers becomes a launch of one of the kernels
    that there are for its form: its types, and its body. How many columns and
    steps of k it has are the kernel's arguments. Which one is launched follows
    from the number of rows:

    * Of 16 bits, which tensor cores multiply, up to 8, 16, 32 and 64 rows have
      a kernel each whose blocks do 16 or 32 columns; it reads the weights once,
      from memory into registers, and a block's warps share out k.
    * More are done in tiles of 128 x 128, whose operands come to shared memory
      in stages, by asynchronous copies; or of 64 x 64, while there would be no
      more than 64 large ones. Both add in one order. With `warpgroups` the
      tiles are of 64 x 64, 128 x 128 and 128 x 256, likewise, and four warps
      multiply together (`wgmma`).
    * Of f32 all are done in tiles of 16 x 64, 64 x 64 or 128 x 128, likewise: a
      sum is one chain of fused multiply-adds in each.

    ```mlir
    transformer.product %x, %w outs(%y) : memref<?x64xbf16>, memref<96x32x1x2xbf16>,
        memref<?x96xbf16> {...}
    // becomes
    scf.if %isAny {
      scf.if %isUpTo8 {
        gpu.launch_func @kernels::@product_8x16_bf16_0 blocks in (%c6, %c1, %c1)
            threads in (%c256, %c1, %c1) args(%x : !llvm.ptr, %w, %y, %tokens : i32, ...)
      } else { ... }
    }
    ```

    A product and the one before it of the same rows and sizes, which it is
    multiplied by and nobody else reads, are one: a block has rows of both
    weights, and a thread the sums of both, of which the first is rounded as it
    would be kept.

    With `deterministic` the kernel for 33 to 64 rows does more of them, too, 64
    a block, in place of tiles: all kernels that are left add in one order.

    Sums are f32, in an order that does not depend on the other rows of a
    launch; the body is applied in registers, and the result rounded once.
    Operands are rows of f32 or of 16 bits, a multiple of 16 bytes long and
    apart, the weights in panels of one row; anything else is an error. Runs
    before `tfc-outline-threads`.

    Weights may be integers beside 16 bits, in words of 64 columns: they go to registers, or to
    shared memory, as narrow as they are, and are widened to the elements of x
    there. With groups the sums of each 32 columns are added to those before by a
    multiply-add with the group's scale.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
  let options = [
    Option<"deterministic", "deterministic", "bool", "false",
           "a row's bits do not depend on how many rows there are">,
    Option<"warpgroups", "warpgroups", "bool", "false",
           "the device multiplies by four warps together (sm_90a)">,
    Option<"overlap", "overlap", "bool", "false",
           "kernels begin before those in front of them have ended, and ask for "
           "weights meanwhile (see tfc-overlap-launches)">];
  let statistics = [
    Statistic<"numProducts", "num-products", "products lowered">];
}

def OutlineThreadsPass : Pass<"tfc-outline-threads", "::mlir::ModuleOp"> {
  let summary = "outermost parallel loops become kernels, a thread an item";
  let description = [{
    The body of an outermost `scf.parallel` becomes a kernel of the `gpu.module`
    @kernels, and the loop a launch of it, in blocks of 128 threads, as many as
    the flattened iteration space has items; without an item nothing is
    launched. A thread does the item of its number, and nothing where that is
    beyond the last. Inner parallel loops become loops of the thread.

    ```mlir
    scf.parallel (%t, %c) = (%c0, %c0) to (%tokens, %c52) step (%c1, %c1) {
      %v = memref.load %x[%t, %c] : memref<?x52xf32>
      ...
    }
    // becomes
    gpu.launch_func @kernels::@encode_0_encoder_layers_attn_o
        blocks in (%blocks, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%address : !llvm.ptr, %tokens : index, ...)
    ```

    Buffers that a body allocates in memory space 3 are shared by the block: a
    loop whose last axis has 128 places is done a block at a time, and may wait
    at `gpu.barrier`. Attributes of NVVM that a loop has are its kernel's:
    `nvvm.minctasm`, how many blocks a multiprocessor is to have room for.

    Values from outside are the kernel's parameters; a buffer whose rows lie one
    after the other is its address. Constants are made again in
    it, and so are constant tables, which get a copy in the `gpu.module`. The
    argument marked as `transformer.step` is replaced by the step's
    `device_step`, which a kernel can read. `transformer.worker` becomes the
    item's number. A copy of a buffer is such a loop too. Kernels are named
    after their entry, their number, and the ops in the loop's location; loops
    of an entry that do the same to what they take from outside share one.

    Afterwards the host touches no memory but the step and the library's
    constant tables. Runs behind `tfc-plan-workspace`.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numKernels", "num-kernels", "kernels made of loops">,
    Statistic<"numShared", "num-shared", "loops that took another's kernel">];
}

def FindGreatestPass : Pass<"tfc-find-greatest", "::mlir::ModuleOp"> {
  let summary = "steps may ask for the greatest column of each row of logits";
  let description = [{
    Says on the entry of a decoder which output has a row for every token that
    asks (`transformer.greatest`, its number), and ends the entry with a launch
    of one more kernel, where the step asks for what it gives
    (`tfc_step_v0.greatest`): of each row of that output the first of the
    columns with its greatest number. A host that chooses tokens so gets 4 bytes
    of a row, not all of it.

    ```mlir
    %there = arith.cmpi uge, %struct_size, %c168 : index
    %greatest = scf.if %there -> (!llvm.ptr) { ... llvm.load ... } else { ... }
    %asked = llvm.icmp "ne" %greatest, %null : !llvm.ptr
    ...
    scf.if %both {
      gpu.launch_func @kernels::@greatest_column blocks in (%rows, %c1, %c1)
        threads in (%c1024, %c1, %c1) args(%logits, %greatest, %width)
    }
    ```

    A block of 1024 threads does a row, eight columns a thread on their way at
    a time. Of equal columns the first one counts, and no column of a row with a
    NaN, or of minus infinity alone.

    Runs when products are kernels, before `tfc-outline-threads`.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"numOutputs", "num-outputs", "outputs marked">];
}

def OverlapLaunchesPass : Pass<"tfc-overlap-launches", "::mlir::ModuleOp"> {
  let summary = "kernels may begin before those in front of them have ended";
  let description = [{
    Every kernel first says that the one behind it may begin, as soon as there
    is room for its blocks, and waits, before it touches device memory, until
    the one in front of it has ended and its results are there: what a launch costs is paid while the one
    before it runs. For devices from compute capability 9.0 on, and hosts that
    launch with the attribute for it (programmatic stream serialization).

    ```mlir
    gpu.func @norm(%x: !llvm.ptr, %y: !llvm.ptr) kernel {
      nvvm.griddepcontrol launch_dependents
      %lane = nvvm.read.ptx.sreg.laneid : i32
      ...
      nvvm.griddepcontrol wait
      %first = llvm.load %x : !llvm.ptr -> f32
      ...
    ```

    A kernel that has ended has seen the end of all those before it, since it
    has waited itself. What stands at its beginning without an effect on memory,
    and what asks the second-level cache for weights, comes before the wait.
    Kernels that begin alone (`transformer.begins_alone`: tiles of products and
    of attention) are left as they are: their blocks, crowded where the kernel
    in front has left room, take longer than launches do. The launches of the
    others are marked, for `tfc-lower-launches` to tell the host. Runs after `tfc-outline-threads`, when all kernels are there.
  }];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect"];
  let statistics = [
    Statistic<"numKernels", "num-kernels", "kernels that wait">];
}

def EmitImagePass : Pass<"tfc-emit-image", "::mlir::ModuleOp"> {
  let summary = "kernels become images: PTX, and a cubin where there is ptxas";
  let description = [{
    The `gpu.module`, in the LLVM dialect by now, becomes PTX for the
    architecture `chip`, by LLVM's own code generator, and a binary made of that
    by NVIDIA's ptxas, where that is installed; `later-chips` are architectures
    that have one, too, as far as ptxas knows them. A `gpu.binary` takes the
    module's place. Its objects are in the order in which a host should try
    them, and each has the table of kernels, whose order is that of their
    numbers.

    ```mlir
    gpu.module @kernels { llvm.func @encode_0(...) attributes {nvvm.kernel, ...} }
    // becomes
    gpu.binary @kernels [
      #gpu.object<#nvvm.target<chip = "sm_80">, kernels = <[...]>, bin = "...">,
      #gpu.object<#nvvm.target<chip = "sm_80">, kernels = <[...]>, assembly = "...">]
    ```

    A function that kernels call and nobody defines is an error: mathematics is
    expanded before. Sums and products are rounded one by one, divisions and
    roots exactly, and numbers below the normal range are kept, so that a kernel
    computes what the same loop does on a CPU.
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_80\"",
           "LLVM's name of the architecture">,
    ListOption<"laterChips", "later-chips", "std::string",
               "architectures that a binary of their own is made for">,
    Option<"ptxas", "ptxas", "std::string", "",
           "path of ptxas; none: PTX alone; without it, where CUDA_HOME, the "
           "usual folders or PATH have it">,
    Option<"ptxasLevel", "ptxas-level", "int64_t", "3",
           "how far ptxas optimises, from 0 to 3">];
  let dependentDialects = ["::mlir::gpu::GPUDialect",
                           "::mlir::NVVM::NVVMDialect"];
  let statistics = [
    Statistic<"numImages", "num-images", "images made">];
}

def LowerLaunchesPass : Pass<"tfc-lower-launches", "::mlir::ModuleOp"> {
  let summary = "launches of kernels become calls of the host";
  let description = [{
    A `gpu.launch_func` becomes a call of the host's `launch` with a
    `tfc_launch_v0`: the kernel's number in the table of the `gpu.binary`, the
    grid, pointers to the arguments, and whether it overlaps
    (`tfc-overlap-launches`). A memref is passed as the fields of its
    descriptor, one after the other, which is how MLIR lowers a kernel's
    parameters. The call returns a status, which the entry passes on at once
    (`tfc-return-status`).

    ```mlir
    gpu.launch_func @kernels::@encode_0 blocks in (%blocks, %c1, %c1) ...
    // becomes
    llvm.store %argument, %slot_0 : i64, !llvm.ptr ...
    %status = llvm.call %launch(%context, %record) {transformer.status} : ...
    ```

    All launches of an entry use one place on its stack, since a host reads what
    it is given before `launch` returns. Runs behind `tfc-bind-step`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numLaunches", "num-launches", "launches that became calls">];
}

#endif // TFC_COMPILER_GPU_PASSES
