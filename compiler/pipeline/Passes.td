// The contract pass.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_PIPELINE_PASSES
#define TFC_COMPILER_PIPELINE_PASSES

include "mlir/Pass/PassBase.td"

def VerifyStagePass : Pass<"tfc-verify-stage", "::mlir::ModuleOp"> {
  let summary = "check that the IR has only what its stage allows";
  let description = [{
    Walks the module and reports the first op that the stage's row in the stage
    table does not allow, and which pass should have got rid of it.

    ```
    error: 'linalg.exp' op is not allowed after stage 'fused'
    note: expected it to be gone after 'canonicalize'
    ```

    It changes nothing. From `buffer` on it refuses `memref.alloc` as well. Then
    it runs the verifiers of all ops: `tfc compile` does so here, once a stage,
    and not after each pass as `tfc-opt` does.
  }];
  let options = [Option<"stage", "stage", "std::string", "",
                        "name of the stage">];
}

#endif // TFC_COMPILER_PIPELINE_PASSES
