// What a program is compiled for: parsed once from --target.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/target/TargetInfo.h"

#include "runtime/src/load/Aarch64Features.h"
#include "runtime/src/load/Riscv64Features.h"
#include "runtime/src/load/X86Levels.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/AArch64TargetParser.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/RISCVISAInfo.h"
#include "llvm/TargetParser/RISCVTargetParser.h"
#include "llvm/TargetParser/X86TargetParser.h"

using namespace tfc;

static TargetInfo level3() {
  TargetInfo info;
  info.name = info.cpu = "x86-64-v3";
  info.features = TFC_FEATURE_X86_64_V2 | TFC_FEATURE_X86_64_V3;
  info.tuning = "znver3";
  return info;
}

static TargetInfo level4() {
  TargetInfo info = level3();
  info.name = info.cpu = "x86-64-v4";
  info.features |= TFC_FEATURE_X86_64_V4;
  info.tuning = "znver4";
  return info;
}

static TargetInfo level4Bf16() {
  TargetInfo info = level4();
  info.name += "+bf16";
  info.features |= TFC_FEATURE_FAST_AVX512_BF16;
  info.attributes = "+avx512bf16";
  info.multiplies = Factors::BF16;
  return info;
}

static TargetInfo level4Vnni() {
  TargetInfo info = level4();
  info.name += "+vnni";
  info.features |= TFC_FEATURE_AVX512_VNNI;
  info.attributes = "+avx512vnni";
  info.multiplies = Factors::Int8;
  return info;
}

/// Intel's units for products of tiles. What these do not divide, words take.
static TargetInfo level4AmxBf16() {
  TargetInfo info = level4();
  info.name += "+amx-bf16";
  info.features |= TFC_FEATURE_AMX_BF16;
  info.attributes = "+amx-tile,+amx-bf16,+avx512bf16";
  info.multiplies = Factors::BF16;
  return info;
}

static TargetInfo level4AmxInt8() {
  TargetInfo info = level4Vnni();
  info.name = "x86-64-v4+amx-int8";
  info.features |= TFC_FEATURE_AMX_INT8;
  info.attributes = "+amx-tile,+amx-int8,+avx512vnni";
  return info;
}

static TargetInfo level3Vnni() {
  TargetInfo info = level3();
  info.name += "+avxvnni";
  info.features |= TFC_FEATURE_AVX_VNNI;
  info.attributes = "+avxvnni";
  info.multiplies = Factors::Int8;
  return info;
}

/// Every 64-bit Arm that runs Linux: NEON and fused multiply-adds are its own.
static TargetInfo armv8() {
  TargetInfo info;
  info.name = "armv8-a";
  info.machine = Machine::Aarch64;
  info.cpu = "generic";
  info.tuning = "neoverse-n1";
  return info;
}

/// From ARMv8.1-A on, and always from ARMv8.4-A on.
static TargetInfo armv8Dotprod() {
  TargetInfo info = armv8();
  info.name += "+dotprod";
  info.features |= TFC_FEATURE_ARM_DOTPROD;
  info.attributes = "+dotprod";
  info.multiplies = Factors::Int8;
  return info;
}

/// Optional from ARMv8.2-A on, and always there from ARMv8.6-A on.
static TargetInfo armv8I8mm() {
  TargetInfo info = armv8Dotprod();
  info.name = "armv8-a+i8mm";
  info.features |= TFC_FEATURE_ARM_I8MM;
  info.attributes += ",+i8mm";
  return info;
}

/// Every RISC-V with the vector extension of version 1.0. Its registers have
/// 128 bits or more, of which a vector of eight floats is two.
static TargetInfo riscv() {
  TargetInfo info;
  info.name = "rv64gcv";
  info.machine = Machine::Riscv64;
  info.features = TFC_FEATURE_RISCV_V;
  info.cpu = "generic-rv64";
  // Zicbop's instructions ask for memory ahead, and are nothing elsewhere.
  info.attributes = "+m,+a,+f,+d,+c,+v,+zicbop";
  info.tuning = "generic-rv64";
  return info;
}

