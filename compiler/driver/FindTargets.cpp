// Which machines have a program of a model, and why others have none.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/FindTargets.h"

#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace tfc;

/// What products of the model multiply, where there is a program for it.
static Factors factorsOf(const spec::ModelSpec &model,
                         const CompileOptions &options) {
  if (model.hasIntegers()) {
    return Factors::Int8;
  }
  return model.multipliesBf16 && options.opt == "full" ? Factors::BF16
                                                       : Factors::F32;
}

static Error expectedProgram(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// A program that is fast at products of bf16 or int8 is one of a model that
/// may be computed so, and none of plain loops. aarch64 has none of integers.
static Error checkFactors(ArrayRef<TargetInfo> targets,
                          const spec::ModelSpec &model,
                          const CompileOptions &options) {
  Factors wanted = factorsOf(model, options);
  for (const TargetInfo &target : targets) {
    if (target.isDevice() && model.storage == spec::Storage::Int8 &&
        model.group > 0) {
      return expectedProgram(
          "expected --target of CPUs with bytes that have a scale for each " +
          Twine(model.group) + " columns (devices have one a row), got " +
          target.name);
    }
    if (target.isDevice() || target.multiplies == Factors::F32 ||
        (target.multiplies == wanted && options.opt == "full")) {
      continue;
    }
    bool isBf16 = target.multiplies == Factors::BF16;
    std::string name = isBf16 ? "bf16" : "int8";
    std::string program = " with --target cpu:" + target.programName();
    bool isOther = isBf16 ? !model.multipliesBf16 : wanted != Factors::Int8;
    return expectedProgram(
        isOther ? "expected --dtype " + name +
                      ", or a spec whose precision.compute is " + name + "," +
                      program + ", got a model to be computed in " +
                      (wanted == Factors::Int8 ? "int8"
                       : model.multipliesBf16  ? "bf16"
                                               : "f32")
                : "expected --opt=full" + program +
                      " (plain loops have no units of their own), got --opt=" +
                      options.opt);
  }
  return Error::success();
}

Expected<std::vector<TargetInfo>>
tfc::findTargets(const spec::ModelSpec &model, const CompileOptions &options) {
  bool isFast = options.opt == "full";
  Factors factors = isFast ? factorsOf(model, options) : Factors::F32;
  if (options.target.empty() && isFast) {
    return TargetInfo::allFor(factors);
  }
  auto targets = TargetInfo::parseList(
      options.target.empty() ? "cpu" : options.target, factors);
  if (targets) {
    if (Error error = checkFactors(*targets, model, options)) {
      return std::move(error);
    }
  }
  return targets;
}

std::vector<TargetInfo> tfc::addExactTargets(std::vector<TargetInfo> targets,
                                             const spec::ModelSpec &model,
                                             const CompileOptions &options) {
  TargetInfo exact = *TargetInfo::findProgram("sm_90a");
  bool isThere = llvm::any_of(targets, [&](const TargetInfo &target) {
    return target.name == exact.name;
  });
  // One that others get binaries of is that of `cuda`.
  auto general = llvm::find_if(targets, [](const TargetInfo &target) {
    return target.isDevice() && !target.microarchitecture.empty();
  });
  if (options.opt != "full" || model.storage == spec::Storage::F32 || isThere ||
      general == targets.end()) {
    return targets;
  }
  general->microarchitecture = "sm_100,sm_120";
  auto behind = llvm::find_if(targets, [&](const TargetInfo &target) {
    return target.isDevice() && target.capability > exact.capability;
  });
  targets.insert(behind, std::move(exact));
  return targets;
}
