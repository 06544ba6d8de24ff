// What instructions compute, as LLVM's IR, written from the manual and held to
// machines that have them (test/unit/emit/InstructionModelsTest.cpp).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/InstructionModels.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"

using namespace tfc;

namespace {
struct Model {
  llvm::StringLiteral intrinsic, function;
};
} // namespace

static constexpr Model models[] = {
    {"llvm.x86.avx512bf16.dpbf16ps.512", "model.dpbf16ps.512"},
    {"llvm.x86.avx512bf16.cvtneps2bf16.512", "model.cvtneps2bf16.512"},
    {"llvm.x86.avx512.vpdpbusd.512", "model.vpdpbusd.512"},
    {"llvm.x86.avx512.vpdpbusd.256", "model.vpdpbusd.256"},
    {"llvm.x86.avx512.pmaddw.d.512", "model.pmaddw.d.512"},
    {"llvm.x86.avx512.pmaddubs.w.512", "model.pmaddubs.w.512"},
    {"llvm.aarch64.neon.sdot.v4i32.v16i8", "model.sdot.128"},
    {"llvm.aarch64.neon.smmla.v4i32.v16i8", "model.smmla.128"}};

/// Those that read or write registers of tiles: their models get the state of
/// these, too.
static constexpr Model tileModels[] = {
    {"llvm.x86.ldtilecfg", "model.ldtilecfg"},
    {"llvm.x86.tilerelease", "model.tilerelease"},
    {"llvm.x86.tilezero", "model.tilezero"},
    {"llvm.x86.tileloadd64", "model.tileloadd64"},
    {"llvm.x86.tilestored64", "model.tilestored64"},
    {"llvm.x86.tdpbf16ps", "model.tdpbf16ps"},
    {"llvm.x86.tdpbusd", "model.tdpbusd"}};

/// Eight registers of 16 rows of 64 bytes, then of each its rows, a byte, and
/// from kTileColumns on the bytes of a row, two; then whether there is a
/// configuration.
static constexpr uint64_t kTileStateBytes = 8192 + 8 + 16 + 8;
static constexpr uint64_t kTileSwitch = 8192 + 8 + 16;

