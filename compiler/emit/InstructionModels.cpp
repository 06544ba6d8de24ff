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
    {"llvm.x86.avx512bf16.dpbf16ps.512", "model.dpbf16ps.512"}};

/// vdpbf16ps: the odd elements' product is added first, then the even ones',
/// each rounded once to the nearest. Denormals are zeros of their sign before
/// and after each of both, whatever the thread's mode.
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
    if (!function.getName().starts_with("llvm.x86.")) {
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
