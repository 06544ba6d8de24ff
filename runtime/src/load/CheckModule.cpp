// Whether the tables of a compiled library can be used.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/Module.h"

#include <algorithm>
#include <cmath>

namespace tfc::rt {

// Each function returns the first thing that is wrong with a table, as what is
// expected of it, "" when nothing is.

/// Whether a table of strings is there and has no null in it.
static bool isWhole(const char *const *strings, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    if (!strings || !strings[i]) {
      return false;
    }
  }
  return true;
}

/// Rows of floats in place of ids.
static std::string faultOfGiven(const tfc_port_v0 &port) {
  return port.dtype != TFC_DTYPE_F32 || port.rows != TFC_ROWS_TOKENS ||
                 port.fill != TFC_FILL_REQUIRED
             ? "embeddings of dtype f32, rows of tokens that the caller gives"
             : "";
}

static std::string faultOfPort(const tfc_port_v0 &port, bool isInput) {
  if (!port.name || port.width == 0) {
    return "a port with a name and a width";
  }
  if (isInput && port.flags & TFC_PORT_EMBEDS) {
    return faultOfGiven(port);
  }
  if (port.dtype != (isInput ? TFC_DTYPE_I32 : TFC_DTYPE_F32)) {
    return isInput ? "inputs of dtype i32" : "outputs of dtype f32";
  }
  if (port.rows > TFC_ROWS_WANTED || port.fill > TFC_FILL_UNSEEN ||
      port.take > TFC_TAKE_FIRST_EOS) {
    return "known kinds of rows";
  }
  if (!isInput && port.flags & TFC_PORT_GREATEST &&
      (port.rows != TFC_ROWS_WANTED || port.flags & TFC_PORT_HEAD_ROWS)) {
    return "greatest columns of all columns, in rows that are wanted";
  }
  if (isInput ? port.width != 1 || port.rows != TFC_ROWS_TOKENS
              : port.flags & TFC_PORT_SQUEEZED && port.width != 1) {
    return "one value a token";
  }
  return "";
}

static std::string faultOfCaches(const tfc_entry_v0 &entry) {
  if (entry.n_caches > TFC_MAX_CACHES || (entry.n_caches && !entry.caches)) {
    return "at most 4 caches";
  }
  uint32_t roles = 0; // a bit each
  for (uint32_t i = 0; i < entry.n_caches; ++i) {
    const tfc_cache_v0 &cache = entry.caches[i];
    bool isKnown = cache.role <= TFC_CACHE_STATE && !(roles >> cache.role & 1);
    if (!isKnown || cache.window < 0) {
      return "caches of different known roles";
    }
    roles |= 1U << cache.role;
    // A state is of all tokens.
    bool isState = cache.role == TFC_CACHE_STATE;
    if (cache.layers != 0 &&
        ((cache.block_tokens == 0) != isState || !cache.block_bytes)) {
      return "cache blocks that hold something";
    }
    if (isState && (cache.window != 0 || cache.dtype != TFC_DTYPE_F32)) {
      return "states of f32 without a window";
    }
  }
  return "";
}

/// Of one that makes weights of weights: the host has nothing to give it, and
/// nowhere to look for a result.
static std::string faultOfPrepare(const tfc_program_v0 &program,
                                  const tfc_entry_v0 &entry) {
  return entry.name && std::string_view(entry.name) == "prepare" &&
                 entry.flags == TFC_ENTRY_PREPARE &&
                 program.memory == TFC_MEMORY_HOST && entry.workspace_bytes &&
                 entry.run && entry.n_inputs == 0 && entry.n_outputs == 0 &&
                 entry.n_caches == 0
             ? ""
             : "an entry \"prepare\" without ports and caches, in a program of "
               "the host's memory";
}

static std::string faultOfEntry(const tfc_entry_v0 &entry) {
  if (!entry.name || !entry.workspace_bytes || !entry.run ||
      entry.query_rows == 0 || !entry.inputs || !entry.outputs ||
      entry.n_inputs == 0 || entry.n_outputs == 0) {
    return "entries with functions, inputs and outputs";
  }
  std::string fault = faultOfCaches(entry);
  for (uint32_t i = 0; fault.empty() && i < entry.n_inputs; ++i) {
    fault = faultOfPort(entry.inputs[i], true);
  }
  uint32_t numGreatest = 0;
  for (uint32_t i = 0; fault.empty() && i < entry.n_outputs; ++i) {
    fault = faultOfPort(entry.outputs[i], false);
    numGreatest += (entry.outputs[i].flags & TFC_PORT_GREATEST) != 0;
  }
  return fault.empty() && numGreatest > 1
             ? "greatest columns of one output of an entry"
             : fault;
}

