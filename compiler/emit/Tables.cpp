// Constants of C structs in an LLVM dialect module.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/Tables.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace tfc;

size_t tfc::sizeOf(const Field &field) {
  switch (field.kind) {
  case Field::Kind::U32:
    return sizeof(uint32_t);
  case Field::Kind::U64:
    return sizeof(uint64_t);
  case Field::Kind::Symbol:
    return sizeof(void *);
  case Field::Kind::Record: {
    size_t size = 0;
    for (const Field &inner : field.fields) {
      size += sizeOf(inner);
    }
    return size;
  }
  }
  llvm_unreachable("all kinds are listed");
}

Tables::Tables(ModuleOp module)
    : module(module), b(module.getLoc(), module.getContext()) {
  b.setInsertionPointToEnd(module.getBody());
}

// Tables are private: their names are for nobody, and the symbol table of a
// library does not have them.

Field Tables::string(StringRef text) {
  auto [known, isNew] = strings.try_emplace(text);
  if (!isNew) {
    return Field::symbol(known->second);
  }
  std::string bytes = text.str();
  bytes.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
  std::string name = "table_" + std::to_string(number++);
  // Code generators align arrays for wide reads, which nobody does here.
  constexpr unsigned alignment = 1;
  LLVM::GlobalOp::create(b, type, /*isConstant=*/true, LLVM::Linkage::Private,
                         name, b.getStringAttr(bytes), alignment);
  known->second = name;
  return Field::symbol(name);
}

Field Tables::bytes(StringRef data) {
  constexpr unsigned alignment = 16;
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), data.size());
  std::string name = "table_" + std::to_string(number++);
  LLVM::GlobalOp::create(b, type, /*isConstant=*/true, LLVM::Linkage::Private,
                         name, b.getStringAttr(data), alignment);
  return Field::symbol(name);
}

Field Tables::array(const std::vector<Field> &items) {
  if (items.empty()) {
    return Field::symbol("");
  }
  auto type = LLVM::LLVMArrayType::get(typeOf(items.front()), items.size());
  std::string name = "table_" + std::to_string(number++);
  auto global = LLVM::GlobalOp::create(
      b, type, /*isConstant=*/true, LLVM::Linkage::Private, name, Attribute());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&global.getInitializerRegion());
  Value value = LLVM::UndefOp::create(b, type);
  for (auto [index, item] : llvm::enumerate(items)) {
    value = LLVM::InsertValueOp::create(b, value, build(item),
                                        static_cast<int64_t>(index));
  }
  LLVM::ReturnOp::create(b, value);
  return Field::symbol(name);
}

Field Tables::otherFunction(StringRef symbol) {
  // It is only pointed at: any type will do.
  auto type = LLVM::LLVMFunctionType::get(b.getI32Type(), {});
  auto function = LLVM::LLVMFuncOp::create(b, symbol, type);
  function.setVisibility_(LLVM::Visibility::Hidden);
  return Field::symbol(symbol);
}

Field Tables::otherTable(StringRef symbol) {
  auto global =
      LLVM::GlobalOp::create(b, b.getI8Type(), /*isConstant=*/true,
                             LLVM::Linkage::External, symbol, Attribute());
  global.setVisibility_(LLVM::Visibility::Hidden);
  return Field::symbol(symbol);
}

void Tables::show(const Field &array, StringRef symbol) {
  for (auto global : module.getOps<LLVM::GlobalOp>()) {
    if (global.getSymName() == array.name) {
      global.setSymName(symbol);
      global.setLinkage(LLVM::Linkage::External);
      global.setVisibility_(LLVM::Visibility::Hidden);
    }
  }
}

Type Tables::typeOf(const Field &field) {
  switch (field.kind) {
  case Field::Kind::U32:
    return b.getI32Type();
  case Field::Kind::U64:
    return b.getI64Type();
  case Field::Kind::Symbol:
    return LLVM::LLVMPointerType::get(b.getContext());
  case Field::Kind::Record: {
    SmallVector<Type> types;
    for (const Field &inner : field.fields) {
      types.push_back(typeOf(inner));
    }
    return LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  }
  }
  llvm_unreachable("all kinds are listed");
}

Value Tables::build(const Field &field) {
  Type type = typeOf(field);
  switch (field.kind) {
  case Field::Kind::U32:
  case Field::Kind::U64:
    return LLVM::ConstantOp::create(
        b, type, b.getIntegerAttr(type, static_cast<int64_t>(field.value)));
  case Field::Kind::Symbol:
    if (field.name.empty()) {
      return LLVM::ZeroOp::create(b, type);
    }
    return LLVM::AddressOfOp::create(b, type, field.name);
  case Field::Kind::Record: {
    Value value = LLVM::UndefOp::create(b, type);
    for (auto [index, inner] : llvm::enumerate(field.fields)) {
      value = LLVM::InsertValueOp::create(b, value, build(inner),
                                          static_cast<int64_t>(index));
    }
    return value;
  }
  }
  llvm_unreachable("all kinds are listed");
}
