// A model, and where what it says is written: in a spec, in a family's table,
// in config.json.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_WRITTENMODEL_H
#define TFC_COMPILER_DRIVER_WRITTENMODEL_H

#include "compiler/spec/JsonTree.h"
#include "compiler/spec/read/ReadSpec.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace tfc {

class WrittenModel {
public:
  /// Reads a spec, or a folder as `tfc import` does, and reports its
  /// diagnostics to `errors`. Nothing when there is an error.
  static std::optional<WrittenModel> read(const std::string &path,
                                          const spec::ReadOptions &options,
                                          llvm::raw_ostream &errors);

  const spec::ModelSpec &model() const { return *spec; }

  /// Where the op or parameter called `path` is written, a place a line:
  /// "gpt2.json:28:16: /decoder/layers/block/ffn: width 312, bias true"; of a
  /// folder the family's table, and the keys of config.json that it took.
  std::vector<std::string> describe(llvm::StringRef path) const;

private:
  std::optional<spec::ModelSpec> spec;
  /// With extends and $def replaced.
  spec::Json tree;
  /// The family's table, where the model is of one; else null.
  spec::Json table;
  bool isFolder = false;
};

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_WRITTENMODEL_H
