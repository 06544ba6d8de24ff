// Finds quantised modules by their tensors and puts each one's matrix in the
// place of its parts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/quantized/QuantizedModule.h"

#include <algorithm>
#include <set>

namespace tfc::rt {

namespace {

bool isNarrowFloat(DType dtype) {
  return dtype == DType::F8E5M2 || dtype == DType::F8E4M3Fnuz ||
         dtype == DType::F8E5M2Fnuz || dtype == DType::F4 ||
         dtype == DType::F6E2M3 || dtype == DType::F6E3M2;
}

/// Whether a name ends with a part of its own, ".NAME".
bool hasPart(std::string_view name, std::string_view part) {
  return name.size() > part.size() + 1 &&
         name.substr(name.size() - part.size()) == part &&
         name[name.size() - part.size() - 1] == '.';
}

template <size_t N>
bool hasAnyPart(std::string_view name, const char *const (&parts)[N]) {
  return std::any_of(std::begin(parts), std::end(parts),
                     [&](const char *part) { return hasPart(name, part); });
}

/// Parts that say how activations or the cache are quantised, which tfc does by
/// rules of its own.
bool isOfActivations(std::string_view name) {
  static constexpr const char *parts[] = {"input_scale",
                                          "input_zero_point",
                                          "input_global_scale",
                                          "output_scale",
                                          "output_zero_point",
                                          "activation_scale",
                                          "activation_scale_ub",
                                          "qscale_act",
                                          "k_scale",
                                          "v_scale",
                                          "q_scale",
                                          "k_zero_point",
                                          "v_zero_point",
                                          "kv_scale"};
  return hasAnyPart(name, parts);
}

/// Parts of quantised matrices, by whom a module that lacks others is found.
bool isLeftOver(std::string_view name) {
  static constexpr const char *parts[] = {"weight_scale",
                                          "weight_scale_inv",
                                          "weight_zero_point",
                                          "weight_g_idx",
                                          "weight_shape",
                                          "weight_global_scale",
                                          "qzeros",
                                          "g_idx"};
  return hasAnyPart(name, parts);
}

Result<MadeMatrix> makeGateUp(QuantizedModule &module) {
  return makeExpertsFp4(module, "gate_up_proj");
}
Result<MadeMatrix> makeDown(QuantizedModule &module) {
  return makeExpertsFp4(module, "down_proj");
}

class Finder {
public:
  Finder(const std::string &path, const std::vector<const Tensor *> &stored)
      : path(path), stored(stored) {
    for (const Tensor *tensor : stored) {
      byName.emplace(tensor->name, tensor);
    }
  }

  Result<QuantizedTensors> run() {
    settings = readQuantizedSettings(path);
    faults.add(refuseByMethod(settings));
    for (const Error &error : settings.refused) {
      faults.add(error);
    }
    for (size_t i = 0; i < stored.size() && !faults.any(); ++i) {
      faults.add(refuseByTensor(*stored[i]));
    }
    if (!faults.any()) {
      makeAll();
    }
    Status status = faults.take();
    if (!status) {
      return std::move(status.error());
    }
    return std::move(found);
  }

private:
  using Maker = Result<MadeMatrix> (*)(QuantizedModule &);

  const std::string &path;
  const std::vector<const Tensor *> &stored;
  TensorsByName byName;
  QuantizedSettings settings;
  Faults faults;
  QuantizedTensors found;
  std::set<const Tensor *> used;
  std::map<std::string, size_t> counts; // of formats

  /// Who reads the module that this tensor is the main part of.
  Maker makerOf(const Tensor &tensor, std::string_view &part) {
    std::string_view name = tensor.name;
    part = hasPart(name, "qweight")         ? "qweight"
           : hasPart(name, "weight_packed") ? "weight_packed"
           : hasPart(name, "weight")        ? "weight"
                                            : "";
    for (std::string_view ofExperts :
         {"gate_up_proj_blocks", "down_proj_blocks"}) {
      if (hasPart(name, ofExperts)) {
        part = ofExperts;
        return ofExperts == "down_proj_blocks" ? makeDown : makeGateUp;
      }
    }
    if (part == "qweight") {
      return makeGptqOrAwq;
    }
    if (part == "weight_packed") {
      return tensor.dtype == DType::U8 ? makeFp4 : makeCompressedPacked;
    }
    if (part == "weight" && tensor.dtype == DType::I8) {
      return makeCompressedInt8;
    }
    return part == "weight" && tensor.dtype == DType::F8E4M3 ? makeFp8
                                                             : nullptr;
  }