/// vdpbf16ps: the odd elements' product is added first, then the even ones',
/// each rounded once to the nearest. Denormals are zeros of their sign before
/// and after each of both, whatever the thread's mode.
///
/// vcvtneps2bf16: the nearest bf16, of two equally near ones the even one; a
/// denormal is a zero of its sign, and what is no number stays none, quiet.
///
/// vpdpbusd: four products of a byte without a sign and one with, their sum and
/// the old one modulo 2^32. vpmaddwd: the sum of two products. vpmaddubsw: that
/// of two of a byte without a sign and one with, the nearest that 16 bits hold.
/// sdot: vpdpbusd of bytes with a sign (Arm Architecture Reference Manual).
/// smmla: of both halves of one operand, each with both of the other, the eight
/// products of such bytes, the first half's sums first.
///
/// tdpbf16ps: of each row and column the products of the words' first elements
/// are added from zero in the order of the words, each rounded once, and apart
/// those of the second ones; then both, then the sum that was there and that.
/// Denormals are zeros as above. tdpbusd: vpdpbusd for each word. Registers
/// that are not configured, or whose shapes do not fit, end the process, as do
/// configurations that the machine refuses.
static const char kModels[] = R"(
define <16 x float> @model.flush(<16 x float> %x) #0 {
  %bits = bitcast <16 x float> %x to <16 x i32>
  %exponent = and <16 x i32> %bits, splat (i32 2139095040)
  %sign = and <16 x i32> %bits, splat (i32 -2147483648)
  %small = icmp eq <16 x i32> %exponent, zeroinitializer
  %flushed = select <16 x i1> %small, <16 x i32> %sign, <16 x i32> %bits
  %y = bitcast <16 x i32> %flushed to <16 x float>
  ret <16 x float> %y
}
define <16 x float> @model.add_product(<16 x float> %sum, <16 x i32> %a, <16 x i32> %b) #0 {
  %x = bitcast <16 x i32> %a to <16 x float>
  %y = bitcast <16 x i32> %b to <16 x float>
  %p = call <16 x float> @model.flush(<16 x float> %x)
  %q = call <16 x float> @model.flush(<16 x float> %y)
  %z = call <16 x float> @llvm.fma.v16f32(<16 x float> %p, <16 x float> %q, <16 x float> %sum)
  %r = call <16 x float> @model.flush(<16 x float> %z)
  ret <16 x float> %r
}
define <16 x float> @model.dpbf16ps.512(<16 x float> %sum, <32 x bfloat> %a, <32 x bfloat> %b) #0 {
  %p = bitcast <32 x bfloat> %a to <16 x i32>
  %q = bitcast <32 x bfloat> %b to <16 x i32>
  %p1 = and <16 x i32> %p, splat (i32 -65536)
  %q1 = and <16 x i32> %q, splat (i32 -65536)
  %p0 = shl <16 x i32> %p, splat (i32 16)
  %q0 = shl <16 x i32> %q, splat (i32 16)
  %s = call <16 x float> @model.flush(<16 x float> %sum)
  %t = call <16 x float> @model.add_product(<16 x float> %s, <16 x i32> %p1, <16 x i32> %q1)
  %u = call <16 x float> @model.add_product(<16 x float> %t, <16 x i32> %p0, <16 x i32> %q0)
  ret <16 x float> %u
}
define <16 x bfloat> @model.cvtneps2bf16.512(<16 x float> %x) #0 {
  %f = call <16 x float> @model.flush(<16 x float> %x)
  %bits = bitcast <16 x float> %f to <16 x i32>
  %upper = lshr <16 x i32> %bits, splat (i32 16)
  %odd = and <16 x i32> %upper, splat (i32 1)
  %half = add <16 x i32> %odd, splat (i32 32767)
  %sum = add <16 x i32> %bits, %half
  %rounded = lshr <16 x i32> %sum, splat (i32 16)
  %quiet = or <16 x i32> %upper, splat (i32 64)
  %none = fcmp uno <16 x float> %x, %x
  %word = select <16 x i1> %none, <16 x i32> %quiet, <16 x i32> %rounded
  %short = trunc <16 x i32> %word to <16 x i16>
  %y = bitcast <16 x i16> %short to <16 x bfloat>
  ret <16 x bfloat> %y
}
define <4 x i32> @model.sdot.128(<4 x i32> %sum, <16 x i8> %a, <16 x i8> %b) #0 {
  %p = sext <16 x i8> %a to <16 x i16>
  %q = sext <16 x i8> %b to <16 x i16>
  %products = mul <16 x i16> %p, %q
  %even = shufflevector <16 x i16> %products, <16 x i16> poison, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %odd = shufflevector <16 x i16> %products, <16 x i16> poison, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %x0 = sext <8 x i16> %even to <8 x i32>
  %x1 = sext <8 x i16> %odd to <8 x i32>
  %y = add <8 x i32> %x0, %x1
  %y0 = shufflevector <8 x i32> %y, <8 x i32> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %y1 = shufflevector <8 x i32> %y, <8 x i32> poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %z = add <4 x i32> %y0, %y1
  %r = add <4 x i32> %sum, %z
  ret <4 x i32> %r
}
define <4 x i32> @model.smmla.128(<4 x i32> %sum, <16 x i8> %a, <16 x i8> %b) #0 {
  %p = sext <16 x i8> %a to <16 x i16>
  %q = sext <16 x i8> %b to <16 x i16>
  %x = shufflevector <16 x i16> %p, <16 x i16> poison, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %y = shufflevector <16 x i16> %q, <16 x i16> poison, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %products = mul <32 x i16> %x, %y
  %even = shufflevector <32 x i16> %products, <32 x i16> poison, <16 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14, i32 16, i32 18, i32 20, i32 22, i32 24, i32 26, i32 28, i32 30>
  %odd = shufflevector <32 x i16> %products, <32 x i16> poison, <16 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15, i32 17, i32 19, i32 21, i32 23, i32 25, i32 27, i32 29, i32 31>
  %even32 = sext <16 x i16> %even to <16 x i32>
  %odd32 = sext <16 x i16> %odd to <16 x i32>
  %s16 = add <16 x i32> %even32, %odd32
  %e16 = shufflevector <16 x i32> %s16, <16 x i32> poison, <8 x i32> <i32 0, i32 2, i32 4, i32 6, i32 8, i32 10, i32 12, i32 14>
  %o16 = shufflevector <16 x i32> %s16, <16 x i32> poison, <8 x i32> <i32 1, i32 3, i32 5, i32 7, i32 9, i32 11, i32 13, i32 15>
  %s8 = add <8 x i32> %e16, %o16
  %e8 = shufflevector <8 x i32> %s8, <8 x i32> poison, <4 x i32> <i32 0, i32 2, i32 4, i32 6>
  %o8 = shufflevector <8 x i32> %s8, <8 x i32> poison, <4 x i32> <i32 1, i32 3, i32 5, i32 7>
  %s4 = add <4 x i32> %e8, %o8
  %r = add <4 x i32> %sum, %s4
  ret <4 x i32> %r
}
define <16 x i32> @model.vpdpbusd.512(<16 x i32> %sum, <64 x i8> %a, <64 x i8> %b) #0 {
  %p = bitcast <64 x i8> %a to <16 x i32>
  %q = bitcast <64 x i8> %b to <16 x i32>
  %u0 = lshr <16 x i32> %p, splat (i32 0)
  %p0 = and <16 x i32> %u0, splat (i32 255)
  %v0 = shl <16 x i32> %q, splat (i32 24)
  %q0 = ashr <16 x i32> %v0, splat (i32 24)
  %m0 = mul <16 x i32> %p0, %q0
  %s0 = add <16 x i32> %sum, %m0
  %u1 = lshr <16 x i32> %p, splat (i32 8)
  %p1 = and <16 x i32> %u1, splat (i32 255)
  %v1 = shl <16 x i32> %q, splat (i32 16)
  %q1 = ashr <16 x i32> %v1, splat (i32 24)
  %m1 = mul <16 x i32> %p1, %q1
  %s1 = add <16 x i32> %s0, %m1
  %u2 = lshr <16 x i32> %p, splat (i32 16)
  %p2 = and <16 x i32> %u2, splat (i32 255)
  %v2 = shl <16 x i32> %q, splat (i32 8)
  %q2 = ashr <16 x i32> %v2, splat (i32 24)
  %m2 = mul <16 x i32> %p2, %q2
  %s2 = add <16 x i32> %s1, %m2
  %u3 = lshr <16 x i32> %p, splat (i32 24)
  %p3 = and <16 x i32> %u3, splat (i32 255)
  %v3 = shl <16 x i32> %q, splat (i32 0)
  %q3 = ashr <16 x i32> %v3, splat (i32 24)
  %m3 = mul <16 x i32> %p3, %q3
  %s3 = add <16 x i32> %s2, %m3
  ret <16 x i32> %s3
}
define <8 x i32> @model.vpdpbusd.256(<8 x i32> %sum, <32 x i8> %a, <32 x i8> %b) #0 {
  %p = bitcast <32 x i8> %a to <8 x i32>
  %q = bitcast <32 x i8> %b to <8 x i32>
  %u0 = lshr <8 x i32> %p, splat (i32 0)
  %p0 = and <8 x i32> %u0, splat (i32 255)
  %v0 = shl <8 x i32> %q, splat (i32 24)
  %q0 = ashr <8 x i32> %v0, splat (i32 24)
  %m0 = mul <8 x i32> %p0, %q0
  %s0 = add <8 x i32> %sum, %m0
  %u1 = lshr <8 x i32> %p, splat (i32 8)
  %p1 = and <8 x i32> %u1, splat (i32 255)
  %v1 = shl <8 x i32> %q, splat (i32 16)
  %q1 = ashr <8 x i32> %v1, splat (i32 24)
  %m1 = mul <8 x i32> %p1, %q1
  %s1 = add <8 x i32> %s0, %m1
  %u2 = lshr <8 x i32> %p, splat (i32 16)
  %p2 = and <8 x i32> %u2, splat (i32 255)
  %v2 = shl <8 x i32> %q, splat (i32 8)
  %q2 = ashr <8 x i32> %v2, splat (i32 24)
  %m2 = mul <8 x i32> %p2, %q2
  %s2 = add <8 x i32> %s1, %m2
  %u3 = lshr <8 x i32> %p, splat (i32 24)
  %p3 = and <8 x i32> %u3, splat (i32 255)
  %v3 = shl <8 x i32> %q, splat (i32 0)
  %q3 = ashr <8 x i32> %v3, splat (i32 24)
  %m3 = mul <8 x i32> %p3, %q3
  %s3 = add <8 x i32> %s2, %m3
  ret <8 x i32> %s3
}
define <16 x i32> @model.pmaddw.d.512(<32 x i16> %a, <32 x i16> %b) #0 {
  %p = bitcast <32 x i16> %a to <16 x i32>
  %q = bitcast <32 x i16> %b to <16 x i32>
  %u0 = shl <16 x i32> %p, splat (i32 16)
  %v0 = shl <16 x i32> %q, splat (i32 16)
  %p0 = ashr <16 x i32> %u0, splat (i32 16)
  %q0 = ashr <16 x i32> %v0, splat (i32 16)
  %p1 = ashr <16 x i32> %p, splat (i32 16)
  %q1 = ashr <16 x i32> %q, splat (i32 16)
  %m0 = mul <16 x i32> %p0, %q0
  %m1 = mul <16 x i32> %p1, %q1
  %s = add <16 x i32> %m0, %m1
  ret <16 x i32> %s
}
define <32 x i16> @model.pmaddubs.w.512(<64 x i8> %a, <64 x i8> %b) #0 {
  %p = bitcast <64 x i8> %a to <32 x i16>
  %q = bitcast <64 x i8> %b to <32 x i16>
  %p0 = and <32 x i16> %p, splat (i16 255)
  %p1 = lshr <32 x i16> %p, splat (i16 8)
  %v0 = shl <32 x i16> %q, splat (i16 8)
  %q0 = ashr <32 x i16> %v0, splat (i16 8)
  %q1 = ashr <32 x i16> %q, splat (i16 8)
  %m0 = mul <32 x i16> %p0, %q0
  %m1 = mul <32 x i16> %p1, %q1
  %s = call <32 x i16> @llvm.sadd.sat.v32i16(<32 x i16> %m0, <32 x i16> %m1)
  ret <32 x i16> %s
}
define void @model.expect(i1 %is_right) #0 {
  br i1 %is_right, label %go_on, label %fault
