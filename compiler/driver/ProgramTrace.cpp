// Takes notes while a program is compiled.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/ProgramTrace.h"

#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <algorithm>

using namespace mlir;
using namespace tfc;

bool tfc::isBelow(StringRef path, StringRef of) {
  return path == of || (path.consume_front(of) && path.starts_with("."));
}

std::vector<std::string> tfc::pathsOf(Location where) {
  std::vector<std::string> paths;
  where->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part)) {
      paths.push_back(name.getName().str());
    }
    return WalkResult::advance();
  });
  return innermostOf(paths);
}

std::vector<std::string>
tfc::innermostOf(const std::vector<std::string> &paths) {
  std::vector<std::string> own;
  for (const std::string &path : paths) {
    bool goesOn = llvm::any_of(paths, [&](const std::string &other) {
      return other != path && isBelow(other, path);
    });
    if (!goesOn && !llvm::is_contained(own, path)) {
      own.push_back(path);
    }
  }
  return own;
}

ArrayRef<std::string> ProgramTrace::find(Location where) {
  auto [entry, isNew] = known.try_emplace(LocationAttr(where));
  if (isNew) {
    entry->second = pathsOf(where);
  }
  return entry->second;
}

static bool isConstant(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>();
}

/// Independent of the order of ops and of what their operands are.
ProgramTrace::Prints ProgramTrace::print(Operation *op) {
  Prints prints;
  op->walk([&](Operation *each) {
    if (isConstant(each)) {
      return;
    }
    auto hash = static_cast<size_t>(OperationEquivalence::computeHash(
        each, OperationEquivalence::ignoreHashValue,
        OperationEquivalence::ignoreHashValue,
        OperationEquivalence::IgnoreLocations));
    for (const std::string &path : find(each->getLoc())) {
      prints[path] += hash;
    }
  });
  return prints;
}

void ProgramTrace::note(const Prints &before, const Prints &after, Pass &pass) {
  for (const auto &entry : before) {
    if (after.lookup(entry.getKey()) != entry.getValue()) {
      pass.paths.insert(entry.getKey().str());
    }
  }
  for (const auto &entry : after) {
    if (before.lookup(entry.getKey()) != entry.getValue()) {
      pass.paths.insert(entry.getKey().str());
    }
  }
}

void ProgramTrace::seePass(StringRef name, Operation *op) {
  if (passes.empty() || passes.back().name != name) {
    passes.push_back({name.str(), stages.size(), {}});
  }
  Pass &pass = passes.back();
  Operation *top = op;
  while (top->getParentOp() && !isa<ModuleOp>(top->getParentOp())) {
    top = top->getParentOp();
  }
  if (top->getParentOp()) {
    Prints after = print(top);
    note(last[top], after, pass);
    last[top] = std::move(after);
    return;
  }
  auto sum = [](const llvm::MapVector<Operation *, Prints> &prints) {
    Prints all;
    for (const auto &[each, own] : prints) {
      for (const auto &entry : own) {
        all[entry.getKey()] += entry.getValue();
      }
    }
    return all;
  };
  Prints before = sum(last);
  last.clear();
  for (Operation &each : cast<ModuleOp>(top).getOps()) {
    last.insert({&each, print(&each)});
  }
  note(before, sum(last), pass);
}

void ProgramTrace::seeStage(StringRef name, ModuleOp module) {
  Stage stage{name.str(), {}};
  module->walk([&](Operation *op) {
    if (isConstant(op) || op == module) {
      return;
    }
    for (const std::string &path : find(op->getLoc())) {
      ++stage.ops[path][op->getName().getStringRef().str()];
    }
  });
  stages.push_back(std::move(stage));
  if (stages.size() == 1) {
    for (Operation &each : module.getOps()) {
      last.insert({&each, print(&each)});
    }
  }
  if (name == "linalg") {
    listTiles(module);
  }
  listFunctions(module);
}

/// Kernels are seen at the stage that has them as functions, and stay; other
/// functions are those of the last stage.
void ProgramTrace::listFunctions(ModuleOp module) {
  llvm::erase_if(functions,
                 [](const Function &each) { return !each.isKernel; });
  llvm::StringMap<size_t> places;
  for (auto [place, each] : llvm::enumerate(functions)) {
    places[each.name] = place;
  }
  module->walk([&](FunctionOpInterface op) {
    if (op.isExternal() ||
        !places.try_emplace(op.getName(), functions.size()).second) {
      return;
    }
    Function function{op.getName().str(), isa<gpu::GPUFuncOp>(op), 0, {}, {}};
    op->walk([&](Operation *each) {
      if (each == op || isConstant(each)) {
        return;
      }
      ++function.size;
      for (const std::string &path : find(each->getLoc())) {
        ++function.ops[path];
      }
    });
    functions.push_back(std::move(function));
  });
  module->walk([&](Operation *op) {
    ArrayRef<std::string> paths = find(op->getLoc());
    for (NamedAttribute attribute : op->getAttrDictionary()) {
      auto symbol = dyn_cast<SymbolRefAttr>(attribute.getValue());
      auto found = symbol ? places.find(symbol.getLeafReference().getValue())
                          : places.end();
      if (found != places.end()) {
        functions[found->second].callers.insert(paths.begin(), paths.end());
      }
    }
  });
}

static std::string textOf(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  attribute.print(stream);
  return text;
}

void ProgramTrace::listTiles(ModuleOp module) {
  module->walk([&](Operation *op) {
    auto kernel = dyn_cast<transformer::KernelOpInterface>(op);
    for (NamedAttribute attribute : op->getAttrDictionary()) {
      if (!isa<transformer::ProductTileAttr, transformer::StrategyAttr>(
              attribute.getValue())) {
        continue;
      }
      for (const std::string &path : find(op->getLoc())) {
        tiles.push_back({path, textOf(attribute.getValue()),
                         kernel ? kernel.getWeightBits() : 0});
      }
    }
  });
}
