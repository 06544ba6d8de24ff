// A library's tables as this host's structs, whatever version wrote them: each
// element is copied as far as both know it, and the rest is zero.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_LOAD_MODULETABLES_H
#define TFC_RUNTIME_SRC_LOAD_MODULETABLES_H

#include "runtime/src/Error.h"
#include "tfc/abi.h"

#include <memory>
#include <vector>

namespace tfc::rt {

class ModuleTables {
public:
  /// Copies the tables of a library whose version this host runs. Strings and
  /// lists of numbers stay where they are. Pointers may be null and counts may
  /// lie about that: checkModule looks at the copy. Errors: Incompatible
  /// (elements smaller than those of version 3, or larger than any).
  static Result<ModuleTables> copy(const tfc_module_header &header);

  const tfc_module_v0 &module() const { return *table; }

private:
  /// `count` elements, `size` bytes from one to the next; null stays null.
  template <typename T>
  T *copyArray(const T *from, uint64_t count, uint32_t size);
  void copyWeights(tfc_module_v0 &module);
  void copyPrograms(tfc_module_v0 &module);

  tfc_module_v0 *table = nullptr;
  std::vector<std::shared_ptr<void>> owned;
};

/// The entry's number of its cache of a role (TFC_CACHE_*); -1 when it has
/// none.
int findCache(const tfc_entry_v0 &entry, uint32_t role);
/// That cache; one without layers when there is none.
const tfc_cache_v0 &cacheOf(const tfc_entry_v0 &entry, uint32_t role);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_LOAD_MODULETABLES_H