fault:
  call void @llvm.trap()
  unreachable
go_on:
  ret void
}
define ptr @model.tile(ptr %state, i8 %number) #0 {
  %n = zext i8 %number to i64
  %at = shl i64 %n, 10
  %tile = getelementptr i8, ptr %state, i64 %at
  ret ptr %tile
}
define i64 @model.tile_rows(ptr %state, i8 %number) #0 {
  %n = zext i8 %number to i64
  %rows = getelementptr i8, ptr %state, i64 8192
  %at = getelementptr i8, ptr %rows, i64 %n
  %row = load i8, ptr %at
  %r = zext i8 %row to i64
  ret i64 %r
}
define i64 @model.tile_bytes(ptr %state, i8 %number) #0 {
  %n = zext i8 %number to i64
  %columns = getelementptr i8, ptr %state, i64 8200
  %at = getelementptr i16, ptr %columns, i64 %n
  %column = load i16, ptr %at
  %c = zext i16 %column to i64
  ret i64 %c
}
define void @model.expect_tile(ptr %state, i8 %number) #0 {
  %at = getelementptr i8, ptr %state, i64 8216
  %on = load i64, ptr %at
  %is_on = icmp eq i64 %on, 1
  %is_known = icmp ult i8 %number, 8
  %both = and i1 %is_on, %is_known
  call void @model.expect(i1 %both)
  %rows = call i64 @model.tile_rows(ptr %state, i8 %number)
  %is_used = icmp ne i64 %rows, 0
  call void @model.expect(i1 %is_used)
  ret void
}
define void @model.expect_product(ptr %state, i8 %to, i8 %a, i8 %b) #0 {
  call void @model.expect_tile(ptr %state, i8 %to)
  call void @model.expect_tile(ptr %state, i8 %a)
  call void @model.expect_tile(ptr %state, i8 %b)
  %is_a = icmp ne i8 %to, %a
  %is_b = icmp ne i8 %to, %b
  %is_ab = icmp ne i8 %a, %b
  %two = and i1 %is_a, %is_b
  %three = and i1 %two, %is_ab
  call void @model.expect(i1 %three)
  %rows = call i64 @model.tile_rows(ptr %state, i8 %to)
  %a_rows = call i64 @model.tile_rows(ptr %state, i8 %a)
  %are_rows = icmp eq i64 %rows, %a_rows
  call void @model.expect(i1 %are_rows)
  %bytes = call i64 @model.tile_bytes(ptr %state, i8 %to)
  %b_bytes = call i64 @model.tile_bytes(ptr %state, i8 %b)
  %are_bytes = icmp eq i64 %bytes, %b_bytes
  call void @model.expect(i1 %are_bytes)
  %a_bytes = call i64 @model.tile_bytes(ptr %state, i8 %a)
  %b_rows = call i64 @model.tile_rows(ptr %state, i8 %b)
  %b_words = shl i64 %b_rows, 2
  %are_words = icmp eq i64 %a_bytes, %b_words
  call void @model.expect(i1 %are_words)
  ret void
}
define void @model.ldtilecfg(ptr %state, ptr %from) #1 {
  %head = load i128, ptr %from, align 1
  %is_palette = icmp eq i128 %head, 1
  call void @model.expect(i1 %is_palette)
  %at32 = getelementptr i8, ptr %from, i64 32
  %middle = load i128, ptr %at32, align 1
  %is_middle = icmp eq i128 %middle, 0
  call void @model.expect(i1 %is_middle)
  %at56 = getelementptr i8, ptr %from, i64 56
  %tail = load i64, ptr %at56, align 1
  %is_tail = icmp eq i64 %tail, 0
  call void @model.expect(i1 %is_tail)
  %at16 = getelementptr i8, ptr %from, i64 16
  %at48 = getelementptr i8, ptr %from, i64 48
  %bytes = load <8 x i16>, ptr %at16, align 1
  %rows = load <8 x i8>, ptr %at48, align 1
  %many_bytes = icmp ugt <8 x i16> %bytes, splat (i16 64)
  %many_rows = icmp ugt <8 x i8> %rows, splat (i8 16)
  %no_bytes = icmp eq <8 x i16> %bytes, zeroinitializer
  %no_rows = icmp eq <8 x i8> %rows, zeroinitializer
  %one = xor <8 x i1> %no_bytes, %no_rows
  %many = or <8 x i1> %many_bytes, %many_rows
  %bad = or <8 x i1> %one, %many
  %bits = bitcast <8 x i1> %bad to i8
  %is_good = icmp eq i8 %bits, 0
  call void @model.expect(i1 %is_good)
  call void @llvm.memset.p0.i64(ptr %state, i8 0, i64 8192, i1 false)
  %to_rows = getelementptr i8, ptr %state, i64 8192
  store <8 x i8> %rows, ptr %to_rows, align 1
  %to_bytes = getelementptr i8, ptr %state, i64 8200
  store <8 x i16> %bytes, ptr %to_bytes, align 1
  %to_on = getelementptr i8, ptr %state, i64 8216
  store i64 1, ptr %to_on
  ret void
}
define void @model.tilerelease(ptr %state) #0 {
  %to_on = getelementptr i8, ptr %state, i64 8216
  store i64 0, ptr %to_on
  ret void
}
define void @model.tilezero(ptr %state, i8 %number) #1 {
  call void @model.expect_tile(ptr %state, i8 %number)
  %tile = call ptr @model.tile(ptr %state, i8 %number)
  call void @llvm.memset.p0.i64(ptr %tile, i8 0, i64 1024, i1 false)
  ret void
}
define void @model.tileloadd64(ptr %state, i8 %number, ptr %from, i64 %stride) #1 {
  call void @model.tilezero(ptr %state, i8 %number)
  %tile = call ptr @model.tile(ptr %state, i8 %number)
  %rows = call i64 @model.tile_rows(ptr %state, i8 %number)
  %bytes = call i64 @model.tile_bytes(ptr %state, i8 %number)
  br label %row
