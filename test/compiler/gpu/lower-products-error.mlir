// What kernels cannot do is an error: who lowers to panels of one row knows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-products --split-input-file --verify-diagnostics

func.func @odd(%x: memref<?x62xf32>, %w: memref<32x62x1xf32>,
               %y: memref<?x32xf32>) {
  // expected-error @below {{expected rows of f32 or of 16 bits, of the input and in panels of one row (or integers in fragments for the latter), that are a multiple of 16 bytes long and apart, got 'memref<?x62xf32>' and 'memref<32x62x1xf32>'}}
  transformer.product %x, %w outs(%y)
      : memref<?x62xf32>, memref<32x62x1xf32>, memref<?x32xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

func.func @words(%x: memref<?x64xbf16>, %w: memref<32x32x1x2xbf16>,
                 %y: memref<?x32xbf16>) {
  // expected-error @below {{expected rows of f32 or of 16 bits}}
  transformer.product %x, %w outs(%y)
      : memref<?x64xbf16>, memref<32x32x1x2xbf16>, memref<?x32xbf16> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

func.func @bytes_in_rows(%x: memref<?x64xbf16>, %w: memref<32x64x1xi8>,
                         %y: memref<?x32xbf16>) {
  // expected-error @below {{expected rows of f32 or of 16 bits}}
  transformer.product %x, %w outs(%y)
      : memref<?x64xbf16>, memref<32x64x1xi8>, memref<?x32xbf16> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

func.func @wide_scales(%x: memref<?x64xbf16>, %w: memref<32x1x1x32xi8>,
                       %g: memref<2x2x16xf32>, %y: memref<?x32xbf16>) {
  // expected-error @below {{expected groups of whole times 32 columns, for 8 rows at a time, got 'memref<2x2x16xf32>' for groups of 32}}
  transformer.product %x, %w groups(%g) outs(%y)
      : memref<?x64xbf16>, memref<32x1x1x32xi8>, memref<2x2x16xf32>,
        memref<?x32xbf16> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

func.func @long_panels(%x: memref<?x64xf16>, %w: memref<2x64x16xf16>,
                       %y: memref<?x32xf16>) {
  // expected-error @below {{expected rows of f32 or of 16 bits}}
  transformer.product %x, %w outs(%y)
      : memref<?x64xf16>, memref<2x64x16xf16>, memref<?x32xf16> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

func.func @odd_steps(%x: memref<?x36xf16>, %w: memref<32x36x1xf16>,
                     %y: memref<?x32xf16>) {
  // expected-error @below {{expected rows of f32 or of 16 bits}}
  transformer.product %x, %w outs(%y)
      : memref<?x36xf16>, memref<32x36x1xf16>, memref<?x32xf16> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

func.func @within_a_row(%x: memref<?x8xf16, strided<[16, 1], offset: 4>>,
                        %w: memref<32x8x1xf16>, %y: memref<?x32xf16>) {
  // expected-error @below {{expected rows of f32 or of 16 bits}}
  transformer.product %x, %w outs(%y)
      : memref<?x8xf16, strided<[16, 1], offset: 4>>, memref<32x8x1xf16>,
        memref<?x32xf16> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

func.func @unknown_place(%x: memref<?x8xf16>, %w: memref<32x8x1xf16>,
                         %y: memref<?x32xf16, strided<[?, 1]>>) {
  // expected-error @below {{expected rows at constant distances, their elements side by side}}
  transformer.product %x, %w outs(%y)
      : memref<?x8xf16>, memref<32x8x1xf16>,
        memref<?x32xf16, strided<[?, 1]>> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

func.func @tensors(%x: tensor<?x64xf16>, %w: tensor<32x64x1xf16>,
                   %y: tensor<?x32xf16>) -> tensor<?x32xf16> {
  // expected-error @below {{expected buffers, got tensors}}
  %0 = transformer.product %x, %w outs(%y)
      : tensor<?x64xf16>, tensor<32x64x1xf16>, tensor<?x32xf16>
      -> tensor<?x32xf16> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return %0 : tensor<?x32xf16>
}

// -----

// expected-error @below {{expected a gpu.module for the kernels, got another op of its name}}
gpu.binary @kernels [#gpu.object<#nvvm.target, assembly = "ptx">]

func.func @behind_the_image(%x: memref<?x64xf16>, %w: memref<32x64x1xf16>,
                            %y: memref<?x32xf16>) {
  transformer.product %x, %w outs(%y)
      : memref<?x64xf16>, memref<32x64x1xf16>, memref<?x32xf16> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

func.func @narrow_weights(%x: memref<?x64xf32>, %w: memref<32x64x1xbf16>,
                          %y: memref<?x32xf32>) {
  // expected-error @below {{expected rows of f32 or of 16 bits}}
  transformer.product %x, %w outs(%y)
      : memref<?x64xf32>, memref<32x64x1xbf16>, memref<?x32xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}