/// Of 256 bits or more, of which it is one.
static TargetInfo riscv256() {
  TargetInfo info = riscv();
  info.name += "+zvl256b";
  info.features |= TFC_FEATURE_RISCV_ZVL256B;
  info.attributes += ",+zvl256b";
  return info;
}

/// Of 512 bits or more: a vector has sixteen floats.
static TargetInfo riscv512() {
  TargetInfo info = riscv();
  info.name += "+zvl512b";
  info.features |= TFC_FEATURE_RISCV_ZVL256B | TFC_FEATURE_RISCV_ZVL512B;
  info.attributes += ",+zvl512b";
  return info;
}

/// All programs of CPUs, as users are told of them.
static std::vector<TargetInfo> allLevels() {
  return {level3(),       level4(),     level4Bf16(),    level4AmxBf16(),
          level3Vnni(),   level4Vnni(), level4AmxInt8(), armv8(),
          armv8Dotprod(), armv8I8mm(),  riscv(),         riscv256(),
          riscv512()};
}

/// What has units beyond the levels' own, the last that a machine has being the
/// fastest there for its factors.
static std::vector<TargetInfo> programsOfUnits() {
  return {level4Bf16(),    level4AmxBf16(), level3Vnni(), level4Vnni(),
          level4AmxInt8(), armv8Dotprod(),  armv8I8mm()};
}

/// What the machine that this runs on is, and the level that all of its kind
/// have.
#if defined(__aarch64__)
static TargetInfo lowestHere() { return armv8(); }
#else
static TargetInfo lowestHere() { return level3(); }
#endif

/// Compute capabilities, 10 x major + minor, whose instructions PTX ISA 8.0
/// has, from the first with all that kernels use.
static constexpr unsigned capabilities[] = {80, 86, 87, 89, 90};

/// Of 9.0 alone: warpgroups.
static constexpr llvm::StringLiteral kHopper = "sm_90a";

static std::optional<TargetInfo> findCuda(llvm::StringRef architecture) {
  TargetInfo info = level3();
  info.name = architecture.str();
  unsigned capability = 0;
  info.isExact = architecture == kHopper;
  if (!architecture.consume_front("sm_") ||
      (info.isExact && !architecture.consume_back("a")) ||
      architecture.getAsInteger(10, capability) ||
      !llvm::is_contained(capabilities, capability)) {
    return std::nullopt;
  }
  info.capability = capability;
  info.kind = TargetKind::Cuda;
  return info;
}

static std::optional<TargetInfo> findLevelCalled(llvm::StringRef name) {
  for (const TargetInfo &level : allLevels()) {
    for (const TargetInfo &program : {level, level.emulated()}) {
      if (name == program.programName()) {
        return program;
      }
    }
  }
  return std::nullopt;
}

std::optional<TargetInfo> TargetInfo::findProgram(llvm::StringRef name) {
  std::optional<TargetInfo> level = findLevelCalled(name);
  return level ? level : findCuda(name);
}

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// The first instruction set of `levels`, TFC_FEATURE_*, that is not in
/// `features`; "" when all are.
static llvm::StringRef findMissing(uint64_t levels,
                                   const llvm::StringMap<bool> &features) {
  for (const X86Feature &feature : x86Features) {
    if ((feature.level & levels) && !features.lookup(feature.name)) {
      return feature.name;
    }
  }
  return "";
}

/// The highest level whose instructions are all in `features`.
static std::optional<TargetInfo>
findLevel(const llvm::StringMap<bool> &features) {
  if (!findMissing(level3().features, features).empty()) {
    return std::nullopt;
  }
  return findMissing(level4().features, features).empty() ? level4() : level3();
}

