// What --target means: levels, CPUs by LLVM's name, lists.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/target/TargetInfo.h"

#include "runtime/src/load/X86Levels.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include <gtest/gtest.h>
#include <set>

using namespace tfc;

namespace {

TargetInfo parse(llvm::StringRef text) {
  llvm::Expected<TargetInfo> target = TargetInfo::parse(text);
  if (!target) {
    ADD_FAILURE() << llvm::toString(target.takeError());
    return {};
  }
  return *target;
}

std::string parseError(llvm::StringRef text) {
  llvm::Expected<std::vector<TargetInfo>> targets = TargetInfo::parseList(text);
  return targets ? "none" : llvm::toString(targets.takeError());
}

TEST(TargetInfo, aLevelHasNoMicroarchitecture) {
  TargetInfo target = parse("cpu:x86-64-v3");
  EXPECT_EQ(target.name, "x86-64-v3");
  EXPECT_EQ(target.microarchitecture, "");
  EXPECT_EQ(target.features & TFC_FEATURE_X86_64_V4, 0u);
}

TEST(TargetInfo, aCpuIsItsLevelAndMicroarchitecture) {
  TargetInfo zen = parse("cpu:znver4");
  EXPECT_EQ(zen.name, "x86-64-v4");
  EXPECT_EQ(zen.microarchitecture, "znver4");
  EXPECT_EQ(zen.features, parse("cpu:x86-64-v4").features);
  EXPECT_EQ(zen.tuning, parse("cpu:x86-64-v4").tuning);
  // AVX2 without AVX-512.
  EXPECT_EQ(parse("cpu:znver3").name, "x86-64-v3");
  EXPECT_EQ(parse("cpu:haswell").microarchitecture, "haswell");
  EXPECT_EQ(parse("cpu:emeraldrapids").name, "x86-64-v4");
}

TEST(TargetInfo, anEmulatedLevelNeedsLessAndStaysItself) {
  TargetInfo full = parse("cpu:x86-64-v4");
  TargetInfo target = parse("cpu:x86-64-v4-emulated");
  EXPECT_EQ(target.programName(), "x86-64-v4-emulated");
  EXPECT_EQ(target.name, full.name);
  EXPECT_EQ(target.cpu, "x86-64-v3");
  EXPECT_EQ(target.features, parse("cpu:x86-64-v3").features);
  EXPECT_EQ(full.programName(), "x86-64-v4");
  EXPECT_EQ(full.cpu, "x86-64-v4");
  EXPECT_EQ(parse("cpu:znver4").emulated().microarchitecture, "znver4");
  // There is nothing to emulate for the lowest level.
  EXPECT_EQ(parse("cpu:x86-64-v3").emulated().programName(), "x86-64-v3");
}

TEST(TargetInfo, runsHereAsThisMachineDoes) {
  EXPECT_TRUE(parse("cpu").runsHere());
  EXPECT_TRUE(parse("cpu:x86-64-v4-emulated").runsHere());
  EXPECT_TRUE(parse("cuda:sm_90").runsHere());
  TargetInfo odd = parse("cpu");
  odd.features |= TFC_FEATURE_FAST_AVX512_BF16;
  EXPECT_EQ(odd.runsHere(),
            parse("cpu").fastAt(Factors::BF16).name == "x86-64-v4+bf16");
  uint64_t here = parse("cpu").machineFeatures;
  EXPECT_EQ(parse("cpu:x86-64-v4+vnni").runsHere(),
            (here & TFC_FEATURE_AVX512_VNNI) != 0);
  EXPECT_EQ(parse("cpu:x86-64-v4+amx-bf16").runsHere(),
            (here & TFC_FEATURE_AMX_BF16) != 0);
}

TEST(TargetInfo, cudaIsAnArchitectureAndRunsOnAHostOfTheLowestLevel) {
  TargetInfo target = parse("cuda:sm_86");
  EXPECT_EQ(target.name, "sm_86");
  EXPECT_EQ(target.programFeatures(), 86u);
  EXPECT_EQ(target.features, parse("cpu:x86-64-v3").features);
  EXPECT_TRUE(target.isDevice());
  EXPECT_EQ(target.cpu, "x86-64-v3");
  EXPECT_EQ(parse("cuda").name, "sm_80");
  EXPECT_FALSE(parse("cpu:x86-64-v4").isDevice());
  EXPECT_EQ(parse("cpu:x86-64-v4").cpu, "x86-64-v4");
}

TEST(TargetInfo, findsProgramsByTheirNames) {
  for (llvm::StringRef name :
       {"x86-64-v3", "x86-64-v4", "x86-64-v4+bf16", "x86-64-v4-emulated",
        "x86-64-v4+bf16-emulated", "sm_80", "sm_90", "sm_90a"}) {
    std::optional<TargetInfo> found = TargetInfo::findProgram(name);
    ASSERT_TRUE(found.has_value()) << name.str();
    EXPECT_EQ(found->programName(), name);
    EXPECT_EQ(found->microarchitecture, "");
  }
  EXPECT_FALSE(TargetInfo::findProgram("znver4").has_value());
  EXPECT_FALSE(TargetInfo::findProgram("cuda").has_value());
}

TEST(TargetInfo, bf16IsForMachinesThatAreFastAtIt) {
  TargetInfo target = parse("cpu:x86-64-v4+bf16");
  EXPECT_EQ(target.cpu, "x86-64-v4");
  EXPECT_EQ(target.attributes, "+avx512bf16");
  EXPECT_EQ(target.multiplies, Factors::BF16);
  EXPECT_FALSE(target.isEmulated());
  EXPECT_EQ(target.features,
            parse("cpu:x86-64-v4").features | TFC_FEATURE_FAST_AVX512_BF16);
  TargetInfo emulated = target.emulated();
  EXPECT_EQ(emulated.programName(), "x86-64-v4+bf16-emulated");
  EXPECT_EQ(emulated.multiplies, Factors::BF16);
  EXPECT_EQ(emulated.attributes, "");
  EXPECT_EQ(emulated.features, parse("cpu:x86-64-v3").features);
  EXPECT_TRUE(emulated.runsHere());
  // A machine that is known, where it is asked for.
  EXPECT_EQ(parse("cpu:znver4").fastAt(Factors::BF16).programName(),
            "x86-64-v4+bf16");
  EXPECT_EQ(parse("cpu:znver4").fastAt(Factors::BF16).microarchitecture,
            "znver4");
  for (llvm::StringRef other :
       {"cpu:x86-64-v4", "cpu:cooperlake", "cpu:znver3", "cuda"}) {
    EXPECT_EQ(parse(other).fastAt(Factors::BF16).programName(),
              parse(other).programName());
  }
  llvm::Expected<std::vector<TargetInfo>> listed = TargetInfo::parseList(
      "cpu:x86-64-v4+bf16,cpu:x86-64-v4,cpu:x86-64-v3", Factors::BF16);
  ASSERT_TRUE(static_cast<bool>(listed));
  ASSERT_EQ(listed->size(), 3u);
  EXPECT_EQ(listed->back().name, "x86-64-v4+bf16");
  std::vector<TargetInfo> all = TargetInfo::allFor(Factors::BF16);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[2].name, "x86-64-v4+bf16");
  EXPECT_EQ(all[3].name, "x86-64-v4+amx-bf16");
}

