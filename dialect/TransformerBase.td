// The dialect, its type constraints and the base classes of its ops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_TRANSFORMERBASE
#define TFC_DIALECT_TRANSFORMERBASE

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def Transformer_Dialect : Dialect {
  let name = "transformer";
  let summary = "transformer models, one ragged step at a time";
  let description = [{
    A function of this dialect is one *step* of a model: the new tokens of all
    sequences of a batch, packed without padding into `[tokens, width]` rows.
    Which rows belong to which sequence, and what came before them, is in
    `!transformer.batch`; keys and values of earlier steps are in
    `!transformer.cache`, what recurrent layers made of them in
    `!transformer.state`. Weights are named by `transformer.parameter` and
    never stored in the IR. Widths are static, row counts dynamic.

    Ops come in two groups. *Value ops* are the mathematics: pure, on tensors,
    with no layout and no target. They read and give rows of f32, f16 or bf16:
    what is read is widened to f32, which is exact, arithmetic is that of f32,
    and the result is rounded once, to the nearest (even) element of its type.
    That is f32 unless the op says so, as in `-> tensor<?x104xbf16>`. Which rows
    are of 16 bits is decided by `tfc-choose-precision`. *Structured ops* (`paged_attention`,
    `cache_write`, `ragged_hashed`, `ragged_pool`, `ragged_unfold`, `ragged_pairs`, `ragged_weights`, `ragged_sinks`, `clustered_log_softmax`, `product`, `choose_experts`, `sort_by_expert`, `ragged_conv`, `ragged_recurrence`) are what linalg cannot say; they exist on tensors
    and on memrefs and are expanded by the code generators. `tap`, `output` and
    `worker` are what a step has besides.
  }];
  let cppNamespace = "::tfc::transformer";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

// A row of the result is computed from the same row of the first operand, and
// may take its place: whoever allocates memory may reuse it.
def Transformer_RowWise : NativeOpTrait<"RowWise"> {
  let cppNamespace = "::tfc::transformer";
}

// Reads rows also where they lie apart, as some columns of wider rows: a slice of
// columns need not be copied for it.
def Transformer_AcceptsStridedRows : NativeOpTrait<"AcceptsStridedRows"> {
  let cppNamespace = "::tfc::transformer";
}

// Its matrices may be stored in 16 bits: it widens their elements to f32, which
// changes no value.
def Transformer_WidensMatrices : NativeOpTrait<"WidensMatrices"> {
  let cppNamespace = "::tfc::transformer";
}

// Its rows may have narrow elements at no cost: it rounds what it has in
// registers.
def Transformer_RoundsRows : NativeOpTrait<"RoundsRows"> {
  let cppNamespace = "::tfc::transformer";
}

class Transformer_RankedTensor<int rank, Pred extra, string summary>
    : Type<And<[CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">,
                CPred<"::llvm::cast<::mlir::RankedTensorType>($_self)"
                      ".getRank() == " # rank>, extra]>,
           summary, "::mlir::RankedTensorType">;

class Transformer_Element<string predicate>
    : CPred<"::llvm::cast<::mlir::RankedTensorType>($_self)"
            ".getElementType()." # predicate>;

class Transformer_Static<int axis>
    : CPred<"!::llvm::cast<::mlir::RankedTensorType>($_self)"
            ".isDynamicDim(" # axis # ")">;

def Transformer_Matrix
    : Transformer_RankedTensor<2,
        And<[Transformer_Element<"isF32()">, Transformer_Static<0>,
             Transformer_Static<1>]>,
        "f32 matrix of static shape">;
// What rows and matrices are kept in.
def Transformer_StoredElement
    : Or<[Transformer_Element<"isF32()">, Transformer_Element<"isF16()">,
          Transformer_Element<"isBF16()">]>;
// Who reads them widens elements of 16 bits to f32, which is exact, and who
// makes them rounds to the nearest (even) one; all arithmetic is in f32.
def Transformer_Rows
    : Transformer_RankedTensor<2,
        And<[Transformer_StoredElement, Transformer_Static<1>]>,
        "f32, f16 or bf16 rows of static width">;
def Transformer_WideRows
    : Transformer_RankedTensor<2,
        And<[Transformer_Element<"isF32()">, Transformer_Static<1>]>,
        "f32 rows of static width, tensor<?xWxf32>">;
def Transformer_StoredMatrix
    : Transformer_RankedTensor<2,
        And<[Transformer_StoredElement, Transformer_Static<0>,
             Transformer_Static<1>]>,
        "f32, f16 or bf16 matrix of static shape">;
// What a product multiplies: rows of floats, or of bytes with a scale a row.
def Transformer_Factors
    : Transformer_RankedTensor<2,
        And<[Or<[Transformer_StoredElement, Transformer_Element<"isInteger(8)">]>,
             Transformer_Static<1>]>,
        "f32, f16, bf16 or i8 rows of static width">;
def Transformer_ByteRows
    : Transformer_RankedTensor<2,
        And<[Transformer_Element<"isInteger(8)">, Transformer_Static<1>]>,
        "i8 rows of static width, tensor<?xWxi8>">;
def Transformer_FactorMatrix
    : Transformer_RankedTensor<2,
        And<[Or<[Transformer_StoredElement, Transformer_Element<"isInteger(8)">,
                 Transformer_Element<"isInteger(4)">]>,
             Transformer_Static<0>, Transformer_Static<1>]>,
        "f32, f16, bf16, i8 or i4 matrix of static shape">;
def Transformer_RowScales
    : Transformer_RankedTensor<1, Transformer_Element<"isF32()">,
        "f32 vector with an element a row, tensor<?xf32>">;
def Transformer_Vector
    : Transformer_RankedTensor<1,
        And<[Transformer_Element<"isF32()">, Transformer_Static<0>]>,
        "f32 vector of static length">;
// A number for each row of a matrix of bytes, or for each group of its columns,
// which may be of 16 bits.
def Transformer_WeightScales
    : AnyTypeOf<[Transformer_Vector, Transformer_StoredMatrix]>;
// Zero points of groups, or what comes off of their elements.
def Transformer_WeightZeros
    : Transformer_RankedTensor<2,
        And<[Or<[Transformer_Element<"isInteger(8)">,
                 Transformer_StoredElement]>,
             Transformer_Static<0>, Transformer_Static<1>]>,
        "i8, f32, f16 or bf16 matrix of static shape">;
def Transformer_Ids
    : Transformer_RankedTensor<1, Transformer_Element<"isInteger(32)">,
        "i32 vector, tensor<?xi32>">;
def Transformer_IntegerVector
    : Transformer_RankedTensor<1,
        And<[Transformer_Element<"isInteger(32)">, Transformer_Static<0>]>,
        "i32 vector of static length">;
// A matrix for each expert.
def Transformer_ExpertMatrices
    : Transformer_RankedTensor<3,
        And<[Or<[Transformer_StoredElement, Transformer_Element<"isInteger(8)">,
                 Transformer_Element<"isInteger(4)">]>,
             Transformer_Static<0>, Transformer_Static<1>,
             Transformer_Static<2>]>,
        "f32, f16, bf16, i8 or i4 matrices of static shape, one an expert">;
// What groups of their columns have.
class Transformer_ExpertGroups<Pred element, string names>
    : Transformer_RankedTensor<3,
        And<[element, Transformer_Static<0>, Transformer_Static<1>,
             Transformer_Static<2>]>,
        names # " matrices of static shape, one an expert">;
def Transformer_ExpertScales
    : Transformer_ExpertGroups<Transformer_StoredElement, "f32, f16 or bf16">;
def Transformer_ExpertZeros
    : Transformer_ExpertGroups<Or<[Transformer_Element<"isInteger(8)">,
                                   Transformer_StoredElement]>,
                               "i8, f32, f16 or bf16">;
// Numbers of experts, as many for each row.
def Transformer_ExpertIds
    : Transformer_RankedTensor<2,
        And<[Transformer_Element<"isInteger(32)">, Transformer_Static<1>]>,
        "i32 rows of static width, tensor<?xKxi32>">;
def Transformer_Weight
    : AnyTypeOf<[Transformer_FactorMatrix, Transformer_ExpertMatrices, Transformer_Vector,
                 Transformer_IntegerVector]>;

// Rows before and after bufferization, for the structured ops.
def Transformer_RowsOrBuffer
    : AnyTypeOf<[Transformer_Rows, MemRefRankOf<[F32, F16, BF16], [2]>]>;

// What the kernels of products multiply; elements of bytes may be wider.
def Transformer_FactorsOrBuffer
    : AnyTypeOf<[Transformer_Factors,
        Transformer_RankedTensor<2,
          And<[Transformer_Element<"isInteger(16)">, Transformer_Static<1>]>,
          "i16 rows of static width">,
        MemRefRankOf<[F32, F16, BF16, I8, I16], [2]>]>;
def Transformer_RowScalesOrBuffer
    : AnyTypeOf<[Transformer_RowScales, MemRefRankOf<[F32], [1]>]>;

def Transformer_MatrixOrBuffer
    : AnyTypeOf<[Transformer_Matrix, MemRefRankOf<[F32], [2]>]>;
def Transformer_IdsOrBuffer
    : AnyTypeOf<[Transformer_Ids, MemRefRankOf<[I32], [1]>]>;
def Transformer_VectorOrBuffer
    : AnyTypeOf<[Transformer_Vector, MemRefRankOf<[F32], [1]>]>;
def Transformer_ExpertIdsOrBuffer
    : AnyTypeOf<[Transformer_ExpertIds, MemRefRankOf<[I32], [2]>]>;
// What a product has for each column; of experts, for each of theirs.
def Transformer_ColumnsOrBuffer
    : AnyTypeOf<[Transformer_Vector, Transformer_IntegerVector,
                 Transformer_Matrix, MemRefRankOf<[F32, I32], [1, 2]>]>;

// A number for each head, or for each head of each token.
def Transformer_Sinks : AnyTypeOf<[Transformer_Vector, Transformer_WideRows]>;
def Transformer_SinksOrBuffer
    : AnyTypeOf<[Transformer_Vector, Transformer_WideRows,
                 MemRefRankOf<[F32], [1, 2]>]>;

// A matrix as #transformer.packed says: [panel, word, row in the panel], and
// the column in the word where that has several.
class Transformer_PanelsOf<int rank, list<Pred> axes>
    : Transformer_RankedTensor<rank,
        And<!listconcat([Or<[Transformer_StoredElement,
                             Transformer_Element<"isInteger(8)">]>,
                         Transformer_Static<0>,
                         Transformer_Static<1>, Transformer_Static<2>], axes)>,
        "f32, f16, bf16 or i8 panels of static shape">;
def Transformer_Panels : Transformer_PanelsOf<3, []>;
def Transformer_WordPanels : Transformer_PanelsOf<4, [Transformer_Static<3>]>;
// Those of experts have an axis of experts in front.
def Transformer_ExpertPanels
    : Transformer_PanelsOf<5, [Transformer_Static<3>, Transformer_Static<4>]>;
def Transformer_PanelsOrBuffer
    : AnyTypeOf<[Transformer_Panels, Transformer_WordPanels,
                 Transformer_ExpertPanels,
                 MemRefRankOf<[F32, F16, BF16, I8], [3, 4, 5]>]>;

// The scales of groups of columns, in panels: [panel, group, row in the panel];
// those of experts have an axis of experts in front.
class Transformer_GroupsOf<int rank, Pred element, list<Pred> axes,
                           string names>
    : Transformer_RankedTensor<rank,
        And<!listconcat([element, Transformer_Static<0>, Transformer_Static<1>,
                         Transformer_Static<2>], axes)>,
        names # " panels of static shape">;
class Transformer_GroupsOrBuffer<Pred element, string names, list<Type> types>
    : AnyTypeOf<[Transformer_GroupsOf<3, element, [], names>,
                 Transformer_GroupsOf<4, element, [Transformer_Static<3>],
                                      names>,
                 MemRefRankOf<types, [3, 4]>]>;
def Transformer_GroupScalesOrBuffer
    : Transformer_GroupsOrBuffer<Transformer_StoredElement,
                                 "f32, f16 or bf16", [F32, F16, BF16]>;

// The same of their zero points.
def Transformer_GroupZerosOrBuffer
    : Transformer_GroupsOrBuffer<Or<[Transformer_Element<"isInteger(8)">,
                                     Transformer_StoredElement]>,
                                 "i8, f32, f16 or bf16", [I8, F32, F16, BF16]>;

class Transformer_Op<string mnemonic, list<Trait> traits = []>
    : Op<Transformer_Dialect, mnemonic, traits>;

// An op of rows: the shape of its result is a function of the operands, its
// elements are what the result is rounded to, f32 where nobody says otherwise.
class Transformer_RowsOp<string mnemonic, list<Trait> traits = []>
    : Transformer_Op<mnemonic, !listconcat([InferTypeOpAdaptor], traits)> {
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                        ::mlir::TypeRange types) {
      return haveEqualShapes(inferred, types);
    }
  }];
}

// A pure one, on tensors.
class Transformer_ValueOp<string mnemonic, list<Trait> traits = []>
    : Transformer_RowsOp<mnemonic, !listconcat([Pure], traits)>;

#endif // TFC_DIALECT_TRANSFORMERBASE
