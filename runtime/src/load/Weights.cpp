// Binds and packs weights.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/Weights.h"

#include "runtime/src/files/quantized/Quantized.h"
#include "runtime/src/load/Prepare.h"
#include "runtime/src/load/RankPart.h"
#include "runtime/src/memory/Memory.h"

#include <algorithm>
#include <cmath>
#include <sys/mman.h>

namespace tfc::rt {

WeightTable weightTable(const tfc_module_v0 &module) {
  WeightTable table;
  for (uint32_t i = 0; i < module.n_weights; ++i) {
    const tfc_weight_v0 &from = module.weights[i];
    WeightSource to;
    to.name = from.name;
    const tfc_source_v0 &source = *from.sources;
    to.patterns.assign(source.patterns, source.patterns + source.n_patterns);
    to.firstLayer = from.first_layer;
    to.layerStep = from.layer_step;
    to.layers = from.layers;
    to.rank = source.rank;
    to.rows = from.rows;
    to.cols = from.cols;
    to.firstRow = source.first_row;
    to.storedRows = source.stored_rows;
    to.rowStep = std::max<int64_t>(source.row_step, 1);
    to.storedCols = source.stored_cols;
    to.inOut = source.flags & TFC_SOURCE_IN_OUT;
    to.fillZeros = source.flags & TFC_SOURCE_FILL_ZEROS;
    to.stacked = source.flags & TFC_SOURCE_STACKED;
    to.experts = from.experts;
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

void releasePages(const Tensor &tensor, uint64_t first, uint64_t bytes) {
  if (!tensor.isMapped) {
    return;
  }
  uintptr_t at = reinterpret_cast<uintptr_t>(tensor.data) + first;
  uintptr_t begin = roundUpToPage(at), end = roundDownToPage(at + bytes);
  if (begin < end) {
    madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
  }
}

void releasePages(const Tensor &tensor) {
  if (!tensor.quantized) {
    releasePages(tensor, 0, tensor.bytes);
    return;
  }
  for (const Tensor *part : tensor.quantized->parts) {
    releasePages(*part, 0, part->bytes);
  }
}

/// Of the one tensor that it is read from, or of one of those of all experts.
static uint64_t storedBytes(const tfc_weight_v0 &weight, const Tensor &tensor) {
  return weight.sources->flags & TFC_SOURCE_STACKED
             ? tensor.bytes / weight.experts
             : tensor.bytes;
}

/// Of what is stored in rows, those that the weight has.
uint64_t bytesToPack(const tfc_weight_v0 &weight, const Tensor &tensor) {
  const tfc_source_v0 &source = *weight.sources;
  uint64_t bytes = storedBytes(weight, tensor);
  return source.flags & TFC_SOURCE_IN_OUT
             ? bytes
             : bytes / static_cast<uint64_t>(source.stored_rows) *
                   static_cast<uint64_t>(weight.rows);
}

namespace {

uint32_t abiDType(DType dtype) {
  return dtype == DType::F32   ? TFC_DTYPE_F32
         : dtype == DType::F16 ? TFC_DTYPE_F16
                               : TFC_DTYPE_BF16;
}

/// Stored bytes of one call of `pack`: so much of a checkpoint is in memory
/// beside the packed weights, for each thread.
constexpr int64_t rangeBytes = int64_t(4) << 20;
/// What ranges of rows begin on a multiple of: two threads seldom write to the
/// same panel.
constexpr int64_t rangeRows = 64;

/// Rows of a (weight, layer) to pack, the bytes of the tensor that nobody needs
/// afterwards, and how that went.
struct PackCall {
  uint32_t weight, layer;
  int64_t rowBegin, rowEnd;
  const Tensor *tensor; // null: random numbers
  uint64_t firstByte = 0, bytes = 0;
  int32_t result = 0;
  bool isNotFinite = false; // of a quantized tensor
};

KeptForm keptForm(const tfc_weight_v0 &weight) {
  return {weight.kept == TFC_DTYPE_I4, weight.group,
          (weight.flags & TFC_WEIGHT_ZEROS) != 0,
          (weight.flags & TFC_WEIGHT_FLOAT_ZEROS) != 0};
}

/// The tensor's matrix, if its integers are what the library keeps; or null.
const IntegerMatrix *findKept(const tfc_weight_v0 &weight,
                              const Tensor &tensor) {
  const tfc_source_v0 &source = *weight.sources;
  bool isInOut = source.flags & TFC_SOURCE_IN_OUT;
  // Rows of all of their columns.
  bool isTaken = tensor.quantized && weight.kept != 0 &&
                 source.stored_cols == 0 &&
                 (!isInOut || tensor.quantized->isOutIn);
  return isTaken ? findKept(*tensor.quantized, keptForm(weight)) : nullptr;
}

/// Adds the calls that pack a bound tensor. What is stored across its rows is
/// packed at once, but integers that are kept as they are.
void addCalls(std::vector<PackCall> &calls, const tfc_module_v0 &module,
              uint32_t w, uint32_t layer, const Tensor &tensor, uint32_t rank) {
  const tfc_weight_v0 &weight = module.weights[w];
  const tfc_source_v0 &source = *weight.sources;
  RankPart part = partOf(module, source, rank);
  if (part.isNone) {
    return;
  }
  uint64_t bytes = storedBytes(weight, tensor), first = 0;
  if (source.flags & TFC_SOURCE_STACKED) {
    first = bytes * (layer % weight.experts);
  }
  if (source.flags & TFC_SOURCE_IN_OUT && !findKept(weight, tensor)) {
    calls.push_back({w, layer, 0, weight.rows, &tensor, first, bytes});
    return;
  }
  uint64_t rowBytes = bytes / static_cast<uint64_t>(source.stored_rows);
  int64_t step = std::max<int64_t>(source.row_step, 1);
  int64_t rows = rangeBytes / static_cast<int64_t>(rowBytes) / step;
  rows = std::max(rows / rangeRows, int64_t(1)) * rangeRows;
  for (int64_t begin = 0; begin < weight.rows; begin += rows) {
    int64_t end = std::min(begin + rows, weight.rows);
    int64_t row = source.first_row + part.rows + begin * step;
    calls.push_back(
        {w, layer, begin, end, &tensor,
         first + static_cast<uint64_t>(row) * rowBytes,
         static_cast<uint64_t>((end - begin - 1) * step + 1) * rowBytes});
  }
}

struct PackJob {
  const tfc_module_v0 &module;
  const tfc_program_v0 &program;
  void *packed;
  Loading &loading;
  uint32_t rank = 0;
  std::vector<PackCall> calls = {};

  RankPart partOf(const PackCall &call) const {
    return rt::partOf(module, *module.weights[call.weight].sources, rank);
  }
  /// `data`: where the whole tensor begins.
  void pack(PackCall &call, const void *data, uint32_t dtype) const {
    int64_t bytes = dtype == TFC_DTYPE_F32 ? 4 : 2;
    uintptr_t part = reinterpret_cast<uintptr_t>(data) +
                     static_cast<uintptr_t>(partOf(call).elements * bytes);
    tfc_stored_v0 stored{reinterpret_cast<const void *>(part), dtype, 0};
    tfc_pack_v0 pack{
        sizeof(pack),       call.weight,      call.layer,  1, &stored, packed,
        call.rowBegin,      call.rowEnd,      /*scale=*/1,
        /*scales=*/nullptr, /*zeros=*/nullptr};
    call.result = program.pack(&pack);
  }
  void packKept(PackCall &call, const IntegerMatrix &matrix) const;
};

/// The first row of a call's expert, where those of all experts are a matrix.
int64_t firstRowOf(const tfc_weight_v0 &weight, const PackCall &call,
                   const QuantizedMatrix &matrix) {
  bool isStacked = weight.sources->flags & TFC_SOURCE_STACKED;
  return isStacked ? call.layer % weight.experts *
                         (matrix.rows / int64_t(weight.experts))
                   : 0;
}

/// Packs rows of integers as they are.
void PackJob::packKept(PackCall &call, const IntegerMatrix &matrix) const {
  const tfc_weight_v0 &weight = module.weights[call.weight];
  int64_t step = std::max<int64_t>(weight.sources->row_step, 1);
  KeptRows rows = readKept(matrix, keptForm(weight),
                           firstRowOf(weight, call, matrix) +
                               weight.sources->first_row + call.rowBegin * step,
                           call.rowEnd - call.rowBegin, step);
  auto areFinite = [](const std::vector<float> &all) {
    return std::all_of(all.begin(), all.end(),
                       [](float x) { return std::isfinite(x); });
  };
  call.isNotFinite = !areFinite(rows.scales) || !areFinite(rows.floatZeros);
  if (call.isNotFinite) {
    return;
  }
  tfc_stored_v0 stored{rows.integers.data(), weight.kept, 0};
  const void *zeros = rows.zeros.data();
  if (!rows.floatZeros.empty()) {
    zeros = rows.floatZeros.data();
  }
  tfc_pack_v0 pack{sizeof(pack), call.weight,        call.layer,  1, &stored,
                   packed,       call.rowBegin,      call.rowEnd,
                   /*scale=*/1,  rows.scales.data(), zeros};
  call.result = program.pack(&pack);
}

/// `count` rows from `first` on, a whole matrix, as models store it, [in, out],
/// of one that is stored in rows of outputs or not.
std::vector<float> decodeInOut(const QuantizedMatrix &matrix, int64_t first,
                               int64_t count) {
  auto rows = static_cast<size_t>(count),
       columns = static_cast<size_t>(matrix.columns);
  std::vector<float> values(rows * columns);
  if (!matrix.isOutIn) {
    matrix.decode(first, count, values.data());
    return values;
  }
  std::vector<float> line(columns);
  for (size_t row = 0; row < rows; ++row) {
    matrix.decode(first + static_cast<int64_t>(row), 1, line.data());
    for (size_t column = 0; column < columns; ++column) {
      values[column * rows + row] = line[column];
    }
  }
  return values;
}

/// Packs rows of a matrix that has to be decoded first.
void packDecoded(const PackJob &job, PackCall &call) {
  const QuantizedMatrix &matrix = *call.tensor->quantized;
  const tfc_weight_v0 &weight = job.module.weights[call.weight];
  if (const IntegerMatrix *kept = findKept(weight, *call.tensor)) {
    job.packKept(call, *kept);
    return;
  }
  const tfc_source_v0 &source = *weight.sources;
  bool isStacked = source.flags & TFC_SOURCE_STACKED;
  int64_t own = matrix.rows / (isStacked ? weight.experts : 1);
  int64_t before = firstRowOf(weight, call, matrix);
  std::vector<float> values;
  if (source.flags & TFC_SOURCE_IN_OUT) {
    values = decodeInOut(matrix, before, own);
  } else {
    int64_t step = std::max<int64_t>(source.row_step, 1);
    int64_t rows = (call.rowEnd - call.rowBegin - 1) * step + 1;
    values.resize(static_cast<size_t>(rows * matrix.columns));
    int64_t first = before + job.partOf(call).rows + source.first_row +
                    call.rowBegin * step;
    matrix.decode(first, rows, values.data());
  }
  call.isNotFinite = !std::all_of(values.begin(), values.end(),
                                  [](float x) { return std::isfinite(x); });
  if (call.isNotFinite) {
    return;
  }
  // Where the whole tensor would begin: `pack` reads the call's rows alone.
  uintptr_t begin = reinterpret_cast<uintptr_t>(values.data()) - call.firstByte;
  job.pack(call, reinterpret_cast<const void *>(begin), TFC_DTYPE_F32);
}

void packRange(void *arg, int64_t begin, int64_t end, uint32_t) {
  PackJob &job = *static_cast<PackJob *>(arg);
  for (int64_t i = begin; i < end && !job.loading.isCancelled(); ++i) {
    PackCall &call = job.calls[i];
    // So that memory never holds two copies of the model.
    if (call.tensor->quantized) {
      packDecoded(job, call);
      releasePages(*call.tensor);
    } else {
      job.pack(call, call.tensor->data, abiDType(call.tensor->dtype));
      releasePages(*call.tensor, call.firstByte, call.bytes);
    }
    job.loading.add(call.bytes);
  }
}

/// A stored tensor of a weight. Vectors are near 1 or 0, as norms and biases
/// are; the range of matrices keeps activations near 1 at any width.
std::vector<float> randomTensor(const tfc_weight_v0 &weight, uint64_t seed) {
  const tfc_source_v0 &source = *weight.sources;
  int64_t columns = std::max(source.cols, source.stored_cols);
  std::vector<float> values(static_cast<size_t>(source.stored_rows) *
                            static_cast<size_t>(columns));
  std::string_view name = weight.name;
  bool isNorm =
      source.rank == 1 && name.find("norm.weight") != std::string_view::npos;
  float range =
      source.rank == 1 ? 0.1f : 1 / std::sqrt(static_cast<float>(weight.cols));
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (float &value : values) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    float unit = static_cast<float>(state >> 40) / 8388608.0f - 1;
    value = range * unit + (isNorm ? 1.0f : 0.0f);
  }
  return values;
}

/// Where the experts before that of number `layer` would begin, if they were
/// stored in front of `values`: nobody reads there.
const void *beforeExpert(const tfc_weight_v0 &weight, uint32_t layer,
                         const std::vector<float> &values) {
  uint64_t experts =
      weight.sources->flags & TFC_SOURCE_STACKED ? layer % weight.experts : 0;
  return reinterpret_cast<const void *>(
      reinterpret_cast<uintptr_t>(values.data()) -
      experts * values.size() * sizeof(float));
}

void packRandomRange(void *arg, int64_t begin, int64_t end, uint32_t) {
  PackJob &job = *static_cast<PackJob *>(arg);
  for (int64_t i = begin; i < end && !job.loading.isCancelled(); ++i) {
    PackCall &call = job.calls[i];
    const tfc_weight_v0 &weight = job.module.weights[call.weight];
    std::vector<float> values =
        randomTensor(weight, uint64_t(call.weight) << 32 | (call.layer + 1));
    job.pack(call, beforeExpert(weight, call.layer, values), TFC_DTYPE_F32);
  }
}

/// Whether the call packs integers as they are.
bool isKept(const tfc_weight_v0 &weight, const PackCall &call) {
  return call.tensor && findKept(weight, *call.tensor);
}

/// What went wrong with a call, and in which tensor where there is one.
Error packError(const PackJob &job, const PackCall &call) {
  const char *name = job.module.weights[call.weight].name;
  if (call.isNotFinite) {
    return makeError(Code::Incompatible, "expected finite values of ", name,
                     ", got the quantised tensor ", call.tensor->name, " of ",
                     call.tensor->file,
                     " with a NaN or an infinity among its values or scales");
  }
  const tfc_weight_v0 &weight = job.module.weights[call.weight];
  if (call.result == TFC_PACK_ROUNDED &&
      weight.flags & TFC_WEIGHT_HALF_SCALES && isKept(weight, call)) {
    return makeError(
        Code::Incompatible, "expected scales of ", name,
        " that 16 bits hold as the library keeps them (layout ",
        job.program.layout_tag, "), got tensor ", call.tensor->name, " of ",
        call.tensor->file,
        ", whose scales it would round; compile what tfc import makes of this "
        "checkpoint, or a spec with \"scales\": \"f32\" in its precision");
  }
  if (call.result == TFC_PACK_ROUNDED) {
    return makeError(Code::Incompatible, "expected values of ", name,
                     " that the library can keep (layout ",
                     job.program.layout_tag, "), got tensor ",
                     call.tensor->name, " of ", call.tensor->file,
                     ", which it would round; compile with --dtype f32 to keep "
                     "them, or with another --dtype to round them");
  }
  if (call.result == TFC_PACK_NOT_FINITE) {
    return makeError(Code::Incompatible, "expected finite values of ", name,
                     " (the library keeps multiples of the greatest one of a "
                     "row), got tensor ",
                     call.tensor->name, " of ", call.tensor->file,
                     " with a NaN or an infinity");
  }
  return makeError(Code::Internal, "expected weight ", name,
                   " to be packed, got status ", call.result);
}

/// Runs all calls; an error when one fails. Random weights may be rounded.
Status runPack(PackJob &job, tfc_body_fn range) {
  job.loading.workers().parallelFor(static_cast<int64_t>(job.calls.size()),
                                    range, &job);
  Status status = job.loading.status();
  if (!status) {
    return status;
  }
  for (const PackCall &call : job.calls) {
    if (call.isNotFinite ||
        (call.result != 0 &&
         (call.tensor || call.result != TFC_PACK_ROUNDED))) {
      return packError(job, call);
    }
  }
  return {};
}

} // namespace

Result<Mapping> packWeights(const tfc_module_v0 &module,
                            const tfc_program_v0 &program,
                            const BoundWeights &bound, Loading &loading,
                            uint32_t rank) {
  Result<Mapping> packed = Mapping::allocate(program.packed_bytes);
  if (!packed) {
    return packed;
  }
  PackJob job{module, program, packed->data(), loading, rank};
  for (uint32_t w = 0; w < module.n_weights; ++w) {
    for (uint32_t layer = 0; layer < module.weights[w].layers; ++layer) {
      const Tensor *tensor = bound[w][layer];
      if (tensor && !(module.weights[w].flags & TFC_WEIGHT_TIED)) {
        addCalls(job.calls, module, w, layer, *tensor, rank);
      }
    }
  }
  Status status = runPack(job, packRange);
  if (status) {
    status = prepareWeights(program, packed->data(), loading);
  }
  if (!status) {
    return std::move(status.error());
  }
  return packed;
}

Result<Mapping> packRandomWeights(const tfc_module_v0 &module,
                                  const tfc_program_v0 &program,
                                  Loading &loading, uint32_t rank) {
  Result<Mapping> packed = Mapping::allocate(program.packed_bytes);
  if (!packed) {
    return packed;
  }
  PackJob job{module, program, packed->data(), loading, rank};
  for (uint32_t w = 0; w < module.n_weights; ++w) {
    for (uint32_t layer = 0; layer < module.weights[w].layers; ++layer) {
      bool isTied = module.weights[w].flags & TFC_WEIGHT_TIED;
      if (!isTied && !partOf(module, *module.weights[w].sources, rank).isNone) {
        job.calls.push_back({w, layer, 0, module.weights[w].rows, nullptr});
      }
    }
  }
  Status status = runPack(job, packRandomRange);
  if (status) {
    status = prepareWeights(program, packed->data(), loading);
  }
  if (!status) {
    return std::move(status.error());
  }
  return packed;
}

} // namespace tfc::rt