/// By LLVM's name: of machines with the instructions, AMD's are fast at them.
static bool isFastAtBf16(llvm::StringRef microarchitecture) {
  return microarchitecture.starts_with("znver");
}

/// The level of a machine with these features, which LLVM calls `name`.
static std::optional<TargetInfo>
findX86(llvm::StringRef name, const llvm::StringMap<bool> &features) {
  std::optional<TargetInfo> target = findLevel(features);
  if (!target) {
    return target;
  }
  target->microarchitecture = name;
  for (const TargetInfo &each : programsOfUnits()) {
    bool isSlow =
        each.machine != Machine::X86_64 ||
        (each.features & TFC_FEATURE_FAST_AVX512_BF16 && !isFastAtBf16(name));
    if (!isSlow && findMissing(each.features, features).empty()) {
      target->machineFeatures |= each.features;
    }
  }
  return target;
}

/// TFC_FEATURE_ARM_*: those all of whose instruction sets, LLVM's names, a
/// machine `has`.
static uint64_t armFeatures(llvm::function_ref<bool(llvm::StringRef)> has) {
  uint64_t all = 0, missing = 0;
  for (const Aarch64Feature &each : aarch64Features) {
    (has(each.name) ? all : missing) |= each.feature;
  }
  return all & ~missing;
}

/// The level of a machine that LLVM calls `name`.
static TargetInfo findArm(llvm::StringRef name, uint64_t features) {
  TargetInfo target = armv8();
  target.tuneFor(name);
  target.machineFeatures = features;
  return target;
}

/// Of the machine that this runs on, an Arm.
static uint64_t armFeaturesHere() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  return armFeatures(
      [&](llvm::StringRef name) { return features.lookup(name); });
}

static std::optional<TargetInfo> findMachine() {
  llvm::StringRef name = llvm::sys::getHostCPUName();
  return lowestHere().machine == Machine::X86_64
             ? findX86(name, llvm::sys::getHostCPUFeatures())
             : findArm(name, armFeaturesHere());
}

/// What a machine with LLVM's name for it has.
static llvm::StringMap<bool> featuresOf(llvm::StringRef microarchitecture) {
  llvm::SmallVector<llvm::StringRef> listed;
  llvm::X86::getFeaturesForCPU(microarchitecture, listed);
  // LLVM lists avx2, say, but not avx, which it implies.
  llvm::StringMap<bool> features;
  for (llvm::StringRef feature : listed) {
    features[feature] = true;
    llvm::X86::updateImpliedFeatures(feature, true, features);
  }
  return features;
}

/// By LLVM's name. Of Arm's the application processors, which run Linux.
static std::optional<TargetInfo> findArmCalled(llvm::StringRef name) {
  std::optional<llvm::AArch64::CpuInfo> cpu = llvm::AArch64::parseCpu(name);
  if (!cpu || name == "generic" ||
      cpu->Arch.Profile != llvm::AArch64::AProfile) {
    return std::nullopt;
  }
  llvm::AArch64::ExtensionBitset extensions = cpu->getImpliedExtensions();
  return findArm(name, armFeatures([&](llvm::StringRef feature) {
                   auto known = llvm::AArch64::parseArchExtension(feature);
                   return known && extensions.test(known->ID);
                 }));
}

/// By LLVM's name: those with the vectors, of their level.
static std::optional<TargetInfo> findRiscvCalled(llvm::StringRef name) {
  auto isa =
      llvm::RISCVISAInfo::parseArchString(llvm::RISCV::getMArchFromMcpu(name),
                                          /*EnableExperimentalExtension=*/true);
  if (!isa) {
    llvm::consumeError(isa.takeError());
    return std::nullopt;
  }
  std::optional<TargetInfo> best;
  for (const TargetInfo &level : {riscv(), riscv256(), riscv512()}) {
    bool hasAll = llvm::all_of(riscv64Features, [&](const auto &each) {
      return !(each.feature & level.features) ||
             (*isa)->hasExtension(each.name);
    });
    if ((*isa)->getXLen() == 64 && hasAll) {
      best = level;
      best->microarchitecture = name;
      best->machineFeatures = level.features;
    }
  }
  return best;
}

