// A compiled library: opened, checked, and the program in it that this machine
// runs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_LOAD_MODULE_H
#define TFC_RUNTIME_SRC_LOAD_MODULE_H

#include "runtime/src/load/CpuFeatures.h"
#include "runtime/src/load/ModuleTables.h"
#include "tfc/runtime.h"

#include <memory>

namespace tfc::rt {

class Module {
public:
  /// Opens the library that is at `path` now, also where another one that was
  /// there is still loaded. Errors: NotFound, Io, InvalidArgument (no regular
  /// file), Incompatible (not such a library, a damaged one, or of another ABI
  /// version).
  static Result<std::unique_ptr<Module>> open(const std::string &path);
  /// A library that is linked into the process, by its query. Errors:
  /// Incompatible, as above.
  static Result<std::unique_ptr<Module>> open(tfc_library_fn library);
  ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  const tfc_module_v0 &table() const { return tables.module(); }
  /// What messages call it.
  const std::string &path() const { return libraryPath; }

  /// The program for CPUs called `name`, or, when it is empty or "cpu", that of
  /// the highest priority that a machine with these features runs. Errors:
  /// NotFound (no such name), Incompatible (what the machine lacks).
  Result<const tfc_program_v0 *> choose(const std::string &name,
                                        uint64_t features) const;

private:
  Module() = default;
  Status read(const tfc_module_header *header);

  std::string libraryPath;
  void *handle = nullptr; // null: it is linked into the process
  ModuleTables tables;
};

/// What this machine makes of a program, `chosen` being the one that it runs:
/// "in use on this machine", or why not.
std::string describeUse(const tfc_program_v0 &program,
                        const tfc_program_v0 *chosen);

/// "encoder", "decoder" or "encoder-decoder", of TFC_KIND_*.
const char *kindName(uint32_t kind);

/// Whether the library asks for something that this runtime does not do yet: a
/// cache of states, keys and values of unequal widths, rows of embeddings as
/// inputs. Incompatible then.
Status checkNeeds(const tfc_module_v0 &module);

/// Whether the library's tables can be used at all: no null where there must be
/// something, sizes that make sense. Incompatible otherwise.
Status checkModule(const tfc_module_v0 &module);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_LOAD_MODULE_H