static bool areEqual(const tfc_cache_v0 &a, const tfc_cache_v0 &b) {
  return a.block_tokens == b.block_tokens && a.layers == b.layers &&
         a.block_bytes == b.block_bytes && a.layer_bytes == b.layer_bytes &&
         a.dtype == b.dtype;
}

static const tfc_port_v0 *findInput(const tfc_entry_v0 &entry,
                                    std::string_view name) {
  for (uint32_t i = 0; i < entry.n_inputs; ++i) {
    if (name == entry.inputs[i].name) {
      return &entry.inputs[i];
    }
  }
  return nullptr;
}

/// Whether an entry with a port of embeddings is one that hosts know: tokens
/// have numbers then, and nobody looks for some of them.
static std::string faultOfEmbeddings(const tfc_entry_v0 &entry) {
  uint32_t ports = 0;
  bool areNumbered = false, isKnown = true;
  for (uint32_t i = 0; i < entry.n_inputs; ++i) {
    const tfc_port_v0 &port = entry.inputs[i];
    bool isGiven = port.fill == TFC_FILL_GIVEN;
    ports += (port.flags & TFC_PORT_EMBEDS) != 0;
    areNumbered |= isGiven && std::string_view(port.name) == "input_ids" &&
                   port.limit >= 0 && port.limit <= INT32_MAX;
    isKnown &= port.fill != TFC_FILL_SHIFTED && port.fill != TFC_FILL_FROM_PAD;
    isKnown &= !isGiven || std::string_view(port.name) == "input_ids";
  }
  if (ports == 0 && !areNumbered) {
    return "";
  }
  for (uint32_t i = 0; i < entry.n_outputs; ++i) {
    isKnown &= entry.outputs[i].take != TFC_TAKE_LAST_NONPAD &&
               entry.outputs[i].take != TFC_TAKE_LAST_EOS &&
               entry.outputs[i].take != TFC_TAKE_FIRST_EOS;
  }
  return ports == 1 && areNumbered && isKnown &&
                 std::string_view(entry.name) == "encode"
             ? ""
             : "one port of embeddings in an encoder, and numbers of its "
               "tokens";
}

/// Whether rows that are unseen are where hosts put them.
static std::string faultOfUnseen(const tfc_entry_v0 &entry) {
  for (uint32_t i = 0; i < entry.n_inputs; ++i) {
    const tfc_port_v0 &port = entry.inputs[i];
    if (port.fill == TFC_FILL_UNSEEN &&
        (port.limit != 2 || !(entry.flags & TFC_ENTRY_DISTANCES) ||
         std::string_view(entry.name) != "encode")) {
      return "tokens that none sees in an encoder that counts distances";
    }
  }
  return "";
}

/// Of the two entries of an encoder-decoder.
static std::string faultOfPair(const tfc_module_v0 &module,
                               const tfc_entry_v0 &encode,
                               const tfc_entry_v0 &step) {
  const tfc_port_v0 *source = findInput(encode, "input_ids");
  const tfc_port_v0 *target = findInput(step, "decoder_input_ids");
  if (!source || !target) {
    return "an encoder of input_ids and a decoder of decoder_input_ids";
  }
  for (uint32_t i = 0; i < step.n_inputs; ++i) {
    if (findInput(encode, step.inputs[i].name)) {
      return "inputs of different names in encoder and decoder";
    }
  }
  const tfc_cache_v0 &cross = cacheOf(encode, TFC_CACHE_CROSS);
  if (cross.layers == 0 || !areEqual(cross, cacheOf(step, TFC_CACHE_CROSS))) {
    return "equal cross blocks in encoder and decoder";
  }
  for (uint32_t i = 0; i < encode.n_outputs; ++i) {
    if (encode.outputs[i].rows != TFC_ROWS_TOKENS) {
      return "outputs of every token from an encoder-decoder's encoder";
    }
  }
  bool needsStart = target->fill == TFC_FILL_SHIFTED;
  if (module.decoder_start >= target->limit ||
      (needsStart && module.decoder_start < 0)) {
    return "a decoder_start among the decoder's tokens";
  }
  return "";
}

