// Binds and packs weights.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Weights.h"

#include "runtime/src/ThreadPool.h"

namespace tfc::rt {

WeightTable weightTable(const tfc_module_v0 &module) {
  WeightTable table;
  for (uint32_t i = 0; i < module.n_weights; ++i) {
    const tfc_weight_v0 &from = module.weights[i];
    WeightSource to;
    to.name = from.name;
    to.patterns.assign(from.patterns, from.patterns + from.n_patterns);
    to.firstLayer = from.first_layer;
    to.layers = from.layers;
    to.rank = from.rank;
    to.rows = from.rows;
    to.cols = from.cols;
    to.firstRow = from.first_row;
    to.storedRows = from.stored_rows;
    to.inOut = from.flags & TFC_WEIGHT_IN_OUT;
    to.fillZeros = from.flags & TFC_WEIGHT_FILL_ZEROS;
    to.tiedTo = from.flags & TFC_WEIGHT_TIED ? int64_t(from.tied_to) : -1;
    table.weights.push_back(std::move(to));
  }
  table.prefixes.assign(module.prefixes, module.prefixes + module.n_prefixes);
  for (uint32_t i = 0; i < module.n_aliases; ++i) {
    table.aliases.emplace_back(module.aliases[2 * i],
                               module.aliases[2 * i + 1]);
  }
  return table;
}

namespace {

uint32_t abiDType(DType dtype) {
  return dtype == DType::F32   ? TFC_DTYPE_F32
         : dtype == DType::F16 ? TFC_DTYPE_F16
                               : TFC_DTYPE_BF16;
}

struct PackJob {
  const tfc_program_v0 *program;
  std::vector<tfc_pack_v0> calls;
  std::vector<int32_t> results; // of the calls
};

void packRange(void *arg, int64_t begin, int64_t end, uint32_t) {
  PackJob &job = *static_cast<PackJob *>(arg);
  for (int64_t i = begin; i < end; ++i) {
    job.results[i] = job.program->pack(&job.calls[i]);
  }
}

} // namespace

Result<Mapping> packWeights(const tfc_module_v0 &module,
                            const tfc_program_v0 &program,
                            const std::string &path, uint32_t threads) {
  Result<TensorFiles> files = TensorFiles::open(path);
  if (!files) {
    return std::move(files.error());
  }
  Result<BoundWeights> bound = bindWeights(*files, weightTable(module));
  if (!bound) {
    return std::move(bound.error());
  }
  Result<Mapping> packed = Mapping::allocate(program.packed_bytes);
  if (!packed) {
    return packed;
  }
  PackJob job{&program, {}, {}};
  for (uint32_t w = 0; w < module.n_weights; ++w) {
    for (uint32_t layer = 0; layer < module.weights[w].layers; ++layer) {
      const Tensor *tensor = (*bound)[w][layer];
      if (tensor && !(module.weights[w].flags & TFC_WEIGHT_TIED)) {
        job.calls.push_back({w, layer, abiDType(tensor->dtype), 0, tensor->data,
                             packed->data()});
      }
    }
  }
  job.results.resize(job.calls.size());
  ThreadPool::instance().parallelFor(
      threads, static_cast<int64_t>(job.calls.size()), packRange, &job);
  for (size_t i = 0; i < job.calls.size(); ++i) {
    if (job.results[i] != 0) {
      return makeError(Code::Internal, "expected weight ",
                       module.weights[job.calls[i].weight].name,
                       " to be packed, got status ", job.results[i]);
    }
  }
  return packed;
}

} // namespace tfc::rt