row:
  %r = phi i64 [ 0, %0 ], [ %next, %row ]
  %distance = mul i64 %r, %stride
  %source = getelementptr i8, ptr %from, i64 %distance
  %place = shl i64 %r, 6
  %to = getelementptr i8, ptr %tile, i64 %place
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %source, i64 %bytes, i1 false)
  %next = add i64 %r, 1
  %is_more = icmp ult i64 %next, %rows
  br i1 %is_more, label %row, label %done
done:
  ret void
}
define void @model.tilestored64(ptr %state, i8 %number, ptr %target, i64 %stride) #1 {
  call void @model.expect_tile(ptr %state, i8 %number)
  %tile = call ptr @model.tile(ptr %state, i8 %number)
  %rows = call i64 @model.tile_rows(ptr %state, i8 %number)
  %bytes = call i64 @model.tile_bytes(ptr %state, i8 %number)
  br label %row
row:
  %r = phi i64 [ 0, %0 ], [ %next, %row ]
  %distance = mul i64 %r, %stride
  %to = getelementptr i8, ptr %target, i64 %distance
  %place = shl i64 %r, 6
  %source = getelementptr i8, ptr %tile, i64 %place
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %source, i64 %bytes, i1 false)
  %next = add i64 %r, 1
  %is_more = icmp ult i64 %next, %rows
  br i1 %is_more, label %row, label %done
