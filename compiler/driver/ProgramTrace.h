// The way of a program through the compiler, by the paths of the spec that
// locations name: which passes changed the ops of a path, what these were at
// each stage, and which functions they became.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_PROGRAMTRACE_H
#define TFC_COMPILER_DRIVER_PROGRAMTRACE_H

#include "compiler/driver/CompileProgram.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <set>

namespace tfc {

/// The paths that a location names, in order; one that another goes on from
/// says nothing more.
std::vector<std::string> pathsOf(mlir::Location where);

/// Of paths, those that no other one of them goes on from, each once.
std::vector<std::string> innermostOf(const std::vector<std::string> &paths);

/// Whether `path` is `of`, or is below it: "a.b.c" of "a.b".
bool isBelow(llvm::StringRef path, llvm::StringRef of);

class ProgramTrace : public ProgramWatcher {
public:
  /// Ops of one path at a stage: name -> how many. No constants.
  using Ops = std::map<std::string, int64_t>;
  struct Stage {
    std::string name;
    std::map<std::string, Ops> ops; // by path
  };
  /// A pass, named as --leave-out names it, and the paths whose ops are not
  /// what they were before it: others, more or fewer of them, with other
  /// attributes or results. What only moved is not counted.
  struct Pass {
    std::string name;
    size_t to = 0; // the number of the stage that it leads to
    std::set<std::string> paths;
  };
  /// A function or a kernel of the finished program.
  struct Function {
    std::string name;
    bool isKernel = false;
    int64_t size = 0;                   // ops, no constants
    std::map<std::string, int64_t> ops; // by path: how many are of it
    std::set<std::string> callers;      // the paths of what names it
  };
  /// What a tile was chosen for.
  struct Tile {
    std::string path;
    std::string attribute;  // as IR has it
    int64_t weightBits = 0; // of a product; 0 of tiles of rows
  };

  void seePass(llvm::StringRef name, mlir::Operation *op) override;
  void seeStage(llvm::StringRef name, mlir::ModuleOp module) override;

  std::vector<Stage> stages;
  std::vector<Pass> passes;
  std::vector<Function> functions; // as they lie in the program
  std::vector<Tile> tiles;

private:
  /// path -> a number that is another one where its ops are others.
  using Prints = llvm::StringMap<size_t>;

  llvm::ArrayRef<std::string> find(mlir::Location where);
  Prints print(mlir::Operation *op);
  void note(const Prints &before, const Prints &after, Pass &pass);
  void listFunctions(mlir::ModuleOp module);
  void listTiles(mlir::ModuleOp module);

  llvm::DenseMap<mlir::Attribute, std::vector<std::string>> known;
  /// Of the module's own ops, functions most of them.
  llvm::MapVector<mlir::Operation *, Prints> last;
};

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_PROGRAMTRACE_H
