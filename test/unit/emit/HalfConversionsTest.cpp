// Conversions of f16 as arithmetic against the instructions of a machine that
// has them: every half, and floats around every half and between.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/HalfConversions.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <array>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace tfc;

namespace {

/// Eight at once, and one.
constexpr char text[] = R"(
define void @widen(ptr %from, ptr %to) {
  %x = load <8 x half>, ptr %from, align 2
  %y = fpext <8 x half> %x to <8 x float>
  store <8 x float> %y, ptr %to, align 4
  ret void
}
define void @narrow(ptr %from, ptr %to) {
  %x = load <8 x float>, ptr %from, align 4
  %y = fptrunc <8 x float> %x to <8 x half>
  store <8 x half> %y, ptr %to, align 2
  ret void
}
define void @narrow_one(ptr %from, ptr %to) {
  %x = load float, ptr %from, align 4
  %y = fptrunc float %x to half
  store half %y, ptr %to, align 2
  ret void
}
)";

using Floats = std::array<uint32_t, 8>;
using Halves = std::array<uint16_t, 8>;

class Conversions {
public:
  explicit Conversions(bool isArithmetic) {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto context = std::make_unique<llvm::LLVMContext>();
    llvm::SMDiagnostic diagnostic;
    std::unique_ptr<llvm::Module> module =
        llvm::parseAssemblyString(text, diagnostic, *context);
    if (isArithmetic) {
      expandHalves(*module);
    }
    llvm::orc::JITTargetMachineBuilder machine(
        (llvm::Triple(llvm::sys::getProcessTriple())));
    machine.setCPU("x86-64-v3");
    jit = llvm::cantFail(llvm::orc::LLJITBuilder()
                             .setJITTargetMachineBuilder(std::move(machine))
                             .create());
    llvm::cantFail(jit->addIRModule(
        llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
    for (const char *name : {"widen", "narrow", "narrow_one"}) {
      all.push_back(llvm::cantFail(jit->lookup(name)).toPtr<Function>());
    }
  }

  Floats widen(const Halves &from) { return call<Floats>(all[0], from); }
  Halves narrow(const Floats &from) { return call<Halves>(all[1], from); }
  Halves narrowOne(const Floats &from) { return call<Halves>(all[2], from); }

private:
  using Function = void (*)(const void *, void *);

  template <typename To, typename From>
  static To call(Function function, const From &from) {
    To to = {};
    function(from.data(), to.data());
    return to;
  }

  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::vector<Function> all;
};

bool hasInstructions() {
  auto features = llvm::sys::getHostCPUFeatures();
  return features.lookup("f16c") && features.lookup("avx2");
}

TEST(HalfConversions, widenEveryHalf) {
  if (!hasInstructions()) {
    GTEST_SKIP() << "expected a machine of x86-64-v3";
  }
  Conversions arithmetic(true), instructions(false);
  for (uint32_t first = 0; first < 0x10000; first += 8) {
    Halves halves;
    for (uint32_t lane = 0; lane < 8; ++lane) {
      halves[lane] = static_cast<uint16_t>(first + lane);
    }
    ASSERT_EQ(arithmetic.widen(halves), instructions.widen(halves)) << first;
  }
}

TEST(HalfConversions, narrowToTheNearest) {
  if (!hasInstructions()) {
    GTEST_SKIP() << "expected a machine of x86-64-v3";
  }
  Conversions arithmetic(true), instructions(false);
  // What is equally near to two, and its neighbours; of numbers that are none
  // the first bits, too. Denormals of f32 are below all of it.
  std::mt19937 random(1);
  for (uint32_t upper = 0; upper < 1U << 19; ++upper) {
    uint32_t bits = upper << 13;
    uint32_t drawn = bits | static_cast<uint32_t>(random()) >> 19;
    Floats floats = {bits,          bits | 1,      bits | 0x0fff, bits | 0x1000,
                     bits | 0x1001, bits | 0x1fff, drawn,         drawn ^ 1};
    ASSERT_EQ(arithmetic.narrow(floats), instructions.narrow(floats)) << upper;
    ASSERT_EQ(arithmetic.narrowOne(floats)[0], arithmetic.narrow(floats)[0]);
  }
  // Of halves that are denormal more bits decide.
  for (int trial = 0; trial < 1 << 16; ++trial) {
    Floats floats;
    for (uint32_t &each : floats) {
      each = (0x33000000 + static_cast<uint32_t>(random()) % 0x06000000) |
             (random() & 1) << 31;
    }
    ASSERT_EQ(arithmetic.narrow(floats), instructions.narrow(floats));
  }
}

} // namespace
