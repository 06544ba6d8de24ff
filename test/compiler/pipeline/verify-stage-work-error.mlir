// An arrow that has not done what it is for is an error, though every op may be
// there: a product that is whole, a tile that is no vector, a tile that is in no
// register, a host that follows a device's pointer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: split-file %s %t
// RUN: tfc-opt %t/tiled.mlir --split-input-file --verify-diagnostics --tfc-verify-stage=stage=tiled
// RUN: tfc-opt %t/vector.mlir --split-input-file --verify-diagnostics --tfc-verify-stage=stage=vector
// RUN: tfc-opt %t/buffer.mlir --split-input-file --verify-diagnostics --tfc-verify-stage=stage=buffer
// RUN: tfc-opt %t/kernel.mlir --split-input-file --verify-diagnostics --tfc-verify-stage=stage=kernel
// RUN: tfc-opt %t/llvm.mlir --split-input-file --verify-diagnostics --tfc-verify-stage=stage=llvm

// Loops instead of vectors are right and slow.
// RUN: tfc-opt %t/loops.mlir --tfc-verify-stage=stage=vector 2>&1 | FileCheck %t/loops.mlir

//--- tiled.mlir
func.func @product_that_is_whole(
    %x: tensor<?x8xf32>, %w: tensor<1x8x16xf32>, %y: tensor<?x1x16xf32>)
    -> tensor<?x1x16xf32> {
  // expected-error @+1 {{is a product that was not cut into tiles}}
  %0 = linalg.generic {
      indexing_maps = [affine_map<(p, r, c, k) -> (r, k)>,
                       affine_map<(p, r, c, k) -> (p, k, c)>,
                       affine_map<(p, r, c, k) -> (r, p, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x8xf32>, tensor<1x8x16xf32>)
      outs(%y : tensor<?x1x16xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %sum, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x1x16xf32>
  return %0 : tensor<?x1x16xf32>
}

// -----

func.func @sizes_that_nobody_took(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{expected no tile sizes after stage 'tiled' (tfc-tile-and-fuse takes them), got #transformer.strategy<parallel = [64, 0], rows = [], reduction = []>}}
  %0 = linalg.exp {transformer.strategy = #transformer.strategy<
           parallel = [64, 0], rows = [], reduction = []>}
         ins(%x : tensor<?x8xf32>) outs(%x : tensor<?x8xf32>)
         -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

func.func @product_without_a_tile(%x: tensor<?x8xf32>,
    %w: tensor<1x8x16xf32>, %y: tensor<?x16xf32>) -> tensor<?x16xf32> {
  // expected-error @+1 {{expected a tile (tfc-select-strategy gives it), got none}}
  %0 = transformer.product %x, %w outs(%y) : tensor<?x8xf32>,
      tensor<1x8x16xf32>, tensor<?x16xf32> -> tensor<?x16xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return %0 : tensor<?x16xf32>
}

// -----

// A map or a sum over the columns of a row is no product.
func.func @rows_may_be_dynamic(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = linalg.exp ins(%x : tensor<?x8xf32>) outs(%x : tensor<?x8xf32>)
         -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

//--- vector.mlir
func.func @tile_that_is_no_vector(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // expected-error @+1 {{is a tile that did not become vectors}}
  %0 = linalg.exp ins(%x : tensor<8x16xf32>) outs(%x : tensor<8x16xf32>)
         -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

func.func @gathers_are_no_tiles(%ids: tensor<4xi32>, %table: tensor<9x16xf32>,
                                %y: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r, c)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<4xi32>) outs(%y : tensor<4x16xf32>) {
  ^bb0(%id: i32, %old: f32):
    %row = arith.index_cast %id : i32 to index
    %column = linalg.index 1 : index
    %value = tensor.extract %table[%row, %column] : tensor<9x16xf32>
    linalg.yield %value : f32
  } -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

//--- buffer.mlir
func.func @tile_in_no_register(%x: memref<8x48xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{expected vectors of one row of at most 64 bytes after stage 'buffer' (tfc-split-tiles), got 'vector<8x48xf32>'}}
  %0 = vector.transfer_read %x[%c0, %c0], %zero {in_bounds = [true, true]}
         : memref<8x48xf32>, vector<8x48xf32>
  return %zero : f32
}

// -----

func.func @row_in_no_register(%x: memref<32xf32>) -> vector<32xf32> {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{got 'vector<32xf32>'}}
  %0 = vector.load %x[%c0] : memref<32xf32>, vector<32xf32>
  return %0 : vector<32xf32>
}

//--- kernel.mlir
// The step and the library's own tables are the host's.
memref.global "private" constant @numbers : memref<8xf32> = dense<1.0>
func.func @fields_and_tables(%step: !llvm.ptr {transformer.step}, %i: index)
    -> f32 {
  %field = llvm.getelementptr %step[72] : (!llvm.ptr) -> !llvm.ptr, i8
  %count = llvm.load %field : !llvm.ptr -> i64
  %table = memref.get_global @numbers : memref<8xf32>
  %half = memref.subview %table[4] [4] [1]
    : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %number = memref.load %half[%i] : memref<4xf32, strided<[1], offset: 4>>
  return %number : f32
}

// -----

func.func @load_of_an_input(%step: !llvm.ptr {transformer.step},
                            %ids: memref<?xi32>, %i: index) -> i32 {
  // expected-error @+1 {{expected host code that touches no memory but the step and constant tables after stage 'kernel'}}
  %id = memref.load %ids[%i] : memref<?xi32>
  return %id : i32
}

// -----

func.func @load_behind_a_field(%step: !llvm.ptr {transformer.step}) -> i32 {
  %field = llvm.getelementptr %step[80] : (!llvm.ptr) -> !llvm.ptr, i8
  %items = llvm.load %field : !llvm.ptr -> !llvm.ptr
  // expected-error @+1 {{expected host code that touches no memory but the step}}
  %sequence = llvm.load %items : !llvm.ptr -> i32
  return %sequence : i32
}

// -----

func.func @copy(%step: !llvm.ptr {transformer.step}, %x: memref<?xf32>,
                %y: memref<?xf32>, %is_wanted: i1) {
  scf.if %is_wanted {
    // expected-error @+1 {{expected host code that touches no memory but the step}}
    memref.copy %x, %y : memref<?xf32> to memref<?xf32>
  }
  return
}

// -----

func.func @store(%step: !llvm.ptr {transformer.step}, %x: i32) {
  // expected-error @+1 {{expected host code that touches no memory but the step}}
  llvm.store %x, %step : i32, !llvm.ptr
  return
}

// -----

// What packs weights is not an entry: it works in the host's memory.
func.func @pack(%to: memref<?xi8>, %i: index, %x: i8) {
  memref.store %x, %to[%i] : memref<?xi8>
  return
}

//--- llvm.mlir
// expected-error @+1 {{expected at most 65536 bytes on the stack, got 65544}}
llvm.func @much_on_the_stack() {
  %much = llvm.mlir.constant(16384 : i64) : i64
  %little = llvm.mlir.constant(1 : i64) : i64
  %0 = llvm.alloca %much x f32 : (i64) -> !llvm.ptr
  %1 = llvm.alloca %little x !llvm.struct<(ptr)> : (i64) -> !llvm.ptr
  llvm.return
}

// -----

llvm.func @who_knows_how_much(%n: i64) {
  // expected-error @+1 {{expected a constant size on the stack}}
  %0 = llvm.alloca %n x f32 : (i64) -> !llvm.ptr
  llvm.return
}

//--- loops.mlir
// CHECK: warning: expected vectors, got 2 plain loops over rows of width 131, which no tile of a few registers divides: slow
// CHECK: linalg.generic
#rows = affine_map<(r, c) -> (r, c)>
func.func @maps(%x: tensor<?x131xf32>) -> tensor<?x131xf32> {
  %0 = linalg.generic {indexing_maps = [#rows, #rows],
                       iterator_types = ["parallel", "parallel"]}
         ins(%x : tensor<?x131xf32>) outs(%x : tensor<?x131xf32>) {
  ^bb0(%a: f32, %old: f32):
    %1 = arith.negf %a : f32
    linalg.yield %1 : f32
  } -> tensor<?x131xf32>
  %2 = linalg.generic {indexing_maps = [#rows, #rows],
                       iterator_types = ["parallel", "parallel"]}
         ins(%0 : tensor<?x131xf32>) outs(%x : tensor<?x131xf32>) {
  ^bb0(%a: f32, %old: f32):
    %1 = math.absf %a : f32
    linalg.yield %1 : f32
  } -> tensor<?x131xf32>
  return %2 : tensor<?x131xf32>
}
