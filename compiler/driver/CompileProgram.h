// One program of a library, on its way from the spec to an object file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_COMPILEPROGRAM_H
#define TFC_COMPILER_DRIVER_COMPILEPROGRAM_H

#include "compiler/driver/Options.h"
#include "compiler/driver/PassControl.h"
#include "compiler/pipeline/Road.h"
#include "compiler/spec/ModelSpec.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SmallVector.h"

#include <string>

namespace tfc {

/// What a library's tables say of a program beside its code.
struct ProgramRecord {
  std::string name, layout;
  uint64_t features = 0, packedBytes = 0;
  transformer::Isa isa = transformer::Isa::X86_64;
  size_t entries = 1;
  /// Of a device: how many kernels, and images of all of them.
  size_t kernels = 0, images = 0;
};

/// Whether programs of the model round what passes from op to op: integers,
/// products of bf16, keys and values of 16 bits or bytes.
bool roundsBetweenOps(const spec::ModelSpec &model);

/// How `model` is compiled for `target`.
PipelineOptions pipelineFor(const spec::ModelSpec &model,
                            const CompileOptions &options, TargetInfo target);

/// Looks on while a program is compiled.
class ProgramWatcher {
public:
  virtual ~ProgramWatcher() = default;
  /// After each pass, with its name as --list-passes has it, on what it ran.
  virtual void seePass(llvm::StringRef name, mlir::Operation *op) {}
  /// At each stage, `model` first.
  virtual void seeStage(llvm::StringRef name, mlir::ModuleOp module) {}
};

/// Compiles one program in a context of its own, so that the programs of a
/// library are compiled at the same time, each by a thread. The first call that
/// fails leaves its messages in `messages`; the later ones must not be made.
class ProgramCompiler {
public:
  /// `model` and `options` must outlive it. Messages about a pass that fails
  /// name `reproducerPath`, where its caller writes what `reproducer` holds.
  ProgramCompiler(const spec::ModelSpec &model, const CompileOptions &options,
                  PipelineOptions pipeline, std::string reproducerPath);

  /// Before `lower`; it must outlive that.
  void watch(ProgramWatcher &watcher);

  /// Builds the module and runs the arrows up to the stage `last`.
  mlir::LogicalResult lower(llvm::StringRef last);
  /// As it is now; it lives as long as this.
  mlir::ModuleOp getModule() { return *module; }
  /// The module as text, locations included.
  std::string print();
  /// Which passes have run, and what stood before one of them.
  const PassControl &passes() const { return control; }

  /// Once the stage before the last is reached.
  ProgramRecord record();
  /// Runs the last arrow and generates code, as a program of a library that has
  /// these in this order.
  mlir::LogicalResult finish(llvm::ArrayRef<ProgramRecord> programs);
  llvm::StringRef object() const { return {code.data(), code.size()}; }

  /// "tfc: error: ...", a line each.
  std::string messages;
  /// After a failure: the model is one that the options are not for, so the
  /// fault is not ours.
  bool isRefused = false;
  /// After a failure: the IR before it, with the passes to run where it was one
  /// of them (tfc-opt --run-reproducer). Empty where there was no IR yet.
  std::string reproducer;
  const std::string reproducerPath;
  const PipelineOptions pipeline;

private:
  void report(mlir::Diagnostic &diagnostic);
  /// Runs passes so that their failing, or crashing, leaves a reproducer.
  mlir::LogicalResult runPasses(mlir::PassManager &pm);
  mlir::LogicalResult splitRanks();
  mlir::LogicalResult insertTaps();
  mlir::LogicalResult runArrow(const Arrow &arrow);
  mlir::LogicalResult runExtraPasses(llvm::StringRef stage);

  const spec::ModelSpec &model;
  const CompileOptions &options;
  PassControl control;
  ProgramWatcher *watcher = nullptr;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::SmallVector<char, 0> code;
};

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_COMPILEPROGRAM_H
