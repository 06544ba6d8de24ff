// Loads images and weights.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/gpu/CudaProgram.h"

#include "runtime/gpu/CudaAvoid.h"
#include "runtime/gpu/CudaDevice.h"
#include "runtime/gpu/CudaUpload.h"

#include <array>

namespace tfc::rt {

Result<std::unique_ptr<CudaProgram>>
CudaProgram::load(const tfc_program_v0 &program, int device, uint32_t avoided) {
  auto context = CudaContext::open(device);
  if (!context) {
    return std::move(context.error());
  }
  if (avoided & AvoidSpare) {
    (*context)->avoidSpare();
  }
  if (avoided & AvoidGraphs) {
    (*context)->avoidGraphs();
  }
  std::unique_ptr<CudaProgram> loaded(
      new CudaProgram(program, std::move(*context)));
  CudaScope scope(loaded->context());
  Status status = scope.status();
  if (status) {
    status = loaded->checkCapability();
  }
  if (status) {
    status = loaded->loadImages(avoided);
  }
  if (status) {
    status = loaded->findKernels();
  }
  if (!status) {
    return makeError(status.error().code, "program ", quoteName(program.name),
                     ": ", status.error().message);
  }
  return loaded;
}

CudaProgram::~CudaProgram() {
  if (module) {
    CudaScope scope(*cudaContext);
    if (scope.status()) {
      cudaContext->functions().cuModuleUnload(module);
    }
  }
}

/// "8.0" of 80.
static std::string capabilityText(uint64_t capability) {
  return concat(capability / 10, ".", capability % 10);
}

Status CudaProgram::checkCapability() const {
  uint64_t needed = program.features & TFC_FEATURE_CUDA_CAPABILITY;
  bool isExact = program.features & TFC_FEATURE_CUDA_EXACT;
  auto has = static_cast<uint64_t>(cudaContext->capability());
  if (isExact ? has == needed : has >= needed) {
    return {};
  }
  return makeError(Code::Incompatible,
                   "expected a CUDA device of compute capability ",
                   capabilityText(needed), isExact ? "" : " or more", ", got ",
                   capabilityText(has));
}

Status CudaProgram::loadImages(uint32_t avoided) {
  std::string faults;
  for (uint32_t i = 0; i < program.n_images; ++i) {
    bool isCubin = program.images[i].kind == TFC_IMAGE_CUBIN;
    if (isCubin && avoided & AvoidCubin) {
      continue;
    }
    Status status = loadImage(program.images[i]);
    if (status) {
      return {};
    }
    if (Status alive = cudaContext->checkAlive(); !alive) {
      return alive;
    }
    faults += (faults.empty() ? "" : "; ") + status.error().message;
  }
  return makeError(Code::Incompatible,
                   "expected an image that the CUDA driver "
                   "loads, got ",
                   faults.empty() ? "none" : faults);
}

/// PTX is compiled by the driver, which says in a log what it does not like.
Status CudaProgram::loadImage(const tfc_image_v0 &image) {
  std::array<char, 4096> log{};
  std::array<cuda::JitOption, 2> options = {cuda::JitErrorLog,
                                            cuda::JitErrorLogBytes};
  std::array<void *, 2> values = {log.data(),
                                  reinterpret_cast<void *>(log.size())};
  cuda::ModuleHandle loaded = nullptr;
  Status status = cudaContext->check(
      cudaContext->functions().cuModuleLoadDataEx(
          &loaded, image.data, static_cast<unsigned>(options.size()),
          options.data(), values.data()),
      "cuModuleLoadDataEx",
      image.kind == TFC_IMAGE_PTX ? "to compile PTX" : "to load a cubin");
  if (status) {
    module = loaded;
    return {};
  }
  log.back() = '\0';
  std::string said = log[0] ? concat(" [", log.data(), "]") : "";
  return makeError(status.error().code, status.error().message, said);
}

Status CudaProgram::findKernels() {
  for (uint32_t i = 0; i < program.n_kernels; ++i) {
    const char *name = program.kernels[i].name;
    cuda::Function kernel = nullptr;
    Status status = cudaContext->check(
        cudaContext->functions().cuModuleGetFunction(&kernel, module, name),
        "cuModuleGetFunction", concat("to find kernel ", name));
    if (!status) {
      return status;
    }
    status = allowShared(kernel, program.kernels[i]);
    if (!status) {
      return status;
    }
    kernels.push_back(kernel);
  }
  return {};
}

/// More shared memory than any kernel gets has to be asked for.
Status CudaProgram::allowShared(cuda::Function kernel,
                                const tfc_kernel_v0 &table) const {
  if (table.shared_bytes <= cuda::plainSharedBytes) {
    return {};
  }
  return cudaContext->check(
      cudaContext->functions().cuFuncSetAttribute(
          kernel, cuda::MostDynamicSharedBytes, int(table.shared_bytes)),
      "cuFuncSetAttribute",
      concat("to let kernel ", table.name, " have ", table.shared_bytes,
             " bytes of shared memory"));
}

Status CudaProgram::upload(const Mapping &packed, const Workers &workers) {
  Status status = packedWeights.requireExactly(packed.size());
  if (!status || packed.size() == 0) {
    return status;
  }
  return CudaUpload(*cudaContext)
      .copy(packedWeights.address(), packed.data(), packed.size(), workers);
}

std::unique_ptr<Device> CudaProgram::makeDevice(const TapListener &tap) const {
  return std::make_unique<CudaDevice>(*this, tap);
}

} // namespace tfc::rt
