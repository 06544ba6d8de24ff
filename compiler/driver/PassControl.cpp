// Passes by name while they run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/PassControl.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tfc;

static PassObserver &observer() {
  static PassObserver instance;
  return instance;
}

void tfc::setPassObserver(PassObserver wanted) {
  observer() = std::move(wanted);
}

/// Of a pass that is to run with the defaults of its options.
static constexpr StringRef kPlain = ":plain";

PassControl::PassControl(const CompileOptions &options) : options(options) {
  SmallVector<StringRef> names;
  StringRef(options.leaveOut).split(names, ',', -1, /*KeepEmpty=*/false);
  names.push_back(options.stopBefore);
  for (StringRef name : names) {
    if (!name.empty()) {
      wished[name.str()] = false;
    }
  }
}

std::vector<std::string> PassControl::unknown() const {
  std::vector<std::string> names;
  for (const auto &[name, isFound] : wished) {
    if (!isFound) {
      names.push_back(name);
    }
  }
  return names;
}

void PassControl::begin(MLIRContext &context) {
  // Addresses of passes are those of one pipeline.
  known.clear();
  if (wished.empty() && !options.listPasses && !observer() && !own) {
    return;
  }
  context.registerActionHandler([this](function_ref<void()> transform,
                                       const tracing::Action &action) {
    const auto *execution = dyn_cast<PassExecutionAction>(&action);
    // Without a name are the adaptors that run passes on functions.
    if (isInside || !execution || execution->getPass().getArgument().empty()) {
      return transform();
    }
    run(transform, execution->getPass(), execution->getOp());
  });
}

std::string PassControl::nameOf(const Pass &pass) {
  std::string &name = known[&pass];
  if (name.empty()) {
    StringRef argument = pass.getArgument();
    name = (argument + "#" + Twine(++counts[argument])).str();
    ran.push_back(name);
  }
  return name;
}

static std::string printed(function_ref<void(llvm::raw_ostream &)> print) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  print(stream);
  return text;
}

bool PassControl::runPlain(const Pass &pass, Operation *op) {
  StringRef name = op->getName().getStringRef();
  PassManager pm(op->getContext(), name);
  pm.enableVerifier(false);
  isInside = true;
  bool isKnown =
      succeeded(parsePassPipeline(pass.getArgument(), pm, llvm::nulls()));
  bool isSame =
      isKnown && printed([&](llvm::raw_ostream &out) {
                   pm.printAsTextualPipeline(out);
                 }) == (name + "(" + printed([&](llvm::raw_ostream &out) {
                          const_cast<Pass &>(pass).printAsTextualPipeline(out);
                        }) +
                        ")")
                           .str();
  if (!isSame && (!isKnown || failed(pm.run(op)))) {
    isBroken = true;
    op->emitError() << "expected " << pass.getArgument()
                    << " to work with the defaults of its options";
  }
  isInside = false;
  return !isSame;
}

void PassControl::run(function_ref<void()> transform, const Pass &pass,
                      Operation *op) {
  std::string name = nameOf(pass);
  // Every pass of a name, or one of them.
  auto isWished = [&](const std::string &wish) {
    auto found = wished.find(wish);
    if (found == wished.end()) {
      return false;
    }
    found->second = true;
    return true;
  };
  if (!stopped && name == options.stopBefore && isWished(name)) {
    stopped = true;
    auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op)
                                    : op->getParentOfType<ModuleOp>();
    llvm::raw_string_ostream stream(text);
    module->print(stream, OpPrintingFlags().enableDebugInfo());
  }
  std::string argument = pass.getArgument().str();
  if (stopped || isWished(name) || isWished(argument)) {
    return;
  }
  if (isWished(name + kPlain.str())) {
    if (runPlain(pass, op)) {
      return;
    }
    // It has no other form: as good as a name that nobody has.
    wished[name + kPlain.str()] = false;
  }
  transform();
  if (observer()) {
    observer()(name, op);
  }
  if (own) {
    own(name, op);
  }
}
