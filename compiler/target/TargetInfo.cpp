// What a program is compiled for: parsed once from --target.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/target/TargetInfo.h"

#include "tfc/abi.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace tfc;

static TargetInfo level3() {
  return {"x86-64-v3", TFC_FEATURE_X86_64_V2 | TFC_FEATURE_X86_64_V3, "znver3"};
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

static bool hasAll(const llvm::StringMap<bool> &features,
                   llvm::ArrayRef<llvm::StringRef> names) {
  return llvm::all_of(
      names, [&](llvm::StringRef name) { return features.lookup(name); });
}

llvm::Expected<TargetInfo> TargetInfo::parse(llvm::StringRef text) {
  if (text == "cpu:x86-64-v3") {
    return level3();
  }
  if (text == "cpu:x86-64-v4") {
    return level4();
  }
  if (text != "cpu") {
    return fail("expected --target cpu, cpu:x86-64-v3 or cpu:x86-64-v4, got " +
                text);
  }
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  if (hasAll(features,
             {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})) {
    return level4();
  }
  if (hasAll(features, {"avx2", "fma", "bmi2", "f16c"})) {
    return level3();
  }
  return fail("expected a machine with AVX2, FMA and F16C for --target cpu; "
              "name another machine's level, as in --target cpu:x86-64-v3");
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
    bool isNew = llvm::none_of(targets, [&](const TargetInfo &known) {
      return known.name == target->name;
    });
    if (isNew) {
      targets.push_back(std::move(*target));
    }
  }
  llvm::sort(targets, [](const TargetInfo &one, const TargetInfo &other) {
    return one.features < other.features;
  });
  return targets;
}
