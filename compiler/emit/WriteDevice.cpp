// What a device's program has beside its entries: kernels, images, places.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/WriteDevice.h"

#include "compiler/emit/Record.h"
#include "compiler/support/DeviceKernels.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tfc/abi.h"

using namespace mlir;
using namespace tfc;

/// tfc_kernel_v0
static FailureOr<Field> writeKernel(gpu::BinaryOp binary,
                                    gpu::KernelMetadataAttr kernel,
                                    Tables &tables) {
  auto block = kernel.getAttr<DenseI32ArrayAttr>(
      NVVM::NVVMDialect::getMaxntidAttrName());
  if (!block || block.size() != 3) {
    return binary.emitOpError()
           << "expected the three sizes of a block of kernel "
           << kernel.getName() << " as '"
           << NVVM::NVVMDialect::getMaxntidAttrName() << "'";
  }
  auto shared = kernel.getAttr<IntegerAttr>(kSharedBytesAttrName);
  std::vector<Field> sizes;
  for (int32_t size : block.asArrayRef()) {
    sizes.push_back(Field::u32(static_cast<uint32_t>(size)));
  }
  return Record<tfc_kernel_v0>("tfc_kernel_v0")
      .set(&tfc_kernel_v0::name, tables.string(kernel.getName().getValue()))
      .set(&tfc_kernel_v0::block, Field::record(sizes))
      .set(&tfc_kernel_v0::shared_bytes,
           shared ? static_cast<uint32_t>(shared.getInt()) : 0)
      .finish();
}

/// 80 of "sm_80"
static unsigned capabilityOf(NVVM::NVVMTargetAttr target) {
  StringRef chip = target.getChip();
  unsigned capability = 0;
  chip.consume_front("sm_");
  chip.consumeInteger(10, capability);
  return capability;
}

/// tfc_image_v0
static FailureOr<Field> writeImage(gpu::BinaryOp binary, gpu::ObjectAttr object,
                                   Tables &tables) {
  auto target = dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget());
  bool isText = object.getFormat() == gpu::CompilationTarget::Assembly;
  bool isBinary = object.getFormat() == gpu::CompilationTarget::Binary;
  if (!target || (!isText && !isBinary)) {
    return binary.emitOpError()
           << "expected objects of #nvvm.target that are assembly or bin";
  }
  StringRef data = object.getObject().getValue();
  return Record<tfc_image_v0>("tfc_image_v0")
      .set(&tfc_image_v0::kind, isText ? TFC_IMAGE_PTX : TFC_IMAGE_CUBIN)
      .set(&tfc_image_v0::arch, capabilityOf(target))
      .set(&tfc_image_v0::bytes, data.size() + (isText ? 1 : 0))
      .set(&tfc_image_v0::data,
           isText ? tables.string(data) : tables.bytes(data))
      .finish();
}

/// tfc_place_v0
static Field writePlace(transformer::ParameterOp op) {
  RankedTensorType packed = op.getPackedType();
  uint64_t bytes =
      packed.getNumElements() * packed.getElementTypeBitWidth() / CHAR_BIT;
  bool isPlaced = op.getOffset().has_value();
  return Record<tfc_place_v0>("tfc_place_v0")
      .set(&tfc_place_v0::offset, isPlaced ? *op.getOffset() : 0)
      .set(&tfc_place_v0::layer_stride, op.getStride().value_or(0))
      .set(&tfc_place_v0::bytes, isPlaced ? bytes : 0)
      .finish();
}

FailureOr<DeviceTables> tfc::writeDevice(ModuleOp module, Tables &tables) {
  DeviceTables device;
  auto binaries = module.getOps<gpu::BinaryOp>();
  if (binaries.empty()) {
    return device;
  }
  gpu::BinaryOp binary = *binaries.begin();
  std::vector<Field> kernels, images, places;
  for (auto object : binary.getObjects().getAsRange<gpu::ObjectAttr>()) {
    FailureOr<Field> image = writeImage(binary, object, tables);
    if (failed(image)) {
      return failure();
    }
    images.push_back(*image);
  }
  auto first = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
  for (gpu::KernelMetadataAttr each : first.getKernels().getKernelTable()) {
    FailureOr<Field> kernel = writeKernel(binary, each, tables);
    if (failed(kernel)) {
      return failure();
    }
    kernels.push_back(*kernel);
  }
  for (transformer::ParameterOp op : transformer::listStored(module)) {
    places.push_back(writePlace(op));
  }
  device.numKernels = kernels.size();
  device.numImages = images.size();
  device.numPlaces = places.size();
  device.kernels = tables.array(kernels);
  device.images = tables.array(images);
  device.places = tables.array(places);
  return device;
}