TEST(TargetInfo, tilesAreForMachinesThatHaveThem) {
  for (auto [name, factors, attributes, feature] :
       {std::tuple{"x86-64-v4+amx-bf16", Factors::BF16,
                   "+amx-tile,+amx-bf16,+avx512bf16",
                   uint64_t(TFC_FEATURE_AMX_BF16)},
        std::tuple{"x86-64-v4+amx-int8", Factors::Int8,
                   "+amx-tile,+amx-int8,+avx512vnni",
                   uint64_t(TFC_FEATURE_AVX512_VNNI | TFC_FEATURE_AMX_INT8)}}) {
    TargetInfo target = parse("cpu:" + std::string(name));
    EXPECT_EQ(target.programName(), name);
    EXPECT_EQ(target.attributes, attributes);
    EXPECT_EQ(target.multiplies, factors);
    EXPECT_EQ(target.features, parse("cpu:x86-64-v4").features | feature);
    TargetInfo emulated = target.emulated();
    EXPECT_TRUE(emulated.runsHere());
    EXPECT_EQ(TargetInfo::findProgram(emulated.programName())->name, name);
    // A machine that is known, where it is asked for.
    for (llvm::StringRef machine :
         {"cpu:sapphirerapids", "cpu:graniterapids"}) {
      EXPECT_EQ(parse(machine).fastAt(factors).programName(), name);
    }
    EXPECT_EQ(TargetInfo::allFor(factors).back().name, name);
  }
  EXPECT_EQ(parse("cpu:sapphirerapids").programName(), "x86-64-v4");
}

