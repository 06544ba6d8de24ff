// What a device's program has beside its entries: kernels, images, places.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_EMIT_WRITEDEVICE_H
#define TFC_COMPILER_EMIT_WRITEDEVICE_H

#include "compiler/emit/Tables.h"

namespace tfc {

/// tfc_kernel_v0[], tfc_image_v0[] and tfc_place_v0[], null where empty, and
/// how many there are of each.
struct DeviceTables {
  Field kernels = Field::symbol(""), images = Field::symbol(""),
        places = Field::symbol("");
  size_t numKernels = 0, numImages = 0, numPlaces = 0;
};

/// Those of the `gpu.binary` of `module`; empty where it has none. A place is
/// that of a stored parameter, in the order of the weight table; a tied one,
/// which lies where its partner does, has none: all zeros. Fails, with a
/// diagnostic, on an object of another form than PTX or a binary, or a kernel
/// without the size of its blocks.
mlir::FailureOr<DeviceTables> writeDevice(mlir::ModuleOp module,
                                          Tables &tables);

} // namespace tfc

#endif // TFC_COMPILER_EMIT_WRITEDEVICE_H
