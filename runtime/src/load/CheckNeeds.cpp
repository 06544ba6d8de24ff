// What a library may ask for that this runtime does not do yet, by name.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/Module.h"

namespace tfc::rt {

static Status checkCache(const tfc_cache_v0 &cache) {
  bool isLatent = cache.key_width > 0 && cache.value_width == 0;
  if (cache.key_width != cache.value_width && !isLatent) {
    return makeError(Code::Incompatible, "expected caches whose keys and ",
                     "values are of one width, or whose values are columns of ",
                     "keys (this runtime has no others), ", "got keys of ",
                     cache.key_width, " and values of ", cache.value_width);
  }
  return {};
}

static Status checkEntry(const tfc_entry_v0 &entry, uint32_t kind) {
  for (uint32_t i = 0; entry.inputs && i < entry.n_inputs; ++i) {
    const tfc_port_v0 &port = entry.inputs[i];
    if (port.flags & TFC_PORT_EMBEDS && kind == TFC_KIND_DECODER) {
      return makeError(Code::Incompatible, "expected inputs of token ids and ",
                       "the like (this runtime gives embeddings to encoders ",
                       "alone), got ", quoteName(port.name ? port.name : ""),
                       ", rows of embeddings");
    }
  }
  Status status;
  bool hasCaches = entry.caches && entry.n_caches <= TFC_MAX_CACHES;
  for (uint32_t i = 0; status && hasCaches && i < entry.n_caches; ++i) {
    status = checkCache(entry.caches[i]);
  }
  return status;
}

Status checkNeeds(const tfc_module_v0 &module) {
  Status status;
  for (uint32_t p = 0; module.programs && p < module.n_programs; ++p) {
    const tfc_program_v0 &program = module.programs[p];
    for (uint32_t e = 0; status && program.entries && e < program.n_entries;
         ++e) {
      status = checkEntry(program.entries[e], module.kind);
    }
  }
  return status;
}

} // namespace tfc::rt