TEST(TargetInfo, int8IsForEveryMachineAndFasterWithUnits) {
  for (auto [name, attribute, feature] :
       {std::tuple{"x86-64-v3+avxvnni", "+avxvnni", TFC_FEATURE_AVX_VNNI},
        std::tuple{"x86-64-v4+vnni", "+avx512vnni", TFC_FEATURE_AVX512_VNNI}}) {
    TargetInfo target = parse("cpu:" + std::string(name));
    EXPECT_EQ(target.attributes, attribute);
    EXPECT_EQ(target.multiplies, Factors::Int8);
    EXPECT_EQ(target.features, parse("cpu:" + target.cpu).features |
                                   static_cast<uint64_t>(feature));
    EXPECT_TRUE(target.emulated().runsHere());
    EXPECT_EQ(TargetInfo::findProgram(target.emulated().programName())->name,
              name);
  }
  // The greatest number wins where a machine has both.
  EXPECT_GT(parse("cpu:x86-64-v4+vnni").features,
            parse("cpu:x86-64-v3+avxvnni").features);
  for (auto [machine, program] :
       {std::pair{"cpu:znver4", "x86-64-v4+vnni"},
        std::pair{"cpu:cascadelake", "x86-64-v4+vnni"},
        std::pair{"cpu:sapphirerapids", "x86-64-v4+amx-int8"},
        std::pair{"cpu:alderlake", "x86-64-v3+avxvnni"},
        std::pair{"cpu:skylake-avx512", "x86-64-v4"},
        std::pair{"cpu:znver3", "x86-64-v3"},
        std::pair{"cpu:x86-64-v4", "x86-64-v4"}, std::pair{"cuda", "sm_80"}}) {
    EXPECT_EQ(parse(machine).fastAt(Factors::Int8).programName(), program)
        << machine;
  }
  std::vector<TargetInfo> all = TargetInfo::allFor(Factors::Int8);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].name, "x86-64-v3");
  EXPECT_EQ(all[1].name, "x86-64-v3+avxvnni");
  EXPECT_EQ(all[2].name, "x86-64-v4+vnni");
}

TEST(TargetInfo, everyArmIsOneLevel) {
  TargetInfo target = parse("cpu:armv8-a");
  EXPECT_EQ(target.name, "armv8-a");
  EXPECT_EQ(target.machine, Machine::Aarch64);
  EXPECT_EQ(target.triple(), "aarch64-unknown-linux-gnu");
  EXPECT_EQ(parse("cpu:x86-64-v3").triple(), "x86_64-unknown-linux-gnu");
  EXPECT_EQ(target.features, 0u);
  EXPECT_EQ(target.attributes, "");
  EXPECT_EQ(target.microarchitecture, "");
  EXPECT_TRUE(target.needsModels());
  for (auto [name, ofBytes] : {std::pair<llvm::StringRef, llvm::StringRef>{
                                   "neoverse-n1", "armv8-a+dotprod"},
                               {"neoverse-n2", "armv8-a+i8mm"},
                               {"neoverse-v1", "armv8-a+i8mm"},
                               {"neoverse-v2", "armv8-a+i8mm"},
                               {"cortex-a76", "armv8-a+dotprod"},
                               {"cortex-a72", "armv8-a"},
                               {"cortex-a53", "armv8-a"}}) {
    TargetInfo cpu = parse("cpu:" + name.str());
    EXPECT_EQ(cpu.programName(), "armv8-a");
    EXPECT_EQ(cpu.microarchitecture, name);
    EXPECT_EQ(cpu.cpu, target.cpu);
    EXPECT_EQ(cpu.attributes, "");
    EXPECT_EQ(cpu.fastAt(Factors::BF16).programName(), "armv8-a");
    EXPECT_EQ(cpu.fastAt(Factors::Int8).programName(), ofBytes);
  }
  EXPECT_EQ(TargetInfo::findProgram("armv8-a")->machine, Machine::Aarch64);
}