static std::optional<TargetInfo> findCpu(llvm::StringRef name) {
  bool isX86 =
      llvm::X86::parseArchX86(name, /*Only64Bit=*/true) != llvm::X86::CK_None;
  if (isX86) {
    return findX86(name, featuresOf(name));
  }
  std::optional<TargetInfo> arm = findArmCalled(name);
  return arm ? arm : findRiscvCalled(name);
}

bool TargetInfo::isArm() const {
  return machineInfo(machine).isa == TFC_ISA_AARCH64;
}

void TargetInfo::tuneFor(llvm::StringRef name) {
  microarchitecture = name.str();
  if (machine == Machine::Aarch64 && !isStandIn &&
      name.starts_with("apple-m")) {
    machine = Machine::AppleSilicon;
  }
}

std::string TargetInfo::programName() const {
  return isEmulated() ? name + "-emulated" : name;
}

bool TargetInfo::needsModels() const {
  bool hasBytes = isArm() ? (features & TFC_FEATURE_ARM_DOTPROD) != 0
                          : machine == Machine::X86_64;
  return isEmulated() || !hasBytes;
}

llvm::StringRef TargetInfo::triple() const {
  return machineInfo(machine).triple;
}

TargetInfo TargetInfo::emulated() const {
  TargetInfo here = lowestHere(), info = *this;
  if (!isDevice() && name != here.name) {
    // A program's own tuning where it fits.
    info.tuning = machine == here.machine ? tuning : here.tuning;
    info.machine = here.machine;
    info.cpu = here.cpu;
    info.attributes = here.attributes;
    info.features = here.features;
    info.isStandIn = true;
  }
  return info;
}

uint64_t TargetInfo::programFeatures() const {
  return isDevice() ? capability | (isExact ? TFC_FEATURE_CUDA_EXACT : 0)
                    : features;
}

bool TargetInfo::runsHere() const {
  if (machine != lowestHere().machine) {
    return false;
  }
  if (machine == Machine::Aarch64) {
    return !(features & ~armFeaturesHere());
  }
  return findMissing(features, llvm::sys::getHostCPUFeatures()).empty() &&
         (!(features & TFC_FEATURE_FAST_AVX512_BF16) ||
          isFastAtBf16(llvm::sys::getHostCPUName()));
}

llvm::Expected<TargetInfo> TargetInfo::parse(llvm::StringRef text) {
  if (text == "cpu") {
    if (std::optional<TargetInfo> machine = findMachine()) {
      return *machine;
    }
    return fail(
        "expected a machine of the level x86-64-v3 for --target cpu, "
        "got one without " +
        findMissing(level3().features, llvm::sys::getHostCPUFeatures()) +
        "; name another machine's level, as in --target "
        "cpu:x86-64-v3");
  }
  if (text == "cuda") {
    TargetInfo cuda = *findCuda("sm_80");
    cuda.microarchitecture = "sm_90,sm_100,sm_120";
    return cuda;
  }
  llvm::StringRef name = text;
  if (name.consume_front("cpu:")) {
    if (std::optional<TargetInfo> level = findLevelCalled(name)) {
      return *level;
    }
    if (std::optional<TargetInfo> cpu = findCpu(name)) {
      return *cpu;
    }
  }
  if (name.consume_front("cuda:")) {
    if (std::optional<TargetInfo> cuda = findCuda(name)) {
      return *cuda;
    }
  }
  std::string names;
  for (const TargetInfo &level : allLevels()) {
    names += ", cpu:" + level.name;
  }
  return fail("expected --target cpu" + names +
              " or LLVM's name of a CPU with AVX2, FMA and F16C, of a 64-bit "
              "Arm or of a 64-bit RISC-V with V, as cpu:znver4, or cuda "
              "or cuda:sm_80 (also sm_86, sm_87, sm_89, sm_90, sm_90a), got " +
              text);
}

