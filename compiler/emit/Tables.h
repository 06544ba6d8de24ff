// Constants of C structs in an LLVM dialect module.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_EMIT_TABLES_H
#define TFC_COMPILER_EMIT_TABLES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace tfc {

/// A field of a C struct: an integer, a pointer to a symbol (null when it has
/// no name), or a struct. Fields lie as the C ABI of x86-64 has them.
struct Field {
  enum class Kind { U32, U64, Symbol, Record } kind;
  uint64_t value = 0;
  std::string name;
  std::vector<Field> fields;

  static Field u32(uint32_t value) { return {Kind::U32, value, {}, {}}; }
  static Field u64(uint64_t value) { return {Kind::U64, value, {}, {}}; }
  static Field symbol(llvm::StringRef name) {
    return {Kind::Symbol, 0, name.str(), {}};
  }
  static Field record(std::vector<Field> fields) {
    return {Kind::Record, 0, {}, std::move(fields)};
  }
};

/// Its bytes in the C ABI of x86-64, without padding.
size_t sizeOf(const Field &field);

/// Adds constant globals to a module.
class Tables {
public:
  explicit Tables(mlir::ModuleOp module);

  /// A pointer to a null-terminated string; equal ones are one.
  Field string(llvm::StringRef text);
  /// A pointer to `data` as it is, aligned to 16 bytes.
  Field bytes(llvm::StringRef data);
  /// A pointer to an array of equal fields; null if there are none.
  Field array(const std::vector<Field> &items);

  /// A pointer to a function, or to a table, of another object of the library.
  Field otherFunction(llvm::StringRef symbol);
  Field otherTable(llvm::StringRef symbol);
  /// Lets the library's other objects see an array of this one, as `symbol`.
  void show(const Field &array, llvm::StringRef symbol);

private:
  mlir::Type typeOf(const Field &field);
  mlir::Value build(const Field &field);

  mlir::ModuleOp module;
  mlir::ImplicitLocOpBuilder b;
  unsigned number = 0;
  llvm::StringMap<std::string> strings; // the globals of those there are
};

} // namespace tfc

#endif // TFC_COMPILER_EMIT_TABLES_H