TEST(TargetInfo, aRiscvHasVectorsOfSomeLength) {
  constexpr uint64_t v = TFC_FEATURE_RISCV_V,
                     long256 = TFC_FEATURE_RISCV_ZVL256B,
                     long512 = TFC_FEATURE_RISCV_ZVL512B;
  for (auto [name, features] :
       {std::pair<llvm::StringRef, uint64_t>{"rv64gcv", v},
        {"rv64gcv+zvl256b", v | long256},
        {"rv64gcv+zvl512b", v | long256 | long512},
        {"spacemit-x60", v | long256},
        {"sifive-x280", v | long256 | long512},
        {"sifive-p670", v}}) {
    TargetInfo target = parse("cpu:" + name.str());
    EXPECT_EQ(target.machine, Machine::Riscv64);
    EXPECT_EQ(target.triple(), "riscv64-unknown-linux-gnu");
    EXPECT_EQ(target.features, features) << name.str();
    EXPECT_TRUE(target.needsModels());
    // No program multiplies bytes by instructions of their own.
    EXPECT_EQ(target.fastAt(Factors::Int8).programName(), target.name);
    TargetInfo emulated = target.emulated();
    EXPECT_TRUE(emulated.runsHere());
    EXPECT_EQ(emulated.programName(), target.name + "-emulated");
  }
  EXPECT_EQ(parse("cpu:spacemit-x60").programName(), "rv64gcv+zvl256b");
  EXPECT_EQ(parse("cpu:sifive-p670").microarchitecture, "sifive-p670");
}

TEST(TargetInfo, aMacIsAnArmWithAnotherFile) {
  TargetInfo target = parse("cpu:apple-m1");
  EXPECT_EQ(target.machine, Machine::AppleSilicon);
  EXPECT_EQ(target.triple(), "arm64-apple-macosx11.0.0");
  EXPECT_EQ(target.programName(), "armv8-a");
  TargetInfo bytes = target.fastAt(Factors::Int8);
  EXPECT_EQ(bytes.programName(), "armv8-a+dotprod");
  EXPECT_EQ(bytes.machine, Machine::AppleSilicon);
  EXPECT_FALSE(bytes.needsModels());
  EXPECT_FALSE(target.runsHere());
  EXPECT_EQ(target.emulated().triple(), parse("cpu").triple());
  EXPECT_EQ(parse("cpu:apple-m2").fastAt(Factors::Int8).programName(),
            "armv8-a+i8mm");
  // As a module's attribute says it.
  TargetInfo said = *TargetInfo::findProgram("armv8-a");
  said.tuneFor("apple-m2");
  EXPECT_EQ(said.machine, Machine::AppleSilicon);
  said = *TargetInfo::findProgram("armv8-a-emulated");
  said.tuneFor("apple-m2");
  EXPECT_EQ(said.triple(), parse("cpu").triple());
}

TEST(TargetInfo, anArmWithProductsOfBytes) {
  TargetInfo target = parse("cpu:armv8-a+dotprod");
  EXPECT_EQ(target.machine, Machine::Aarch64);
  EXPECT_EQ(target.features, uint64_t(TFC_FEATURE_ARM_DOTPROD));
  EXPECT_EQ(target.attributes, "+dotprod");
  EXPECT_EQ(target.multiplies, Factors::Int8);
  EXPECT_FALSE(target.needsModels());
  EXPECT_TRUE(target.emulated().needsModels());
  TargetInfo matrices = parse("cpu:armv8-a+i8mm");
  EXPECT_EQ(matrices.machine, Machine::Aarch64);
  EXPECT_EQ(matrices.features,
            uint64_t(TFC_FEATURE_ARM_DOTPROD | TFC_FEATURE_ARM_I8MM));
  EXPECT_EQ(matrices.attributes, "+dotprod,+i8mm");
  EXPECT_EQ(matrices.multiplies, Factors::Int8);
  EXPECT_FALSE(matrices.needsModels());
  EXPECT_TRUE(matrices.emulated().needsModels());
  auto all = TargetInfo::parseList(
      "cpu:armv8-a+i8mm,cpu:armv8-a,cpu:armv8-a+dotprod", Factors::Int8);
  ASSERT_TRUE(static_cast<bool>(all));
  EXPECT_EQ(all->front().name, "armv8-a");
  EXPECT_EQ(all->back().name, "armv8-a+i8mm");
  // A feature of x86-64 with the same bit says nothing of it.
  EXPECT_EQ(parse("cpu:znver4").fastAt(Factors::Int8).machine, Machine::X86_64);
}

TEST(TargetInfo, anEmulatedArmIsOfThisMachine) {
  TargetInfo here = parse("cpu").emulated();
  TargetInfo target = parse("cpu:armv8-a").emulated();
  EXPECT_TRUE(target.runsHere());
  if (here.machine == Machine::X86_64) {
    EXPECT_FALSE(parse("cpu:armv8-a").runsHere());
    EXPECT_EQ(target.programName(), "armv8-a-emulated");
    EXPECT_EQ(target.triple(), "x86_64-unknown-linux-gnu");
    EXPECT_EQ(target.cpu, "x86-64-v3");
    EXPECT_EQ(target.tuning, parse("cpu:x86-64-v3").tuning);
    EXPECT_EQ(target.features, parse("cpu:x86-64-v3").features);
    EXPECT_EQ(parse("cpu:armv8-a-emulated").cpu, target.cpu);
    EXPECT_EQ(parse("cpu:armv8-a+dotprod-emulated").cpu, target.cpu);
  }
}

