// Describes a model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/capi/Info.h"

#include "runtime/src/choose/Decoding.h"
#include "runtime/src/load/ModuleTables.h"
#include "runtime/src/step/Inputs.h"

namespace tfc::rt {

PortTables::PortTables(const Model &model)
    : decoding(defaultDecoding(model.table())) {
  for (const tfc_entry_v0 *entry : {model.encoder(), model.decoder()}) {
    for (uint32_t i = 0; entry && i < entry->n_inputs; ++i) {
      const tfc_port_v0 &port = entry->inputs[i];
      bool isGiven = port.flags & TFC_PORT_EMBEDS;
      if (port.fill != TFC_FILL_GIVEN) {
        inputs.push_back({port.name, isGiven ? 3U : 2U,
                          port.fill == TFC_FILL_REQUIRED, port.width,
                          isGiven ? countLeading(*entry) : port.limit});
      }
    }
  }
  for (const tfc_entry_v0 *entry : {model.decoder(), model.encoder()}) {
    if (entry) {
      addOutputs(*entry);
    }
  }
}

void PortTables::addOutputs(const tfc_entry_v0 &entry) {
  for (uint32_t i = 0; i < entry.n_outputs; ++i) {
    const tfc_port_v0 &port = entry.outputs[i];
    bool isPerToken = port.rows == TFC_ROWS_TOKENS || port.take == TFC_TAKE_ALL;
    uint32_t rank = isPerToken ? 3 : 2;
    rank -= port.flags & TFC_PORT_SQUEEZED ? 1 : 0;
    outputs.push_back({port.name, rank, 0, port.width, 0});
  }
}

static uint64_t bytesPerToken(const tfc_entry_v0 &entry, uint32_t role) {
  const tfc_cache_v0 &cache = cacheOf(entry, role);
  return cache.layers == 0 ? 0
                           : (cache.block_bytes + cache.block_tokens - 1) /
                                 cache.block_tokens;
}

tfc_model_info describe(const Model &model, const PortTables &ports) {
  const tfc_module_v0 &table = model.table();
  tfc_model_info info{};
  info.name = table.header.name;
  info.kind = kindName(table.kind);
  info.producer = table.header.producer;
  info.program = model.program().name;
  info.spec = table.spec_json;
  info.spec_hash = table.spec_hash;
  info.max_positions = table.max_positions;
  info.pad = table.pad;
  info.bos = table.bos;
  info.eos = table.eos;
  info.n_eos = table.n_eos;
  info.can_generate = model.generateEntry() != nullptr;
  info.inputs = ports.inputs.data();
  info.outputs = ports.outputs.data();
  info.n_inputs = static_cast<uint32_t>(ports.inputs.size());
  info.n_outputs = static_cast<uint32_t>(ports.outputs.size());
  info.decoding = &ports.decoding;
  info.threads = model.numThreads();
  info.weight_bytes = model.weightBytes();
  // Of an encoder-decoder, the decoder's: the encoder's is scratch.
  const tfc_entry_v0 *step = model.decoder();
  info.cache_bytes_per_token =
      bytesPerToken(step ? *step : *model.encoder(), TFC_CACHE_SELF);
  if (model.isEncoderDecoder()) {
    info.cross_bytes_per_token = bytesPerToken(*step, TFC_CACHE_CROSS);
  }
  info.packed_fault =
      model.packedFault().empty() ? nullptr : model.packedFault().c_str();
  return info;
}

} // namespace tfc::rt
