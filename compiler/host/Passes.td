// Passes of the border to the host: weights, workspace, step, threads, taps.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_HOST_PASSES
#define TFC_COMPILER_HOST_PASSES

include "mlir/Pass/PassBase.td"

def CallReducePass : Pass<"tfc-call-reduce", "::mlir::ModuleOp"> {
  let summary = "sums over ranks become calls of the host";
  let description = [{
    A `reduce_in_place` becomes a call of the host's `reduce`, with where the
    rows begin and how many numbers they are; what it returns ends the entry, as
    of a loop:

    ```mlir
    transformer.reduce_in_place outs(%x : memref<?x8xf32>)
    // becomes
    llvm.call %reduce(%context, %x, %count) {transformer.status} : ... -> i32
    ```

    Runs after `tfc-bind-weights`, which adds the argument for the step. Rows
    that do not follow each other in memory are an error.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect"];
  let statistics = [
    Statistic<"numCalls", "num-calls", "sums that became calls">];
}

def InsertTapsPass : Pass<"tfc-insert-taps", "::mlir::ModuleOp"> {
  let summary = "report the rows that each op computes to the host";
  let description = [{
    Adds a `transformer.tap` behind every op of the dialect whose result is
    rows. Its id is the op's location, which is a path of the spec, and the op's
    name; inside the layer loop it carries the layer.

    ```mlir
    %y = transformer.layer_norm %x, %w {eps = 1.0e-5 : f64} : ...
    // becomes, at loc("decoder.layers.attn.pre_norm") and in the loop over %i
    %y = transformer.layer_norm %x, %w {eps = 1.0e-5 : f64} : ...
    transformer.tap "decoder.layers.attn.pre_norm:layer_norm" layer %i %y : ...
    ```

    Afterwards every such value exists as a value of its own: what follows may
    not fuse it away. Rounding does not change.
  }];
  let dependentDialects = ["::tfc::transformer::TransformerDialect"];
  let statistics = [Statistic<"numTaps", "num-taps", "taps added">];
}

def PackWeightsPass : Pass<"tfc-pack-weights", "::mlir::ModuleOp"> {
  let summary = "place the weights and generate `pack`";
  let description = [{
    Gives every parameter with a value of its own an offset in the packed
    weights and, where it has layers, their constant distance; both are
    multiples of 64 bytes. Generates `@pack`, which copies rows [begin, end)
    of one stored tensor of one layer to their place, in rows or in the panels
    that the parameter asks for: it converts f16 and bf16, picks the rows of a fused tensor, and
    transposes a tensor stored `[in, out]`. The rows that a last panel has too
    many are left as the host gives them, zeros.

    One that is prepared has a place like any other, and nothing is copied there:
    an entry of the program writes it.

    A parameter with parts has a place like any other. Its parts have none: what
    is stored of them is copied to their rows of it.

    ```mlir
    func.func @pack(%weight: index, %layer: index, %begin: index, %end: index,
                    %dtype: index, %source: memref<?xi8>,
                    %packed: memref<?xi8>) -> i32
    ```

    The module attribute `transformer.packed_bytes` holds the size of all,
    `transformer.packed_layout` the layout's name: the type of what is packed
    and a hash of the place of every stored parameter, and of what is prepared,
    by the code of which target. Programs of one model
    with equal names read the same bytes.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::tfc::transformer::TransformerDialect"];
  let statistics = [
    Statistic<"numStored", "num-stored", "stored parameters that are packed">];
}

def BindWeightsPass : Pass<"tfc-bind-weights", "::mlir::ModuleOp"> {
  let summary = "entries take what the host lends, weights are views of it";
  let description = [{
    Entries, the functions with a `!transformer.batch`, get arguments for what
    the host lends, marked by attributes: the step (`transformer.step`), the
    packed weights (`transformer.weights`) and the number of workers
    (`transformer.workers`). A `weight` becomes a view of the packed weights, at
    the place that `tfc-pack-weights` gave its parameter:

    ```mlir
    %w = transformer.weight @w[%layer] : memref<8x4xf32>
    // becomes, of a parameter `at 64 stride 128`
    %place = ... // 64 + %layer * 128
    %w = memref.view %weights[%place][] : memref<?xi8> to memref<8x4xf32>
    ```

    A function of an entry's layers (`tfc-outline-layers`) gets the same of the
    entry, which calls it with them.

    Runs after bufferization. Afterwards there is no `weight`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
  let statistics = [
    Statistic<"numWeights", "num-weights", "weights that became views">];
}

def CallTapsPass : Pass<"tfc-call-taps", "::mlir::ModuleOp"> {
  let summary = "taps become calls of the host";
  let description = [{
    A `tap` becomes a call of the host's `tap`, if it has one, with the id, the
    layer (-1 where there is none), the rows and their width:

    ```mlir
    transformer.tap "decoder.layers.attn:attention" layer %i %x : memref<?x8xf32>
    // becomes
    scf.if %given { llvm.call %tap(%context, %id, %layer, %data, %rows, %width) }
    ```

    Runs after `tfc-bind-weights`, which adds the argument for the step. Rows
    that do not follow each other in memory are an error: the host is told where
    they begin.
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numTaps", "num-taps", "taps that became calls">];
}

def OrderGlobalsPass : Pass<"tfc-order-globals", "::mlir::ModuleOp"> {
  let summary = "constants in the order of their first use";
  let description = [{
    One-shot bufferization makes globals of constant tensors, function by
    function, in an order that differs from run to run. Here they come first in
    the module, in the order in which its functions use them, and are named by
    that order: equal models give equal bytes.

    ```mlir
    memref.global "private" constant @constant_0 : memref<49xi32> = dense<...>
    ```
  }];
  let statistics = [
    Statistic<"numGlobals", "num-globals", "constants put in order">];
}

def PlanWorkspacePass : Pass<"tfc-plan-workspace", "::mlir::ModuleOp"> {
  let summary = "every allocation becomes a view of one workspace";
  let description = [{
    Entries get an argument `transformer.workspace`, and `memref.alloc` becomes
    a view of it. A buffer whose rows are the tokens, the wanted rows, the
    step's sequences or the workers takes that many times its static row; buffers
    of the same kind whose lives do not overlap share a place, the largest choosing first, and places
    begin at different offsets of a page, whatever the number of rows.
    `@<entry>_workspace_bytes(tokens, rows, sequences, workers)` computes the
    size; it is linear in each. Functions of layers are planned with their
    entry, as if they stood in the place of their calls, and get its workspace.

    Afterwards nothing allocates. An error is what one place cannot serve: an
    allocation of another size, one inside a parallel loop, where every worker
    needs its own, and one that its loop carries to the next round.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect",
                           "::mlir::memref::MemRefDialect"];
  let statistics = [
    Statistic<"numBuffers", "num-buffers", "allocations replaced">,
    Statistic<"numPlaces", "num-places", "places they share">];
}

def BindStepPass : Pass<"tfc-bind-step", "::mlir::ModuleOp"> {
  let summary = "arguments become loads from the ABI's structs";
  let description = [{
    The entries, whose arguments carry attributes, become functions of one
    pointer to `tfc_step_v0`; each former argument is read from it. `@pack`
    becomes a function of a pointer to `tfc_pack_v0`. Both return 0. Ports are
    kept as the attributes `transformer.inputs` and `transformer.outputs`.

    A function of layers gets the step, and what it had beside: a number as it
    is, rows as the pointer to their first. It returns a status, too:

    ```mlir
    %status = call @step.decoder.layers.3(%step, %rows, %number) {transformer.status}
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numBound", "num-bound", "functions that read the structs">];
}

def LowerParallelPass : Pass<"tfc-lower-parallel", "::mlir::ModuleOp"> {
  let summary = "outermost parallel loops become calls of the host";
  let description = [{
    The body of an outermost `scf.parallel` becomes a function of (argument,
    begin, end, worker) over the flattened iteration space, and the loop a call
    of the host's `parallel_for`; values from outside travel in a struct on the
    stack, buffers as pointers: what else the body must know of them is their
    type. All loops of a function use the same piece of stack, one after the
    other. `transformer.worker` becomes the worker. Inner parallel loops become
    sequential ones. A body is named after its entry and its number, and after
    the ops in the loop's location: `step_body_3.decoder.layers.attn.o`.

    Loops of an entry and of its layers that do the same to what they take from
    outside, as the norms of a layer do, share a body, which has the names of all:
    `step_body_4.decoder.layers.attn.pre_norm+decoder.layers.ffn.pre_norm`.

    Runs after `tfc-bind-step`, on functions whose first argument is the step;
    those of layers may have others.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numBodies", "num-bodies", "functions made of loops">,
    Statistic<"numShared", "num-shared", "loops that took another's function">];
}

def ReturnStatusPass : Pass<"tfc-return-status", "::mlir::ModuleOp"> {
  let summary = "an entry returns what a call of the host tells it, at once";
  let description = [{
    A call marked as `transformer.status` returns 0, or a status that the entry
    returns without doing more: so a host stops a step between two parallel
    loops, from within any number of sequential ones. Runs on blocks, behind
    `tfc-convert-to-llvm`.

    ```mlir
    llvm.call %parallel_for(...) {transformer.status} : ... -> i32
    // becomes
    %status = llvm.call %parallel_for(...) : ... -> i32
    %stops = llvm.icmp "ne" %status, %zero : i32
    llvm.cond_br %stops weights([1, 2000]), ^stop(%status : i32), ^next
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"numCalls", "num-calls", "calls whose status is passed on">];
}

#endif // TFC_COMPILER_HOST_PASSES