TEST(TargetInfo, aLibraryIsOfOneKindOfMachine) {
  std::string expected = "expected --target to name one kind of machine (a "
                         "library is of x86-64, of aarch64, of riscv64 or of "
                         "Apple silicon), got ";
  EXPECT_EQ(parseError("cpu:armv8-a,cpu:x86-64-v4"),
            expected + "armv8-a and x86-64-v4 in cpu:armv8-a,cpu:x86-64-v4");
  EXPECT_EQ(parseError("cpu:x86-64-v3,cpu:x86-64-v4,cpu:neoverse-n1"),
            expected + "x86-64-v3 and armv8-a in "
                       "cpu:x86-64-v3,cpu:x86-64-v4,cpu:neoverse-n1");
  EXPECT_EQ(parseError("cpu:armv8-a,cuda"),
            expected + "armv8-a and the host code of sm_80 (x86-64) in "
                       "cpu:armv8-a,cuda");
  EXPECT_EQ(parseError("cpu:rv64gcv,cpu:armv8-a"),
            expected + "rv64gcv and armv8-a in cpu:rv64gcv,cpu:armv8-a");
  EXPECT_EQ(parseError("cpu:armv8-a,cpu:neoverse-n1"),
            "expected --target to name one machine of the level armv8-a (of "
            "two programs for the same instructions the runtime would not know "
            "which to take), got cpu:armv8-a,cpu:neoverse-n1");
}

/// What LLVM may use in code for a CPU, without what it may use for x86-64.
std::set<std::string> featuresBeyondX86(llvm::StringRef cpu) {
  auto featuresOf = [](llvm::StringRef cpu) {
    llvm::SmallVector<llvm::StringRef> listed;
    llvm::X86::getFeaturesForCPU(cpu, listed);
    llvm::StringMap<bool> all;
    for (llvm::StringRef name : listed) {
      all[name] = true;
      llvm::X86::updateImpliedFeatures(name, true, all);
    }
    return all;
  };
  llvm::StringMap<bool> basic = featuresOf("x86-64");
  // Every x86-64 has it; this table of LLVM's says only sse.
  basic["sse2"] = true;
  std::set<std::string> names;
  for (const auto &feature : featuresOf(cpu)) {
    if (feature.second && !basic.lookup(feature.first())) {
      names.insert(feature.first().str());
    }
  }
  return names;
}

TEST(TargetInfo, levelsHaveTheFeaturesThatLlvmUses) {
  std::set<std::string> listed;
  for (auto [level, name] : {std::pair(TFC_FEATURE_X86_64_V2, "x86-64-v2"),
                             std::pair(TFC_FEATURE_X86_64_V3, "x86-64-v3"),
                             std::pair(TFC_FEATURE_X86_64_V4, "x86-64-v4")}) {
    for (const X86Feature &feature : x86Features) {
      if (feature.level == static_cast<uint64_t>(level)) {
        listed.insert(feature.name);
      }
    }
    EXPECT_EQ(listed, featuresBeyondX86(name)) << name;
  }
}

