// What instructions compute, as LLVM's IR, written from the manual and held to
// machines that have them (test/unit/emit/InstructionModelsTest.cpp).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/InstructionModels.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/AsmParser/Parser.h"
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
    {"llvm.x86.avx512.vpdpbusd.512", "model.vpdpbusd.512"},
    {"llvm.x86.avx512.vpdpbusd.256", "model.vpdpbusd.256"},
    {"llvm.x86.avx512.pmaddw.d.512", "model.pmaddw.d.512"},
    {"llvm.x86.avx512.pmaddubs.w.512", "model.pmaddubs.w.512"}};

/// vdpbf16ps: the odd elements' product is added first, then the even ones',
/// each rounded once to the nearest. Denormals are zeros of their sign before
/// and after each of both, whatever the thread's mode.
///
/// vpdpbusd: four products of a byte without a sign and one with, their sum and
/// the old one modulo 2^32. vpmaddwd: the sum of two products. vpmaddubsw: that
/// of two of a byte without a sign and one with, the nearest that 16 bits hold.
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
declare <32 x i16> @llvm.sadd.sat.v32i16(<32 x i16>, <32 x i16>)
declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
attributes #0 = { alwaysinline nounwind }
)";

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
  llvm::SmallVector<std::pair<llvm::Function *, llvm::StringRef>> used;
  for (llvm::Function &function : module) {
    // Those of AVX2 are of level 3, which every machine that emulates has.
    if (!function.getName().starts_with("llvm.x86.") ||
        function.getName().starts_with("llvm.x86.avx2.")) {
      continue;
    }
    const Model *model = llvm::find_if(models, [&](const Model &each) {
      return each.intrinsic == function.getName();
    });
    if (model == std::end(models)) {
      return function.getName().str();
    }
    used.emplace_back(&function, model->function);
  }
  if (!used.empty()) {
    linkModels(module);
  }
  for (auto [intrinsic, model] : used) {
    intrinsic->replaceAllUsesWith(module.getFunction(model));
    intrinsic->eraseFromParent();
  }
  return "";
}
