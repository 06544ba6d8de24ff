// What the verifiers of a library's description refuse, and attributes that are
// not of the type which belongs to their name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected width in [1, 2^31), got 0}}
func.func private @output_port_c1_width() attributes {test = #transformer.output_port<"y", rows = tokens, take = all, width = 0>}

// -----

// expected-error @below {{expected width in [1, 2^31), got 2147483648}}
func.func private @output_port_c1_wide() attributes {test = #transformer.output_port<"y", rows = tokens, take = all, width = 2147483648>}

// -----

// expected-error @below {{expected width 1 (the port is squeezed), got 2}}
func.func private @output_port_c2_squeezed() attributes {test = #transformer.output_port<"y", rows = tokens, take = all, squeezed = true, width = 2>}

// -----

// expected-error @below {{expected layers in [1, 2^31), got 0}}
func.func private @cache_layout_c1_layers() attributes {test = #transformer.cache_layout<block_tokens = 16, layers = 0, block_bytes = 64, layer_bytes = 0, query_rows = 1>}

// -----

// expected-error @below {{expected block_tokens in [0, 2^31), got -16}}
func.func private @cache_layout_c1_block_tokens() attributes {test = #transformer.cache_layout<block_tokens = -16, layers = 1, block_bytes = 64, layer_bytes = 0, query_rows = 1>}

// -----

// expected-error @below {{expected window in [0, 2^31), got -1}}
func.func private @cache_layout_c1_window() attributes {test = #transformer.cache_layout<block_tokens = 16, layers = 1, block_bytes = 64, layer_bytes = 0, query_rows = 1, window = -1>}

// -----

// expected-error @below {{expected block_bytes of at least 1 and layers times layer_bytes, got 64 for 3 times 32}}
func.func private @cache_layout_c2_block_bytes() attributes {test = #transformer.cache_layout<block_tokens = 16, layers = 3, block_bytes = 64, layer_bytes = 32, query_rows = 1>}

// -----

// expected-error @below {{expected a name of the program, got none}}
func.func private @program_c1_name() attributes {test = #transformer.program<"", features = 3, layout = "rows", packed_bytes = 0>}

// -----

// expected-error @below {{expected kernels and images in [0, 0] of a program of x86_64, got 12 and 0}}
func.func private @program_c3_of_a_cpu() attributes {test = #transformer.program<"p", features = 3, layout = "rows", packed_bytes = 64, kernels = 12>}

// -----

// expected-error @below {{expected kernels and images in [0, 0] of a program of aarch64, got 0 and 2}}
func.func private @program_c3_of_an_arm() attributes {test = #transformer.program<"p", features = 0, layout = "rows", packed_bytes = 64, isa = aarch64, images = 2>}

// -----

// expected-error @below {{expected kernels and images in [0, 2147483647] of a program of cuda, got 1 and -1}}
func.func private @program_c3_of_a_device() attributes {test = #transformer.program<"p", features = 80, layout = "rows", packed_bytes = 64, isa = cuda, kernels = 1, images = -1>}

// -----

// expected-error @below {{expected entries in [0, 2^31), got -1}}
func.func private @program_c4_entries() attributes {test = #transformer.program<"p", features = 3, layout = "rows", packed_bytes = 64, entries = -1>}

// -----

// expected-error @below {{expected packed_bytes of at least 0, got -64}}
func.func private @program_c2_packed_bytes() attributes {test = #transformer.program<"p", features = 3, layout = "rows", packed_bytes = -64>}

// -----

// expected-error @below {{expected numbers of type f64, got 1.000000e+00 : f32}}
func.func private @generation_c1_type() attributes {test = #transformer.generation<forced_bos = -1, forced_eos = -1, min_length = 0, max_length = 0, no_repeat_ngram = 0, num_beams = 1, early_stopping = no, do_sample = false, top_k = 50, temperature = 1.0 : f32, top_p = 1.0 : f64, min_p = 0.0 : f64, length_penalty = 1.0 : f64, repetition_penalty = 1.0 : f64>}

// -----

// expected-error @below {{expected num_beams in [0, 2^31), got -4}}
func.func private @generation_c2_beams() attributes {test = #transformer.generation<forced_bos = -1, forced_eos = -1, min_length = 0, max_length = 0, no_repeat_ngram = 0, num_beams = -4, early_stopping = no, do_sample = false, top_k = 50, temperature = 1.0 : f64, top_p = 1.0 : f64, min_p = 0.0 : f64, length_penalty = 1.0 : f64, repetition_penalty = 1.0 : f64>}

// -----

// expected-error @below {{expected suppress to be integers of 64 bits, got [1 : i32]}}
func.func private @generation_c3_suppress() attributes {test = #transformer.generation<forced_bos = -1, forced_eos = -1, min_length = 0, max_length = 0, no_repeat_ngram = 0, num_beams = 1, early_stopping = no, do_sample = false, top_k = 50, temperature = 1.0 : f64, top_p = 1.0 : f64, min_p = 0.0 : f64, length_penalty = 1.0 : f64, repetition_penalty = 1.0 : f64, suppress = [1 : i32]>}

// -----

// expected-error @below {{expected max_positions of at least 0, got -1}}
func.func private @model_c1_max_positions() attributes {test = #transformer.model<"m", kind = encoder, spec = "{}", max_positions = -1>}

// -----

// expected-error @below {{expected eos to be integers of 64 bits, got ["end"]}}
func.func private @model_c2_eos() attributes {test = #transformer.model<"m", kind = encoder, spec = "{}", eos = ["end"]>}

// -----

// expected-error @below {{expected prefixes to be strings, got [1]}}
func.func private @model_c3_prefixes() attributes {test = #transformer.model<"m", kind = encoder, spec = "{}", prefixes = [1]>}

// -----

// expected-error @below {{expected aliases in pairs, got 1 strings}}
func.func private @model_c3_aliases() attributes {test = #transformer.model<"m", kind = encoder, spec = "{}", aliases = ["gamma"]>}

// -----

// A key that nobody knows is no key of a default.
// expected-error @below {{duplicate or unknown struct parameter name: max_position}}
func.func private @model_key() attributes {test = #transformer.model<"m", kind = encoder, spec = "{}", max_position = 64>}

// -----

// expected-error @below {{expected 'transformer.model' to be a #transformer.model, got {a = 1 : i64}}}
func.func private @model_is_typed() attributes {transformer.model = {a = 1}}

// -----

// expected-error @below {{expected 'transformer.programs' to be an array of #transformer.program, got {a = 1 : i64}}}
func.func private @programs_is_typed() attributes {transformer.programs = {a = 1}}

// -----

// expected-error @below {{expected 'transformer.strategy' to be a #transformer.strategy, got {a = 1 : i64}}}
func.func private @strategy_is_typed() attributes {transformer.strategy = {a = 1}}

// -----

// expected-error @below {{expected 'transformer.cache' to be a #transformer.cache_layout, got {a = 1 : i64}}}
func.func private @cache_is_typed() attributes {transformer.cache = {a = 1}}

// -----

// expected-error @below {{expected 'transformer.cross_cache' to be a #transformer.cache_layout, got {a = 1 : i64}}}
func.func private @cross_cache_is_typed() attributes {transformer.cross_cache = {a = 1}}

// -----

// expected-error @below {{expected 'transformer.inputs' to be an array of #transformer.input, got {a = 1 : i64}}}
func.func private @inputs_is_typed() attributes {transformer.inputs = {a = 1}}

// -----

// expected-error @below {{expected 'transformer.outputs' to be an array of #transformer.output_port, got {a = 1 : i64}}}
func.func private @outputs_is_typed() attributes {transformer.outputs = {a = 1}}

// -----

// expected-error @below {{expected 'transformer.packed_bytes' to be an integer, got {a = 1 : i64}}}
func.func private @packed_bytes_is_typed() attributes {transformer.packed_bytes = {a = 1}}

// -----

// expected-error @below {{expected 'transformer.layers_of' to be the symbol of an entry, got {a = 1 : i64}}}
func.func private @layers_of_is_typed() attributes {transformer.layers_of = {a = 1}}

// -----

// expected-error @below {{expected 'transformer.input' to be a #transformer.input, got {a = 1 : i64}}}
func.func private @input_is_typed(memref<?x8xf32> {transformer.input = {a = 1}})

// -----

// expected-error @below {{expected 'transformer.output' to be a #transformer.output_port, got {a = 1 : i64}}}
func.func private @output_is_typed(memref<?x8xf32> {transformer.output = {a = 1}})

// -----

// expected-error @below {{expected an entry of the role workspace_bytes, got none}}
func.func private @role_c1_workspace_bytes() attributes {test = #transformer.role<workspace_bytes>}

// -----

// expected-error @below {{expected no entry of the role pack, got step}}
func.func private @role_c1_pack() attributes {test = #transformer.role<pack of @step>}

// -----

// expected-error @below {{expected 'transformer.role' to be a #transformer.role, got "pack"}}
func.func private @role_is_typed() attributes {transformer.role = "pack"}

// -----

// expected-error @below {{expected 'transformer.role' on functions alone}}
module attributes {transformer.role = #transformer.role<pack>} {
}
