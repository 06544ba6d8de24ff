// Passes by name while they run: one that is left out, one before which the IR
// is wanted, a list of all of them. For tools that look for a fault among them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_PASSCONTROL_H
#define TFC_COMPILER_DRIVER_PASSCONTROL_H

#include "compiler/driver/Options.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tfc {

/// Is called after each pass that ran, with its name.
using PassObserver = std::function<void(llvm::StringRef, mlir::Operation *)>;

/// Decides for every pass of a context whether it runs. A pass is called by its
/// argument and by how many passes of this argument have begun, as in
/// "canonicalize#2"; one that runs on each function is one pass.
class PassControl {
public:
  /// `options` must outlive it.
  explicit PassControl(const CompileOptions &options);

  /// Tells `observer` of the passes of its own context.
  void observe(PassObserver wanted) { own = std::move(wanted); }

  /// Before the passes of an arrow. Without a wish of the options, or an
  /// observer, passes run as if there were no control.
  void begin(mlir::MLIRContext &context);

  /// Whether no pass may run any more: --stop-before's was reached, or one
  /// failed with the defaults of its options, which its pipeline does not see.
  bool isStopped() const { return stopped || isBroken; }
  bool hasFailed() const { return isBroken; }
  /// What stood before the pass that --stop-before names.
  const std::string &input() const { return text; }
  /// The names of the passes so far, in order.
  const std::vector<std::string> &names() const { return ran; }
  /// Names of the options of which no pass was found.
  std::vector<std::string> unknown() const;

private:
  void run(llvm::function_ref<void()> transform, const mlir::Pass &pass,
           mlir::Operation *op);
  /// The pass as its argument alone makes it, with the defaults of its options.
  /// Does nothing, and returns false, where it is that already.
  bool runPlain(const mlir::Pass &pass, mlir::Operation *op);
  std::string nameOf(const mlir::Pass &pass);

  const CompileOptions &options;
  llvm::StringMap<unsigned> counts;
  llvm::DenseMap<const mlir::Pass *, std::string> known;
  std::vector<std::string> ran;
  std::map<std::string, bool> wished;
  std::string text;
  PassObserver own;
  bool stopped = false, isBroken = false, isInside = false;
};

/// The observer of all contexts: tests break with it what a pass has made. Set
/// before anything is compiled; programs are compiled at the same time.
void setPassObserver(PassObserver observer);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_PASSCONTROL_H
