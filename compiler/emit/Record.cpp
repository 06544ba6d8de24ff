// A constant of a struct of abi.h, filled by member.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/Record.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

using namespace tfc;

void RecordLayout::add(size_t offset, size_t size, Field field) {
  auto behind = llvm::find_if(
      parts, [&](const Part &part) { return part.offset > offset; });
  parts.insert(behind, {offset, size, std::move(field)});
}

void RecordLayout::addOverflow(size_t offset) { overflows.push_back(offset); }

/// "bytes 8 to 12 <what>", the last one excluded.
static std::string describe(size_t begin, size_t end, llvm::StringRef what) {
  return ("bytes " + llvm::Twine(begin) + " to " + llvm::Twine(end) + " " +
          what)
      .str();
}

std::string RecordLayout::findFault(size_t size) const {
  size_t next = 0;
  for (const Part &part : parts) {
    size_t end = part.offset + part.size;
    if (part.offset > next) {
      return describe(next, part.offset, "are not set");
    }
    if (part.offset < next) {
      return describe(part.offset, std::min(next, end), "are set twice");
    }
    if (sizeOf(part.field) != part.size) {
      return describe(part.offset, end, "are set to something of another size");
    }
    if (llvm::is_contained(overflows, part.offset)) {
      return describe(part.offset, end, "do not hold their value");
    }
    next = end;
  }
  return next < size ? describe(next, size, "are not set") : "";
}

Field RecordLayout::finish(const char *name, size_t size) const {
  std::string fault = findFault(size);
  if (!fault.empty()) {
    llvm::report_fatal_error(llvm::Twine(name) + ": " + fault);
  }
  std::vector<Field> fields;
  for (const Part &part : parts) {
    fields.push_back(part.field);
  }
  return Field::record(std::move(fields));
}