done:
  ret void
}
define <16 x i32> @model.splat_word(ptr %row, i64 %k) #0 {
  %at = getelementptr i32, ptr %row, i64 %k
  %word = load i32, ptr %at
  %first = insertelement <16 x i32> poison, i32 %word, i64 0
  %all = shufflevector <16 x i32> %first, <16 x i32> poison, <16 x i32> zeroinitializer
  ret <16 x i32> %all
}
define void @model.tdpbf16ps(ptr %state, i8 %to, i8 %a, i8 %b) #1 {
entry:
  call void @model.expect_product(ptr %state, i8 %to, i8 %a, i8 %b)
  %rows = call i64 @model.tile_rows(ptr %state, i8 %to)
  %words = call i64 @model.tile_rows(ptr %state, i8 %b)
  %sums = call ptr @model.tile(ptr %state, i8 %to)
  %xs = call ptr @model.tile(ptr %state, i8 %a)
  %ys = call ptr @model.tile(ptr %state, i8 %b)
  br label %row
row:
  %r = phi i64 [ 0, %entry ], [ %next_r, %row_end ]
  %place = shl i64 %r, 6
  %sum_at = getelementptr i8, ptr %sums, i64 %place
  %x_at = getelementptr i8, ptr %xs, i64 %place
  br label %word
