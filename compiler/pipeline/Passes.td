// The contract pass.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_PIPELINE_PASSES
#define TFC_COMPILER_PIPELINE_PASSES

include "mlir/Pass/PassBase.td"

def VerifyStagePass : Pass<"tfc-verify-stage", "::mlir::ModuleOp"> {
  let summary = "check that the IR has only what its stage allows";
  let description = [{
    Walks the module and reports the first op that the stage does not allow on
    the road of the module's `transformer.target` (without one, on the first
    road that has the stage), and which pass should have got rid of it.

    ```
    error: 'linalg.exp' op is not allowed after stage 'fused'
    note: expected it to be gone after 'canonicalize'
    ```

    It changes nothing. No stage has `memref.alloc`: what is in the buffers is
    lent by the host. It is also an error when the passes before have not done
    what they are for: in `tiled` a product that is whole, in `vector` a tile
    that is still linalg, in `buffer` a vector that no register holds, in `kernel`
    an entry that follows a pointer into the device's memory, in `llvm` a
    function with more than 64 KB of stack. Maps over rows that stay plain
    loops in `vector`, since their width has no divisor of a few registers, are
    a warning. Then it runs the verifiers of all ops: `tfc compile` does so here,
    once a stage, and not after each pass as `tfc-opt` does.
  }];
  let options = [Option<"stage", "stage", "std::string", "",
                        "name of the stage">];
}

def SetTargetPass : Pass<"tfc-set-target", "::mlir::ModuleOp"> {
  let summary = "write what the module is compiled for";
  let description = [{
    Gives the module the attribute that `tfc compile` gives it, for IR written
    by hand, or to compile it for something else from here on. From `linalg` on
    that is too late: the layout of the weights is decided.

    ```mlir
    module attributes {transformer.target = #transformer.target<"x86-64-v3", opt = none>} {
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu:x86-64-v3\"",
           "one target as tfc compile takes it">,
    Option<"opt", "opt", "std::string", "\"none\"", "none or full">,
    Option<"weights", "weights", "std::string", "\"f32\"",
           "what matrices are kept in: f32, f16, bf16, int8 or int4">,
    Option<"group", "group", "int64_t", "0",
           "columns of integers that have a scale: 32, 64 or 128, or of int8 "
           "0, all of a row">,
    Option<"zeros", "zeros", "bool", "false",
           "of int4, whether groups have zero points">,
    Option<"floatZeros", "float-zeros", "bool", "false",
           "of int4, whether groups have zeros that are floats">,
    Option<"scales", "scales", "std::string", "\"f32\"",
           "of int4, what groups' scales and such zeros are kept in: f32, f16 "
           "or bf16">,
    Option<"rounds", "rounds", "bool", "false",
           "whether weights of more bits are rounded to it">,
    Option<"deterministic", "deterministic", "bool", "false",
           "whether a row's bits may not depend on its step, on devices too">];
  let dependentDialects = ["::tfc::transformer::TransformerDialect"];
}

def RunArrowPass : Pass<"tfc-run-arrow", "::mlir::ModuleOp"> {
  let summary = "lower from a stage to the next, as the module's target says";
  let description = [{
    Runs the passes that lead from one stage to another for the module's
    `transformer.target`, which must be there: those that `tfc compile` runs
    for it. The pipelines `tfc-<stage>-to-<stage>` are this pass.
  }];
  let options = [Option<"from", "from", "std::string", "",
                        "name of the stage that the module is at">,
                 Option<"to", "to", "std::string", "",
                        "name of the stage that follows">];
}

#endif // TFC_COMPILER_PIPELINE_PASSES
