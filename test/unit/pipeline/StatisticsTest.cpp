// Every pass on modules counts what it rewrites. LLVM's packages report no
// statistics, so the counts of the roads' passes are read here.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/BuildModel.h"
#include "compiler/huggingface/Import.h"
#include "compiler/pipeline/Registration.h"
#include "compiler/pipeline/Road.h"
#include "compiler/spec/read/ReadSpec.h"
#include "compiler/support/ClearStatistics.h"
#include "dialect/CheckedAccess.h"
#include "mlir/Pass/Pass.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tfc;

namespace {

/// By flag of the pass: how many statistics it has, and their sum.
struct Counts {
  size_t numStatistics = 0;
  uint64_t sum = 0;
};

#if LLVM_ENABLE_STATS
class Counter {
public:
  /// Takes a model of test/golden along the road of a program, what one of
  /// `ranks` has of it.
  void count(const std::string &model, const char *target, OptLevel opt,
             transformer::Storage weights, bool hasTaps, int64_t ranks = 1);

  std::map<std::string, Counts> counts;

private:
  void run(ModuleOp module, llvm::function_ref<void(OpPassManager &)> build);
};

/// Ours: in the passes of LLVM's packages there is no room for a number.
static bool isCounted(const Pass &pass) {
  return pass.getArgument().starts_with("tfc-");
}

void Counter::run(ModuleOp module,
                  llvm::function_ref<void(OpPassManager &)> build) {
  PassManager pm(module.getContext());
  build(pm);
  for (Pass &pass : llvm::make_filter_range(pm.getPasses(), isCounted)) {
    clearStatistics(pass);
  }
  ASSERT_TRUE(succeeded(pm.run(module)));
  for (Pass &pass : llvm::make_filter_range(pm.getPasses(), isCounted)) {
    Counts &of = counts[pass.getArgument().str()];
    of.numStatistics = pass.getStatistics().size();
    for (llvm::Statistic *statistic : pass.getStatistics()) {
      of.sum += statistic->getValue();
    }
  }
}

void Counter::count(const std::string &model, const char *target, OptLevel opt,
                    transformer::Storage weights, bool hasTaps, int64_t ranks) {
  spec::Diagnostics diagnostics;
  auto imported = huggingface::importDirectory(
      std::string(TFC_GOLDEN_DIR) + "/models/" + model, {}, diagnostics);
  ASSERT_TRUE(imported);
  auto spec = spec::readSpecText("spec", imported->spec, "", diagnostics);
  ASSERT_TRUE(spec);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  prepareContext(context);
  OwningOpRef<ModuleOp> module = buildModel(*spec, &context);
  ASSERT_TRUE(module);
  PipelineOptions options;
  options.target = *TargetInfo::findProgram(target);
  options.opt = opt;
  options.weights = weights;
  options.rounds = true;
  if (ranks > 1) {
    run(*module, [&](OpPassManager &pm) { buildRanks(pm, ranks); });
  }
  setTarget(*module, options);
  if (hasTaps) { // which keep passes from joining ops
    (*module)->setAttr(transformer::kCheckedAttrName, UnitAttr::get(&context));
    run(*module, [](OpPassManager &pm) { buildTaps(pm); });
  }
  for (const Arrow &arrow : findRoad(options).arrows) {
    run(*module, [&](OpPassManager &pm) { arrow.build(pm, options); });
  }
}
#endif

TEST(Statistics, EveryPassOnModulesCounts) {
#if LLVM_ENABLE_STATS
  Counter counter;
  using transformer::Storage;
  counter.count("gpt2-lm", "x86-64-v3", OptLevel::None, Storage::F32, true);
  counter.count("modernbert-mlm", "x86-64-v3", OptLevel::Full, Storage::BF16,
                false);
  counter.count("qwen3moe-lm", "x86-64-v3", OptLevel::Full, Storage::F32,
                false);
  counter.count("debertav2-new", "x86-64-v3", OptLevel::Full, Storage::F32,
                false);
  counter.count("llama-tiles", "x86-64-v3", OptLevel::Full, Storage::F32, false,
                /*ranks=*/2);
  counter.count("llama-tiles", "sm_80", OptLevel::Full, Storage::BF16, false);
  counter.count("gpt2-lm", "sm_80", OptLevel::Full, Storage::F32, false);
  counter.count("qwen35moe-lm", "sm_80", OptLevel::Full, Storage::F32, false);
  const std::map<std::string, const char *> others = {
      {"tfc-verify-stage", "changes nothing"},
      {"tfc-convert-to-llvm", "runs on gpu.modules, too, as copies"}};
  for (const auto &[pass, of] : counter.counts) {
    EXPECT_EQ(of.numStatistics == 0, others.count(pass) != 0) << pass;
    EXPECT_EQ(of.sum == 0, others.count(pass) != 0)
        << pass << " counts nothing";
  }
  EXPECT_GT(counter.counts.size(), 20u);
#else
  GTEST_SKIP() << "without assertions LLVM counts nothing";
#endif
}

} // namespace