word:
  %k = phi i64 [ 0, %row ], [ %next_k, %word ]
  %even = phi <16 x float> [ zeroinitializer, %row ], [ %next_even, %word ]
  %odd = phi <16 x float> [ zeroinitializer, %row ], [ %next_odd, %word ]
  %p = call <16 x i32> @model.splat_word(ptr %x_at, i64 %k)
  %y_place = shl i64 %k, 6
  %y_at = getelementptr i8, ptr %ys, i64 %y_place
  %q = load <16 x i32>, ptr %y_at, align 4
  %p1 = and <16 x i32> %p, splat (i32 -65536)
  %q1 = and <16 x i32> %q, splat (i32 -65536)
  %p0 = shl <16 x i32> %p, splat (i32 16)
  %q0 = shl <16 x i32> %q, splat (i32 16)
  %next_even = call <16 x float> @model.add_product(<16 x float> %even, <16 x i32> %p0, <16 x i32> %q0)
  %next_odd = call <16 x float> @model.add_product(<16 x float> %odd, <16 x i32> %p1, <16 x i32> %q1)
  %next_k = add i64 %k, 1
  %is_word = icmp ult i64 %next_k, %words
  br i1 %is_word, label %word, label %row_end
row_end:
  %pairs = fadd <16 x float> %next_even, %next_odd
  %own = call <16 x float> @model.flush(<16 x float> %pairs)
  %kept = load <16 x float>, ptr %sum_at, align 4
  %old = call <16 x float> @model.flush(<16 x float> %kept)
  %all = fadd <16 x float> %old, %own
  %new = call <16 x float> @model.flush(<16 x float> %all)
  store <16 x float> %new, ptr %sum_at, align 4
  %next_r = add i64 %r, 1
  %is_row = icmp ult i64 %next_r, %rows
  br i1 %is_row, label %row, label %done
done:
  ret void
}
define void @model.tdpbusd(ptr %state, i8 %to, i8 %a, i8 %b) #1 {
entry:
  call void @model.expect_product(ptr %state, i8 %to, i8 %a, i8 %b)
  %rows = call i64 @model.tile_rows(ptr %state, i8 %to)
  %words = call i64 @model.tile_rows(ptr %state, i8 %b)
  %sums = call ptr @model.tile(ptr %state, i8 %to)
  %xs = call ptr @model.tile(ptr %state, i8 %a)
  %ys = call ptr @model.tile(ptr %state, i8 %b)
  br label %row
row:
  %r = phi i64 [ 0, %entry ], [ %next_r, %row_end ]
  %place = shl i64 %r, 6
  %sum_at = getelementptr i8, ptr %sums, i64 %place
  %x_at = getelementptr i8, ptr %xs, i64 %place
  %old = load <16 x i32>, ptr %sum_at, align 4
  br label %word
