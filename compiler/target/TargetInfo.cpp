// What a program is compiled for: parsed once from --target.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/target/TargetInfo.h"

#include "tfc/abi.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

using namespace tfc;

static TargetInfo level3() {
  return {"x86-64-v3", TFC_FEATURE_X86_64_V2 | TFC_FEATURE_X86_64_V3,
          /*microarchitecture=*/"", "znver3"};
}

static TargetInfo level4() {
  TargetInfo info = level3();
  info.name = "x86-64-v4";
  info.features |= TFC_FEATURE_X86_64_V4;
  info.tuning = "znver4";
  return info;
}

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// The highest level whose instructions are all in `features`.
static std::optional<TargetInfo>
findLevel(llvm::function_ref<bool(llvm::StringRef)> hasFeature) {
  auto hasAll = [&](llvm::ArrayRef<llvm::StringRef> names) {
    return llvm::all_of(names, hasFeature);
  };
  if (!hasAll({"avx2", "fma", "bmi2", "f16c"})) {
    return std::nullopt;
  }
  return hasAll({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})
             ? level4()
             : level3();
}

static std::optional<TargetInfo> findMachine() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  std::optional<TargetInfo> target =
      findLevel([&](llvm::StringRef name) { return features.lookup(name); });
  if (target) {
    target->microarchitecture = llvm::sys::getHostCPUName();
  }
  return target;
}

static std::optional<TargetInfo> findCpu(llvm::StringRef name) {
  if (llvm::X86::parseArchX86(name, /*Only64Bit=*/true) == llvm::X86::CK_None) {
    return std::nullopt;
  }
  llvm::SmallVector<llvm::StringRef> features;
  llvm::X86::getFeaturesForCPU(name, features);
  std::optional<TargetInfo> target = findLevel(
      [&](llvm::StringRef name) { return llvm::is_contained(features, name); });
  if (target) {
    target->microarchitecture = name;
  }
  return target;
}

llvm::Expected<TargetInfo> TargetInfo::parse(llvm::StringRef text) {
  if (text == "cpu:x86-64-v3") {
    return level3();
  }
  if (text == "cpu:x86-64-v4") {
    return level4();
  }
  if (text == "cpu") {
    if (std::optional<TargetInfo> machine = findMachine()) {
      return *machine;
    }
    return fail("expected a machine with AVX2, FMA and F16C for --target cpu; "
                "name another machine's level, as in --target cpu:x86-64-v3");
  }
  llvm::StringRef name = text;
  if (name.consume_front("cpu:")) {
    if (std::optional<TargetInfo> cpu = findCpu(name)) {
      return *cpu;
    }
  }
  return fail("expected --target cpu, cpu:x86-64-v3, cpu:x86-64-v4 or LLVM's "
              "name of a CPU with AVX2, FMA and F16C, as cpu:znver4, got " +
              text);
}

llvm::Expected<std::vector<TargetInfo>>
TargetInfo::parseList(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> names;
  text.split(names, ',');
  std::vector<TargetInfo> targets;
  for (llvm::StringRef name : names) {
    llvm::Expected<TargetInfo> target = parse(name);
    if (!target) {
      return target.takeError();
    }
    auto same = llvm::find_if(targets, [&](const TargetInfo &known) {
      return known.name == target->name;
    });
    if (same == targets.end()) {
      targets.push_back(std::move(*target));
    } else if (same->microarchitecture != target->microarchitecture) {
      return fail("expected --target to name one machine of the level " +
                  target->name +
                  " (of two programs for the same instructions "
                  "the runtime would not know which to take), got " +
                  text);
    }
  }
  llvm::sort(targets, [](const TargetInfo &one, const TargetInfo &other) {
    return one.features < other.features;
  });
  return targets;
}

std::vector<TargetInfo> TargetInfo::bothLevels() {
  std::vector<TargetInfo> targets = {level3(), level4()};
  if (std::optional<TargetInfo> machine = findMachine()) {
    for (TargetInfo &target : targets) {
      if (target.name == machine->name) {
        target = *machine;
      }
    }
  }
  return targets;
}
