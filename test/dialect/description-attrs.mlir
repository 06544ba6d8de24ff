// Round trip of what a library says of itself.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s | tfc-opt | FileCheck %s

// CHECK: module attributes {
// CHECK-SAME: transformer.model = #transformer.model<"a \22name\22", kind = encoder_decoder, spec = "{\0A}", max_positions = 64, pad = 0, bos = 1, decoder_start = 2, eos = [8, 9], prefixes = ["model.", ""], aliases = ["gamma", "weight"], generation = <forced_bos = -1, forced_eos = 3, min_length = 1, max_length = 2, no_repeat_ngram = 4, num_beams = 5, early_stopping = never, do_sample = true, top_k = 6, temperature = 0.69999999999999996 : f64, top_p = 1.000000e+00 : f64, min_p = 0.000000e+00 : f64, length_penalty = 1.000000e+00 : f64, repetition_penalty = 1.000000e+00 : f64, suppress = [3, 5], begin_suppress = [7]>>
// CHECK-SAME: transformer.programs = [#transformer.program<"x86-64-v3", features = 3, layout = "f32-rows", packed_bytes = 640, entries = 2>, #transformer.program<"armv8-a", features = 0, layout = "f32-rows", packed_bytes = 640, isa = aarch64>, #transformer.program<"sm_80", features = 80, layout = "f32-rows", packed_bytes = 640, isa = cuda, kernels = 12, images = 2>]
module attributes {
  transformer.model = #transformer.model<
    "a \"name\"", kind = encoder_decoder, spec = "{\n}", max_positions = 64,
    pad = 0, bos = 1, decoder_start = 2, eos = [8, 9],
    prefixes = ["model.", ""], aliases = ["gamma", "weight"],
    generation = <forced_bos = -1, forced_eos = 3, min_length = 1,
                  max_length = 2, no_repeat_ngram = 4, num_beams = 5,
                  early_stopping = never, do_sample = true, top_k = 6,
                  temperature = 0.7 : f64, top_p = 1.0 : f64,
                  min_p = 0.0 : f64, length_penalty = 1.0 : f64,
                  repetition_penalty = 1.0 : f64, suppress = [3, 5],
                  begin_suppress = [7]>>,
  transformer.programs = [
    #transformer.program<"x86-64-v3", features = 3, layout = "f32-rows",
                         packed_bytes = 640, entries = 2>,
    #transformer.program<"armv8-a", features = 0, layout = "f32-rows",
                         packed_bytes = 640, isa = aarch64>,
    #transformer.program<"sm_80", features = 80, layout = "f32-rows",
                         packed_bytes = 640, isa = cuda, kernels = 12,
                         images = 2>]} {
  // What is as usual is not said.
  // CHECK: @usual() attributes {test = #transformer.model<"m", kind = encoder, spec = "{}">}
  func.func private @usual() attributes {
    test = #transformer.model<"m", kind = encoder, spec = "{}",
                              max_positions = 0, pad = -1, bos = -1,
                              decoder_start = -1>}
  // CHECK: @step
  // CHECK-SAME: transformer.output = #transformer.output_port<"logits", rows = wanted, take = last_eos, width = 97>
  // CHECK-SAME: transformer.output = #transformer.output_port<"score", rows = tokens, take = all, squeezed = true, width = 1>
  // CHECK-SAME: transformer.output = #transformer.output_port<"words", rows = wanted, take = all, head_rows = true, width = 97>
  // CHECK-SAME: transformer.cache = #transformer.cache_layout<block_tokens = 16, layers = 3, block_bytes = 3072, layer_bytes = 1024, query_rows = 4>
  func.func private @step(
      memref<?x97xf32> {transformer.output = #transformer.output_port<
        "logits", rows = wanted, take = last_eos, width = 97>},
      memref<?x1xf32> {transformer.output = #transformer.output_port<
        "score", rows = tokens, take = all, squeezed = true, width = 1>},
      memref<?x97xf32> {transformer.output = #transformer.output_port<
        "words", rows = wanted, take = all, head_rows = true, width = 97>})
      attributes {transformer.cache = #transformer.cache_layout<
        block_tokens = 16, layers = 3, block_bytes = 3072, layer_bytes = 1024,
        query_rows = 4>}
  // CHECK: @pack() attributes {transformer.role = #transformer.role<pack>}
  func.func private @pack() attributes {
    transformer.role = #transformer.role<pack>}
  // CHECK: @bytes() attributes {transformer.role = #transformer.role<workspace_bytes of @step>}
  func.func private @bytes() attributes {
    transformer.role = #transformer.role<workspace_bytes of @step>}
}