word:
  %k = phi i64 [ 0, %row ], [ %next_k, %word ]
  %sum = phi <16 x i32> [ %old, %row ], [ %next_sum, %word ]
  %p = call <16 x i32> @model.splat_word(ptr %x_at, i64 %k)
  %x = bitcast <16 x i32> %p to <64 x i8>
  %y_place = shl i64 %k, 6
  %y_at = getelementptr i8, ptr %ys, i64 %y_place
  %y = load <64 x i8>, ptr %y_at, align 4
  %next_sum = call <16 x i32> @model.vpdpbusd.512(<16 x i32> %sum, <64 x i8> %x, <64 x i8> %y)
  %next_k = add i64 %k, 1
  %is_word = icmp ult i64 %next_k, %words
  br i1 %is_word, label %word, label %row_end
row_end:
  store <16 x i32> %next_sum, ptr %sum_at, align 4
  %next_r = add i64 %r, 1
  %is_row = icmp ult i64 %next_r, %rows
  br i1 %is_row, label %row, label %done
done:
  ret void
}
declare void @llvm.trap()
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare <32 x i16> @llvm.sadd.sat.v32i16(<32 x i16>, <32 x i16>)
declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
attributes #0 = { alwaysinline nounwind }
attributes #1 = { noinline nounwind }
)";

/// Registers are on the stack of the function that has them: each configures
/// and releases its own.
static void replaceByTileModel(llvm::Function &intrinsic,
                               llvm::Function &model) {
  for (llvm::User *user : llvm::make_early_inc_range(intrinsic.users())) {
    auto *call = llvm::cast<llvm::CallInst>(user);
    llvm::BasicBlock &entry = call->getFunction()->getEntryBlock();
    auto *state = llvm::dyn_cast<llvm::AllocaInst>(&entry.front());
    if (!state || state->getName() != "tiles") {
      llvm::IRBuilder<> b(&entry, entry.begin());
      auto *bytes = llvm::ArrayType::get(b.getInt8Ty(), kTileStateBytes);
      state = b.CreateAlloca(bytes, nullptr, "tiles");
      state->setAlignment(llvm::Align(64));
      b.CreateStore(b.getInt64(0),
                    b.CreateConstGEP1_64(b.getInt8Ty(), state, kTileSwitch));
    }
    llvm::SmallVector<llvm::Value *> operands = {state};
    llvm::append_range(operands, call->args());
    llvm::IRBuilder<>(call).CreateCall(&model, operands);
    call->eraseFromParent();
  }
}

static void linkModels(llvm::Module &module) {
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> functions =
      llvm::parseAssemblyString(kModels, diagnostic, module.getContext());
  assert(functions && "the text above is well formed");
  functions->setDataLayout(module.getDataLayout());
  functions->setTargetTriple(module.getTargetTriple());
  bool hasFailed = llvm::Linker::linkModules(module, std::move(functions));
  assert(!hasFailed && "nobody else has such names");
  (void)hasFailed;
}

std::string tfc::replaceByModels(llvm::Module &module) {
  llvm::SmallVector<std::pair<llvm::Function *, llvm::StringRef>> used, ofTiles;
  auto find = [](llvm::ArrayRef<Model> all, llvm::StringRef name) {
    const Model *model = llvm::find_if(
        all, [&](const Model &each) { return each.intrinsic == name; });
    return model == all.end() ? llvm::StringRef()
                              : llvm::StringRef(model->function);
  };
  for (llvm::Function &function : module) {
    // Those of AVX2 are of level 3, which every machine that emulates has.
    llvm::StringRef name = function.getName();
    if ((!name.starts_with("llvm.x86.") &&
         !name.starts_with("llvm.aarch64.")) ||
        name.starts_with("llvm.x86.avx2.")) {
      continue;
    }
    if (auto model = find(models, name); !model.empty()) {
      used.emplace_back(&function, model);
    } else if (model = find(tileModels, name); !model.empty()) {
      ofTiles.emplace_back(&function, model);
    } else {
      return name.str();
    }
  }
  if (!used.empty() || !ofTiles.empty()) {
    linkModels(module);
  }
  for (auto [intrinsic, model] : used) {
    intrinsic->replaceAllUsesWith(module.getFunction(model));
    intrinsic->eraseFromParent();
  }
  for (auto [intrinsic, model] : ofTiles) {
    replaceByTileModel(*intrinsic, *module.getFunction(model));
    intrinsic->eraseFromParent();
  }
  return "";
}