  /// Of experts a name is that of the codes, without what it ends with.
  static std::string nameOf(std::string_view part) {
    size_t end = part.rfind("_blocks");
    return std::string(end == part.npos ? "weight" : part.substr(0, end));
  }

  void makeAll() {
    auto zeros = readGptqZeros(byName, settings);
    if (!zeros) {
      faults.add(std::move(zeros.error()));
      return;
    }
    settings.zeros = *zeros;
    for (const Tensor *tensor : stored) {
      make(*tensor);
    }
    size_t ofActivations = 0;
    for (const Tensor *tensor : stored) {
      if (used.count(tensor)) {
        continue;
      }
      if (!counts.empty() && isOfActivations(tensor->name)) {
        ++ofActivations;
        continue;
      }
      // One such tensor tells enough, and of a faulty module all are left.
      if (!faults.any()) {
        refuseLeftOver(*tensor);
      }
      found.others.push_back(tensor);
    }
    describe(ofActivations);
  }

  void make(const Tensor &tensor) {
    std::string_view part;
    Maker maker = makerOf(tensor, part);
    if (!maker) {
      return;
    }
    if (!settings.fault.empty()) {
      faults.add(makeError(Code::InvalidArgument, settings.fault,
                           " (it says how the tensors are quantised)"));
      settings.fault.clear();
    }
    std::string stem =
        tensor.name.substr(0, tensor.name.size() - part.size() - 1);
    QuantizedModule module(stem, byName, settings);
    Result<MadeMatrix> made = maker(module);
    used.insert(module.parts.begin(), module.parts.end());
    if (!made) {
      faults.add(std::move(made.error()));
      return;
    }
    ++counts[made->format];
    addMatrix(tensor, stem + "." + nameOf(part), std::move(made->matrix),
              module.parts);
  }

  void addMatrix(const Tensor &main, std::string name,
                 std::shared_ptr<QuantizedMatrix> matrix,
                 std::vector<const Tensor *> parts) {
    Tensor tensor;
    tensor.name = std::move(name);
    tensor.dtype = matrix->dtype;
    tensor.shape = {matrix->rows, matrix->columns};
    if (main.shape.size() == 4) {
      tensor.shape = {main.shape[0], main.shape[1], matrix->columns};
    }
    tensor.bytes = static_cast<uint64_t>(tensor.elements()) * sizeof(float);
    tensor.file = main.file;
    matrix->parts = std::move(parts);
    tensor.quantized = std::move(matrix);
    found.matrices.push_back(std::move(tensor));
  }

  /// A tensor that only a quantised matrix has, of which the rest is not there
  /// or not read.
  void refuseLeftOver(const Tensor &tensor) {
    if (isLeftOver(tensor.name)) {
      faults.add(makeError(
          Code::Unsupported, tensor.file, ": tensor ", quoteName(tensor.name),
          ": expected the integers or narrow floats that it belongs to beside "
          "it (weight of I8 or F8_E4M3, weight_packed or qweight), got none"));
    } else if (hasPart(tensor.name, "weight") && isNarrowFloat(tensor.dtype)) {
      faults.add(makeError(
          Code::Unsupported, tensor.file, ": tensor ", quoteName(tensor.name),
          ": expected F8_E4M3 of the narrow floats, got ",
          dtypeName(tensor.dtype), "; import the model without it"));
    }
  }

  void describe(size_t ofActivations) {
    for (const auto &[format, count] : counts) {
      found.formats.push_back(concat("quantised: ", format, ": ", count,
                                     count == 1 ? " matrix" : " matrices"));
    }
    if (settings.zeros.wrapped > 0) {
      found.formats.push_back(
          concat("zero points without one: ", settings.zeros.wrapped,
                 " of GPTQ are all ones, read with carries as GPTQModel "
                 "writes them; AutoGPTQ reads others"));
    }
    if (ofActivations > 0) {
      found.formats.push_back(concat("scales without effect: ", ofActivations,
                                     " of activations or of the cache"));
    }
  }
};

} // namespace

Result<QuantizedTensors>
findQuantized(const std::string &path,
              const std::vector<const Tensor *> &stored) {
  return Finder(path, stored).run();
}

} // namespace tfc::rt
