// The programs of a library, as a table and as what its objects show.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_EMIT_WRITEPROGRAMS_H
#define TFC_COMPILER_EMIT_WRITEPROGRAMS_H

#include "compiler/emit/WriteDevice.h"
#include "dialect/TransformerDialect.h"

namespace tfc {

/// What sets a program of a library apart from its others.
struct Program {
  std::string name, layout;
  uint64_t features = 0, packedBytes = 0;
  transformer::Isa isa = transformer::Isa::X86_64;
  size_t numEntries = 1; // those of `self` are counted where they are written
  size_t numKernels = 0, numImages = 0;
  std::string query; // the library's; "" is tfc_module_query

  bool isDevice() const { return isa == transformer::Isa::Cuda; }
  /// The name of something of it that other programs' objects see.
  std::string symbol(llvm::StringRef what) const;
};

/// What the object of a program has beside its code.
struct ProgramTables {
  Field entries = Field::symbol("");
  unsigned numEntries = 0;
  DeviceTables device;
};

/// The programs of the library of `module` in order; `self` alone when it does
/// not say.
llvm::SmallVector<Program> listPrograms(mlir::ModuleOp module,
                                        const Program &self);

/// tfc_program_v0[], in the object of `self`, which has the tables `own`. What
/// is of other programs is in their objects. The list begins with the least
/// demanding.
Field writePrograms(llvm::ArrayRef<Program> all, const Program &self,
                    const ProgramTables &own, mlir::ModuleOp module,
                    Tables &tables);

/// Shows what the library's first program refers to.
void exportProgram(const Program &self, const ProgramTables &own,
                   mlir::ModuleOp module, Tables &tables);

} // namespace tfc

#endif // TFC_COMPILER_EMIT_WRITEPROGRAMS_H
