// Kernels become images: PTX, and a binary where there is ptxas.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/Passes.h"

#include "compiler/gpu/image/GeneratePtx.h"
#include "compiler/gpu/image/RunPtxas.h"
#include "compiler/support/ClearStatistics.h"
#include "compiler/support/DeviceKernels.h"
#include "compiler/support/PassOptions.h"
#include "compiler/target/TargetInfo.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <future>

namespace tfc {
#define GEN_PASS_DEF_EMITIMAGEPASS
#include "compiler/gpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// The kernels of a module with the sizes of their blocks and their shared
/// memory, in the order of their names, which is that of the table.
static FailureOr<gpu::KernelTableAttr> listKernels(gpu::GPUModuleOp module) {
  StringRef sizeName = NVVM::NVVMDialect::getMaxntidAttrName();
  SmallVector<gpu::KernelMetadataAttr> kernels;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName())) {
      Builder b(module.getContext());
      Attribute size = function->getAttr(sizeName);
      if (!size) {
        return function.emitOpError()
               << "expected the size of its blocks as the attribute '"
               << sizeName << "' (from tfc-outline-threads)";
      }
      NamedAttrList said(b.getNamedAttr(sizeName, size));
      if (Attribute bytes = function->getAttr(kSharedBytesAttrName)) {
        said.append(kSharedBytesAttrName, bytes);
      }
      kernels.push_back(gpu::KernelMetadataAttr::get(
          function.getSymNameAttr(), function.getFunctionType(), ArrayAttr(),
          said.getDictionary(b.getContext())));
    }
  }
  return gpu::KernelTableAttr::get(module.getContext(), kernels);
}

namespace {
struct EmitImagePass : tfc::impl::EmitImagePassBase<EmitImagePass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    std::optional<TargetInfo> target = TargetInfo::findProgram(chip);
    if (!target || !target->isDevice()) {
      return emitOptionError(*this, context, "chip")
             << "the name of an architecture that programs are made for, as "
                "sm_80, got \""
             << chip << '"';
    }
    if (ptxasLevel < 0 || ptxasLevel > 3) {
      return emitOptionError(*this, context, "ptxas-level")
             << "0 to 3, got " << ptxasLevel.getValue();
    }
    return success();
  }

  /// The path of ptxas; "" where PTX has to do, which is said.
  std::string choosePtxas() {
    if (!ptxas.empty()) {
      return ptxas == "none" ? "" : ptxas.getValue();
    }
    std::string path = findPtxas();
    if (path.empty()) {
      emitRemark(getOperation().getLoc())
          << "no ptxas in CUDA_HOME, /usr/local/cuda or PATH: the library has "
             "PTX alone, which the driver compiles when it is loaded";
    }
    return path;
  }

  struct Binary {
    std::string chip, code;
  };

  /// For `chip` and those of the later ones that this ptxas knows, at once: it
  /// takes seconds each.
  llvm::Expected<std::vector<Binary>> assemble(const std::string &path,
                                               StringRef ptx) {
    SmallVector<StringRef> chips = {chip};
    chips.append(listKnown(path, laterChips));
    std::vector<std::future<llvm::Expected<std::string>>> running;
    for (StringRef each : chips) {
      running.push_back(std::async(std::launch::async, [=] {
        return runPtxas(path, ptx, each, ptxasLevel);
      }));
    }
    std::vector<Binary> binaries;
    llvm::Error faults = llvm::Error::success();
    for (auto [each, code] : llvm::zip(chips, running)) {
      if (llvm::Expected<std::string> made = code.get()) {
        binaries.push_back({each.str(), std::move(*made)});
      } else {
        faults = llvm::joinErrors(std::move(faults), made.takeError());
      }
    }
    if (faults) {
      return std::move(faults);
    }
    return binaries;
  }

  LogicalResult replace(gpu::GPUModuleOp module) {
    FailureOr<gpu::KernelTableAttr> kernels = listKernels(module);
    if (failed(kernels)) {
      return failure();
    }
    FailureOr<std::string> ptx = generatePtx(module, chip);
    if (failed(ptx)) {
      return failure();
    }
    ImplicitLocOpBuilder b(module.getLoc(), module);
    SmallVector<Attribute> objects;
    auto add = [&](StringRef made, gpu::CompilationTarget format,
                   StringRef data) {
      auto target =
          NVVM::NVVMTargetAttr::get(b.getContext(), /*optLevel=*/2,
                                    "nvptx64-nvidia-cuda", made, kPtxFeature);
      objects.push_back(gpu::ObjectAttr::get(
          target, format, b.getStringAttr(data), DictionaryAttr(), *kernels));
    };
    if (std::string path = choosePtxas(); !path.empty()) {
      llvm::Expected<std::vector<Binary>> binaries = assemble(path, *ptx);
      if (!binaries) {
        return module.emitOpError() << llvm::toString(binaries.takeError());
      }
      for (const Binary &binary : *binaries) {
        add(binary.chip, gpu::CompilationTarget::Binary, binary.code);
      }
    }
    add(chip, gpu::CompilationTarget::Assembly, *ptx);
    gpu::BinaryOp::create(b, module.getName(), Attribute(), objects);
    numImages += objects.size();
    module.erase();
    return success();
  }

  void runOnOperation() override {
    clearStatistics(*this);
    for (auto module :
         llvm::to_vector(getOperation().getOps<gpu::GPUModuleOp>())) {
      if (failed(replace(module))) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
