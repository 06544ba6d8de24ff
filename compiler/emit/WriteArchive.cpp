// Object files -> static archive, by LLVM's writer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/WriteArchive.h"

#include "llvm/Object/ArchiveWriter.h"

using namespace llvm;

Error tfc::writeArchive(ArrayRef<ArchiveMember> members, StringRef output) {
  std::vector<std::string> names;
  for (const ArchiveMember &member : members) {
    names.push_back((kMemberPrefix + member.program + ".o").str());
  }
  std::vector<NewArchiveMember> added;
  for (auto [member, name] : zip_equal(members, names)) {
    added.emplace_back(MemoryBufferRef(member.object, name));
  }
  Error error = llvm::writeArchive(
      output, added, SymtabWritingMode::NormalSymtab, object::Archive::K_GNU,
      /*Deterministic=*/true, /*Thin=*/false);
  return error ? createStringError(inconvertibleErrorCode(),
                                   "cannot write " + output + ": " +
                                       toString(std::move(error)))
               : Error::success();
}