/// Of a program whose memory is a device's: what the host needs to load it. A
/// weight that is tied lies where its partner does, and has no place.
static std::string faultOfKernels(const tfc_module_v0 &module,
                                  const tfc_program_v0 &program) {
  if (program.n_kernels == 0 || !program.kernels || program.n_images == 0 ||
      !program.images) {
    return "kernels and images of a device's program";
  }
  for (uint32_t i = 0; i < program.n_kernels; ++i) {
    const tfc_kernel_v0 &kernel = program.kernels[i];
    if (!kernel.name || !kernel.block[0] || !kernel.block[1] ||
        !kernel.block[2]) {
      return "kernels with a name and a block";
    }
  }
  for (uint32_t i = 0; i < program.n_images; ++i) {
    const tfc_image_v0 &image = program.images[i];
    if (!image.data || image.bytes == 0) {
      return "images that are there";
    }
    const char *text = static_cast<const char *>(image.data);
    if (image.kind == TFC_IMAGE_PTX && text[image.bytes - 1] != '\0') {
      return "PTX that ends with a null byte";
    }
  }
  if (program.n_places != module.n_weights ||
      (program.n_places && !program.places)) {
    return "a place for each weight";
  }
  for (uint32_t w = 0; w < program.n_places; ++w) {
    const tfc_place_v0 &place = program.places[w];
    const tfc_weight_v0 &weight = module.weights[w];
    uint64_t layers = weight.layers / std::max(weight.experts, 1U);
    uint64_t last = layers - 1, begin;
    if (__builtin_mul_overflow(last, place.layer_stride, &begin) ||
        __builtin_add_overflow(begin, place.offset, &begin) ||
        begin > program.packed_bytes ||
        place.bytes > program.packed_bytes - begin) {
      return "places within the packed weights";
    }
  }
  return "";
}

static std::string faultOfProgram(const tfc_module_v0 &module,
                                  const tfc_program_v0 &program) {
  if (!program.name || !program.pack || !program.entries ||
      program.n_entries == 0) {
    return "programs with a name, entries and a pack function";
  }
  if (!program.layout_tag) {
    return "programs with a layout_tag";
  }
  if ((program.isa == TFC_ISA_CUDA) != (program.memory == TFC_MEMORY_DEVICE)) {
    return "a device's memory in programs of CUDA devices, and nowhere else";
  }
  if (program.memory == TFC_MEMORY_DEVICE) {
    std::string fault = faultOfKernels(module, program);
    if (!fault.empty()) {
      return fault;
    }
  }
  const tfc_entry_v0 *encode = nullptr, *step = nullptr;
  bool isPair = module.kind == TFC_KIND_ENCODER_DECODER;
  uint32_t numPrepares = 0;
  for (uint32_t i = 0; i < program.n_entries; ++i) {
    const tfc_entry_v0 &entry = program.entries[i];
    if (entry.flags & TFC_ENTRY_PREPARE ||
        (entry.name && std::string_view(entry.name) == "prepare")) {
      std::string fault = faultOfPrepare(program, entry);
      if (!fault.empty()) {
        return fault;
      }
      if (++numPrepares > 1) {
        return "one entry \"prepare\" at most";
      }
      continue;
    }
    std::string fault = faultOfEntry(entry);
    if (!fault.empty()) {
      return fault;
    }
    std::string_view name = entry.name;
    encode = name == "encode" ? &entry : encode;
    step = name == "step" ? &entry : step;
    for (uint32_t p = 0; p < entry.n_inputs; ++p) {
      bool isTarget = isPair && &entry == step &&
                      &entry.inputs[p] == findInput(entry, "decoder_input_ids");
      if (entry.inputs[p].fill == TFC_FILL_SHIFTED && !isTarget) {
        return "shifted tokens only in an encoder-decoder's decoder_input_ids";
      }
    }
    fault = faultOfEmbeddings(entry);
    if (fault.empty()) {
      fault = faultOfUnseen(entry);
    }
    if (!fault.empty()) {
      return fault;
    }
    for (uint32_t p = 0; isPair && p < entry.n_outputs; ++p) {
      if (entry.outputs[p].take == TFC_TAKE_FIRST_EOS) {
        return "rows at first end tokens in no encoder-decoder";
      }
    }
    if (!isPair && findCache(entry, TFC_CACHE_CROSS) >= 0) {
      return "cross blocks only in an encoder-decoder";
    }
    if ((isPair || name != "step") && findCache(entry, TFC_CACHE_STATE) >= 0) {
      return "states only in the step of a decoder";
    }
  }
  if (!isPair) {
    return "";
  }
  return encode && step ? faultOfPair(module, *encode, *step)
                        : "entries \"encode\" and \"step\" of an "
                          "encoder-decoder";
}

