// The target as the module says it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/ModuleTarget.h"

using namespace mlir;
using namespace tfc;
using transformer::TargetAttr;

transformer::Isa tfc::isaOf(Machine machine) {
  // Of the same numbers.
  return static_cast<transformer::Isa>(machineInfo(machine).isa);
}

void tfc::setTarget(ModuleOp module, const PipelineOptions &options) {
  module->setAttr(
      transformer::kTargetAttrName,
      TargetAttr::get(module.getContext(), options.target.programName(),
                      options.opt, options.target.microarchitecture,
                      options.weights, options.rounds, options.deterministic,
                      options.group, options.zeros, options.floatZeros,
                      options.scales));
}

FailureOr<PipelineOptions> tfc::readTarget(ModuleOp module) {
  auto attr = module->getAttrOfType<TargetAttr>(transformer::kTargetAttrName);
  if (!attr) {
    return emitError(module.getLoc())
           << "expected a module with the attribute "
           << transformer::kTargetAttrName
           << " (tfc-set-target writes it), got none";
  }
  std::optional<TargetInfo> target = TargetInfo::findProgram(attr.getProgram());
  if (!target) {
    return emitError(module.getLoc()) << "expected the name of a program in "
                                      << transformer::kTargetAttrName
                                      << ", got \"" << attr.getProgram() << '"';
  }
  target->tuneFor(attr.getCpu());
  return PipelineOptions{
      *target,          attr.getOpt(),           attr.getWeights(),
      attr.getRounds(), attr.getDeterministic(), attr.getGroup(),
      attr.getZeros(),  attr.getFloatZeros(),    attr.getScales()};
}