TEST(TargetInfo, refusesWhatCannotRunIt) {
  std::string expected =
      "expected --target cpu, cpu:x86-64-v3, cpu:x86-64-v4, "
      "cpu:x86-64-v4+bf16, cpu:x86-64-v4+amx-bf16, cpu:x86-64-v3+avxvnni, "
      "cpu:x86-64-v4+vnni, cpu:x86-64-v4+amx-int8, "
      "cpu:armv8-a, cpu:armv8-a+dotprod, cpu:armv8-a+i8mm, "
      "cpu:rv64gcv, cpu:rv64gcv+zvl256b, "
      "cpu:rv64gcv+zvl512b or LLVM's name of a CPU with AVX2, "
      "FMA and F16C, of a 64-bit Arm or of a 64-bit RISC-V with V, as "
      "cpu:znver4, or cuda or cuda:sm_80 (also sm_86, sm_87, "
      "sm_89, sm_90, sm_90a), "
      "got ";
  // No AVX2; 32 bits; nobody's name.
  EXPECT_EQ(parseError("cpu:sandybridge"), expected + "cpu:sandybridge");
  EXPECT_EQ(parseError("cpu:i686"), expected + "cpu:i686");
  EXPECT_EQ(parseError("cpu:zen4"), expected + "cpu:zen4");
  EXPECT_EQ(parseError("cpu:"), expected + "cpu:");
  // 32 bits; no Linux on it; a level that is none; none in particular.
  EXPECT_EQ(parseError("cpu:cortex-a15"), expected + "cpu:cortex-a15");
  EXPECT_EQ(parseError("cpu:cortex-r82"), expected + "cpu:cortex-r82");
  EXPECT_EQ(parseError("cpu:armv8.6-a"), expected + "cpu:armv8.6-a");
  EXPECT_EQ(parseError("cpu:generic"), expected + "cpu:generic");
  // No vectors; 32 bits.
  EXPECT_EQ(parseError("cpu:sifive-u74"), expected + "cpu:sifive-u74");
  EXPECT_EQ(parseError("cpu:sifive-e76"), expected + "cpu:sifive-e76");
  EXPECT_EQ(parseError("cpu:rv64gc"), expected + "cpu:rv64gc");
  // Too old; needs a newer PTX; not a number; a program's name is no target.
  EXPECT_EQ(parseError("cuda:sm_75"), expected + "cuda:sm_75");
  EXPECT_EQ(parseError("cuda:sm_100"), expected + "cuda:sm_100");
  EXPECT_EQ(parseError("cuda:sm_"), expected + "cuda:sm_");
  EXPECT_EQ(parseError("sm_80"), expected + "sm_80");
}

TEST(TargetInfo, aListHasEachLevelOnceTheLeastDemandingFirst) {
  llvm::Expected<std::vector<TargetInfo>> targets =
      TargetInfo::parseList("cpu:znver5,cpu:x86-64-v3,cpu:znver5");
  ASSERT_TRUE(static_cast<bool>(targets));
  ASSERT_EQ(targets->size(), 2u);
  EXPECT_EQ((*targets)[0].name, "x86-64-v3");
  EXPECT_EQ((*targets)[1].microarchitecture, "znver5");
  EXPECT_EQ(parseError("cpu:znver5,cpu:x86-64-v4"),
            "expected --target to name one machine of the level x86-64-v4 (of "
            "two programs for the same instructions the runtime would not know "
            "which to take), got cpu:znver5,cpu:x86-64-v4");
}

TEST(TargetInfo, aListHasDevicesLastSinceTheyAreWanted) {
  llvm::Expected<std::vector<TargetInfo>> targets =
      TargetInfo::parseList("cuda:sm_90,cuda,cpu:x86-64-v4,cuda:sm_80");
  ASSERT_TRUE(static_cast<bool>(targets));
  ASSERT_EQ(targets->size(), 3u);
  EXPECT_EQ((*targets)[0].name, "x86-64-v4");
  EXPECT_EQ((*targets)[1].name, "sm_80");
  EXPECT_EQ((*targets)[1].microarchitecture, "sm_90,sm_100,sm_120");
  EXPECT_EQ((*targets)[2].name, "sm_90");
  EXPECT_EQ((*targets)[2].microarchitecture, "");
}

TEST(TargetInfo, aDeviceMayBeOfOneCapabilityAlone) {
  TargetInfo exact = parse("cuda:sm_90a"), later = parse("cuda:sm_90");
  EXPECT_EQ(exact.programFeatures(), 90 | TFC_FEATURE_CUDA_EXACT);
  EXPECT_EQ(later.programFeatures(), 90u);
  EXPECT_TRUE(exact.hasWarpgroups());
  EXPECT_FALSE(later.hasWarpgroups());
  EXPECT_TRUE(later.hasOverlap());
  EXPECT_FALSE(parse("cuda").hasOverlap());
  EXPECT_FALSE(TargetInfo::findProgram("sm_80a").has_value());
}

TEST(TargetInfo, bothLevelsAreFastHereAndRunAnywhere) {
  std::vector<TargetInfo> targets = TargetInfo::allFor(Factors::F32);
  ASSERT_EQ(targets.size(), 2u);
  TargetInfo here = parse("cpu");
  for (size_t i : {0, 1}) {
    EXPECT_EQ(targets[i].name, i == 0 ? "x86-64-v3" : "x86-64-v4");
    EXPECT_EQ(targets[i].microarchitecture,
              targets[i].name == here.name ? here.microarchitecture : "");
  }
}

} // namespace
