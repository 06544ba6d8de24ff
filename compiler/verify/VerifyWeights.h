// A model's parameters for the interpreter: read from the user's tensor files,
// in double precision, by nothing that the compiled code uses.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_VERIFY_VERIFYWEIGHTS_H
#define TFC_COMPILER_VERIFY_VERIFYWEIGHTS_H

#include "compiler/reference/Interpreter.h"
#include "dialect/TransformerDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/src/files/Safetensors.h"
#include "llvm/ADT/StringMap.h"

namespace tfc {

class VerifyWeights {
public:
  /// Finds the tensors of all parameters of `module` in `path` (a Hugging Face
  /// folder or a .safetensors file). The error has one line a tensor.
  static rt::Result<VerifyWeights> open(mlir::ModuleOp module,
                                        const std::string &path);

  /// The elements of a parameter's layer, in the shape of its type.
  std::vector<double> read(transformer::ParameterOp parameter,
                           int64_t layer) const;

  /// The same of one that is kept as integers, if the files have integers and
  /// scales that are packed as they are (reference::IntegerProvider).
  std::optional<reference::IntegerElements>
  readIntegers(transformer::ParameterOp parameter, int64_t layer,
               const reference::IntegerForm &form) const;

  /// The tensor that stores a parameter's layer; null where there is none and
  /// it is zeros.
  const rt::Tensor *find(transformer::ParameterOp parameter,
                         int64_t layer) const;
  const rt::TensorFiles &tensorFiles() const { return files; }

private:
  VerifyWeights(rt::TensorFiles files) : files(std::move(files)) {}

  rt::TensorFiles files;
  rt::BoundWeights tensors;
  llvm::StringMap<size_t> indices; // of `tensors`, by parameter
};

} // namespace tfc

#endif // TFC_COMPILER_VERIFY_VERIFYWEIGHTS_H