/// Of a weight that ranks have parts of: the last one, too, is in the tensor.
static std::string faultOfParts(const tfc_weight_v0 &weight,
                                const tfc_source_v0 &source) {
  constexpr int64_t most = INT32_MAX;
  bool isSane = source.rank_parts >= 0 && source.rank_parts <= most &&
                source.rank_rows >= 0 && source.rank_rows <= most &&
                source.rank_cols >= 0 && source.rank_cols <= most;
  int64_t last = isSane ? std::max<int64_t>(source.rank_parts, 1) - 1 : 0;
  int64_t rows = source.stored_rows - source.first_row -
                 (weight.rows - 1) * std::max<int64_t>(source.row_step, 1);
  int64_t columns = source.stored_cols != 0 ? source.stored_cols : source.cols;
  return isSane && last * source.rank_rows < rows &&
                 last * source.rank_cols <= columns - source.cols
             ? ""
             : concat("parts of weight ", weight.name,
                      " within its stored tensor");
}

static std::string faultOfWeight(const tfc_weight_v0 &weight,
                                 uint32_t numWeights) {
  if (!weight.name || weight.layers == 0) {
    return "weights with a name and layers";
  }
  if (weight.n_sources != 1 || !weight.sources) {
    return concat("weight ", weight.name, " of one source");
  }
  const tfc_source_v0 &source = *weight.sources;
  if (!isWhole(source.patterns, source.n_patterns)) {
    return concat("weight ", weight.name, " with patterns");
  }
  if (source.rank < 1 || source.rank > 2 || weight.rows <= 0 ||
      weight.cols <= 0 || source.cols != weight.cols || source.first_row < 0 ||
      source.first_row >= source.stored_rows || source.row_step < 0 ||
      (source.stored_cols != 0 && source.stored_cols < source.cols)) {
    return concat("weight ", weight.name, " within its stored tensor");
  }
  int64_t behind = source.stored_rows - 1 - source.first_row;
  if (weight.rows - 1 > behind / std::max<int64_t>(source.row_step, 1)) {
    return concat("weight ", weight.name, " within its stored tensor");
  }
  if (std::string fault = faultOfParts(weight, source); !fault.empty()) {
    return fault;
  }
  bool isStacked = source.flags & TFC_SOURCE_STACKED;
  if (weight.experts > 0 ? weight.layers % weight.experts != 0 : isStacked) {
    return concat("weight ", weight.name, " of all experts of its layers");
  }
  if (weight.flags & TFC_WEIGHT_TIED && weight.tied_to >= numWeights) {
    return concat("weight ", weight.name, " to be tied to a weight");
  }
  return "";
}

static std::string faultOfGeneration(const tfc_generation_v0 *defaults) {
  if (!defaults) {
    return "defaults of generation";
  }
  const tfc_generation_v0 &g = *defaults;
  auto isShare = [](double x) { return x >= 0 && x <= 1; };
  bool isSane = g.forced_bos >= -1 && g.forced_eos >= -1 && g.min_length >= 0 &&
                g.max_length >= 0 && g.no_repeat_ngram >= 0 &&
                g.num_beams >= 1 && g.early_stopping <= TFC_EARLY_NEVER &&
                g.temperature >= 0 && std::isfinite(g.temperature) &&
                isShare(g.top_p) && isShare(g.min_p) &&
                std::isfinite(g.length_penalty) && g.repetition_penalty > 0 &&
                std::isfinite(g.repetition_penalty) &&
                (g.suppress || g.n_suppress == 0) &&
                (g.begin_suppress || g.n_begin_suppress == 0);
  return isSane ? "" : "defaults of generation in their ranges";
}

static std::string faultOfModule(const tfc_module_v0 &module) {
  if (!module.header.name || !module.header.producer || !module.spec_json) {
    return "a model with a name, a producer and a spec";
  }
  if (module.kind > TFC_KIND_ENCODER_DECODER) {
    return "an encoder, a decoder or both";
  }
  if (module.n_programs == 0 || !module.programs) {
    return "at least one program";
  }
  if ((module.n_weights && !module.weights) || (module.n_eos && !module.eos) ||
      !isWhole(module.prefixes, module.n_prefixes) ||
      !isWhole(module.aliases, 2 * uint64_t(module.n_aliases))) {
    return "tables of the lengths it states";
  }
  std::string fault = faultOfGeneration(module.generation);
  for (uint32_t i = 0; fault.empty() && i < module.n_weights; ++i) {
    fault = faultOfWeight(module.weights[i], module.n_weights);
  }
  for (uint32_t i = 0; fault.empty() && i < module.n_programs; ++i) {
    fault = faultOfProgram(module, module.programs[i]);
  }
  return fault;
}

Status checkModule(const tfc_module_v0 &module) {
  std::string fault = faultOfModule(module);
  if (fault.empty()) {
    return {};
  }
  return makeError(Code::Incompatible, "malformed library: expected ", fault);
}

} // namespace tfc::rt
