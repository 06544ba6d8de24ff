// Reads tables of any version by the sizes that the library states.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/ModuleTables.h"

#include <algorithm>
#include <cstring>

namespace tfc::rt {

namespace {

/// What an element of a table has at least: its bytes in version 3.
struct FirstSize {
  uint32_t tfc_sizes_v0::*member;
  uint32_t bytes;
};

constexpr FirstSize firstSizes[] = {
    {&tfc_sizes_v0::module, 192},  {&tfc_sizes_v0::generation, 96},
    {&tfc_sizes_v0::weight, 56},   {&tfc_sizes_v0::source, 48},
    {&tfc_sizes_v0::program, 112}, {&tfc_sizes_v0::entry, 72},
    {&tfc_sizes_v0::port, 40},     {&tfc_sizes_v0::cache, 40},
    {&tfc_sizes_v0::kernel, 24},   {&tfc_sizes_v0::image, 24},
    {&tfc_sizes_v0::place, 24},
};
constexpr uint32_t largestSize = 4096;

bool areSane(const tfc_sizes_v0 &sizes) {
  return std::all_of(std::begin(firstSizes), std::end(firstSizes),
                     [&](const FirstSize &first) {
                       uint32_t size = sizes.*first.member;
                       return size >= first.bytes && size <= largestSize &&
                              size % 8 == 0;
                     });
}

} // namespace

template <typename T>
T *ModuleTables::copyArray(const T *from, uint64_t count, uint32_t size) {
  if (!from || count == 0) {
    return nullptr;
  }
  std::shared_ptr<T[]> to(new T[count]());
  const auto *bytes = reinterpret_cast<const uint8_t *>(from);
  for (uint64_t i = 0; i < count; ++i) {
    std::memcpy(&to[i], bytes + i * size, std::min<size_t>(size, sizeof(T)));
  }
  owned.push_back(to);
  return to.get();
}

void ModuleTables::copyWeights(tfc_module_v0 &module) {
  tfc_weight_v0 *weights =
      copyArray(module.weights, module.n_weights, module.sizes.weight);
  for (uint32_t i = 0; weights && i < module.n_weights; ++i) {
    weights[i].sources = copyArray(weights[i].sources, weights[i].n_sources,
                                   module.sizes.source);
  }
  module.weights = weights;
}

void ModuleTables::copyPrograms(tfc_module_v0 &module) {
  const tfc_sizes_v0 &sizes = module.sizes;
  tfc_program_v0 *programs =
      copyArray(module.programs, module.n_programs, sizes.program);
  for (uint32_t i = 0; programs && i < module.n_programs; ++i) {
    uint32_t count = programs[i].n_entries;
    tfc_entry_v0 *entries = copyArray(programs[i].entries, count, sizes.entry);
    for (uint32_t e = 0; entries && e < count; ++e) {
      tfc_entry_v0 &entry = entries[e];
      entry.inputs = copyArray(entry.inputs, entry.n_inputs, sizes.port);
      entry.outputs = copyArray(entry.outputs, entry.n_outputs, sizes.port);
      entry.caches = copyArray(entry.caches, entry.n_caches, sizes.cache);
    }
    tfc_program_v0 &program = programs[i];
    program.entries = entries;
    program.kernels =
        copyArray(program.kernels, program.n_kernels, sizes.kernel);
    program.images = copyArray(program.images, program.n_images, sizes.image);
    program.places = copyArray(program.places, program.n_places, sizes.place);
  }
  module.programs = programs;
}

Result<ModuleTables> ModuleTables::copy(const tfc_module_header &header) {
  const auto &from = reinterpret_cast<const tfc_module_v0 &>(header);
  if (!areSane(from.sizes)) {
    return makeError(Code::Incompatible, "malformed library: expected tables "
                                         "whose elements have their sizes");
  }
  ModuleTables tables;
  tfc_module_v0 *module = tables.copyArray(&from, 1, from.sizes.module);
  module->generation =
      tables.copyArray(module->generation, 1, module->sizes.generation);
  tables.copyWeights(*module);
  tables.copyPrograms(*module);
  tables.table = module;
  return tables;
}

int findCache(const tfc_entry_v0 &entry, uint32_t role) {
  for (uint32_t i = 0; i < entry.n_caches; ++i) {
    if (entry.caches[i].role == role && entry.caches[i].layers != 0) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

const tfc_cache_v0 &cacheOf(const tfc_entry_v0 &entry, uint32_t role) {
  static const tfc_cache_v0 none{};
  int number = findCache(entry, role);
  return number < 0 ? none : entry.caches[number];
}

} // namespace tfc::rt