/// "armv8-a", "the host code of sm_80 (x86-64)".
static std::string describeHost(const TargetInfo &target) {
  return target.isDevice() ? "the host code of " + target.name + " (" +
                                 machineInfo(target.machine).name + ")"
                           : target.programName();
}

static llvm::Error checkMachines(llvm::ArrayRef<TargetInfo> targets,
                                 llvm::StringRef text) {
  for (const TargetInfo &target : targets) {
    if (target.machine != targets.front().machine) {
      return fail("expected --target to name one kind of machine (a library is "
                  "of " +
                  describeMachines() + "), got " +
                  describeHost(targets.front()) + " and " +
                  describeHost(target) + " in " + text);
    }
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<TargetInfo>>
TargetInfo::parseList(llvm::StringRef text, Factors factors) {
  llvm::SmallVector<llvm::StringRef> names;
  text.split(names, ',');
  std::vector<TargetInfo> targets;
  for (llvm::StringRef name : names) {
    llvm::Expected<TargetInfo> target = parse(name);
    if (!target) {
      return target.takeError();
    }
    *target = target->fastAt(factors);
    auto same = llvm::find_if(targets, [&](const TargetInfo &known) {
      return known.programName() == target->programName();
    });
    if (same == targets.end()) {
      targets.push_back(std::move(*target));
    } else if (same->isDevice()) {
      // One program, for which more machines may have binaries.
      same->microarchitecture =
          std::max(same->microarchitecture, target->microarchitecture);
    } else if (same->microarchitecture != target->microarchitecture) {
      return fail("expected --target to name one machine of the level " +
                  target->name +
                  " (of two programs for the same instructions "
                  "the runtime would not know which to take), got " +
                  text);
    }
  }
  if (llvm::Error error = checkMachines(targets, text)) {
    return std::move(error);
  }
  llvm::sort(targets, [](const TargetInfo &one, const TargetInfo &other) {
    return std::tie(one.kind, one.capability, one.features, one.name) <
           std::tie(other.kind, other.capability, other.features, other.name);
  });
  return targets;
}

TargetInfo TargetInfo::fastAt(Factors factors) const {
  if (isDevice() || isEmulated() || microarchitecture.empty() ||
      multiplies != Factors::F32) {
    return *this;
  }
  TargetInfo best = *this;
  for (TargetInfo each : programsOfUnits()) {
    bool isSame = machineInfo(each.machine).isa == machineInfo(machine).isa;
    if (isSame && each.multiplies == factors &&
        !(each.features & ~machineFeatures)) {
      each.tuneFor(microarchitecture);
      each.machineFeatures = machineFeatures;
      best = each;
    }
  }
  return best;
}

std::vector<TargetInfo> TargetInfo::allFor(Factors factors) {
  std::vector<TargetInfo> targets = {level3(), level4()};
  if (lowestHere().machine == Machine::Aarch64) {
    targets = {armv8()};
    if (factors == Factors::Int8) {
      targets.push_back(armv8Dotprod());
      targets.push_back(armv8I8mm());
    }
  } else if (factors == Factors::BF16) {
    targets.push_back(level4Bf16());
    targets.push_back(level4AmxBf16());
  } else if (factors == Factors::Int8) {
    // Integers are the same everywhere: what has no unit for them and AVX-512
    // takes the first.
    targets = {level3(), level3Vnni(), level4Vnni(), level4AmxInt8()};
  }
  if (std::optional<TargetInfo> machine = findMachine()) {
    for (TargetInfo &target : targets) {
      for (const TargetInfo &own : {*machine, machine->fastAt(factors)}) {
        if (target.name == own.name) {
          target = own;
        }
      }
    }
  }
  return targets;
}
