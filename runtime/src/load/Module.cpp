// Opens a compiled library and chooses the program to run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/Module.h"

#include "runtime/src/load/LibraryFile.h"
#include "runtime/src/load/TilePermission.h"
#include "runtime/src/load/X86Levels.h"

#include <algorithm>
#include <dlfcn.h>
#include <limits>

namespace tfc::rt {

Result<std::unique_ptr<Module>> Module::open(const std::string &path) {
  Result<OpenFile> file = OpenFile::open(path);
  if (!file) {
    return std::move(file.error());
  }
  if (!file->isRegular()) {
    return makeError(Code::InvalidArgument, path,
                     ": expected a compiled model, got no regular file");
  }
  Status status = checkLibraryFile(*file);
  if (!status) {
    return std::move(status.error());
  }
  std::unique_ptr<Module> module(new Module);
  module->libraryPath = path;
  std::string fault;
  module->handle = loadLibrary(*file, fault);
  if (!module->handle) {
    return makeError(
        Code::Incompatible, path,
        ": expected a compiled model for this machine, got: ", fault);
  }
  auto query = reinterpret_cast<tfc_module_query_fn>(
      dlsym(module->handle, TFC_MODULE_QUERY_SYMBOL));
  if (!query) {
    return makeError(Code::Incompatible, path,
                     ": expected a compiled model (symbol ",
                     TFC_MODULE_QUERY_SYMBOL, "), got another library");
  }
  status = module->read(query(TFC_ABI_VERSION));
  if (!status) {
    return std::move(status.error());
  }
  return module;
}

/// FNV-1a.
static uint64_t hashOf(const char *text) {
  uint64_t sum = TFC_FNV_BASIS;
  for (; *text; ++text) {
    sum = (sum ^ static_cast<unsigned char>(*text)) * TFC_FNV_PRIME;
  }
  return sum;
}

Result<std::unique_ptr<Module>> Module::open(tfc_library_fn library) {
  std::unique_ptr<Module> module(new Module);
  module->libraryPath = "linked model";
  Status status = module->read(
      static_cast<const tfc_module_header *>(library(TFC_ABI_VERSION)));
  if (!status) {
    return std::move(status.error());
  }
  const tfc_module_v0 &table = module->table();
  module->libraryPath = concat("linked model ", table.header.name);
  // The linker moved its bytes, so there is no sum of them all.
  if (hashOf(table.spec_json) != table.spec_hash) {
    return makeError(Code::Incompatible, module->libraryPath,
                     ": expected a spec of the hash ", std::hex,
                     table.spec_hash, ", got ", hashOf(table.spec_json),
                     "; the program is damaged (compile and link it again)");
  }
  return module;
}

Status Module::read(const tfc_module_header *header) {
  if (!header) {
    return makeError(Code::Incompatible, libraryPath, ": expected a library ",
                     "that works with ABI version ", TFC_ABI_VERSION,
                     " (this runtime's), got one that needs a newer runtime");
  }
  if (header->version < TFC_ABI_OLDEST) {
    return makeError(Code::Incompatible, libraryPath, ": expected ABI version ",
                     TFC_ABI_OLDEST, " or later, got ", header->version,
                     "; compile the model again");
  }
  Result<ModuleTables> copied = ModuleTables::copy(*header);
  Status status =
      copied ? checkNeeds(copied->module()) : Status(copied.error());
  status = status ? checkModule(copied->module()) : std::move(status);
  if (!status) {
    return makeError(status.error().code, libraryPath, ": ",
                     status.error().message);
  }
  tables = std::move(*copied);
  return {};
}

Module::~Module() {
  if (handle) {
    dlclose(handle);
  }
}

Result<const tfc_program_v0 *> Module::choose(const std::string &name,
                                              uint64_t features) const {
  const tfc_program_v0 *best = nullptr;
  std::string names;
  uint64_t lacking = 0; // of the program of the lowest priority
  uint32_t lowest = std::numeric_limits<uint32_t>::max();
  for (uint32_t i = 0; i < table().n_programs; ++i) {
    const tfc_program_v0 &program = table().programs[i];
    names += (i ? ", " : "") + std::string(program.name);
    bool wanted = name.empty() || name == "cpu" || name == program.name;
    if (!wanted || program.isa != hostIsa) {
      continue;
    }
    if (uint64_t missing = program.features & ~features) {
      lacking = lacking && lowest <= program.priority ? lacking : missing;
      lowest = std::min(lowest, program.priority);
    } else if (!best || program.priority > best->priority) {
      best = &program;
    }
  }
  if (best) {
    return best;
  }
  if (lacking) {
    return makeError(Code::Incompatible, libraryPath, ": expected a program ",
                     "that this machine runs, got ",
                     name.empty() || name == "cpu" ? names : name,
                     "; the machine lacks ", describeMissing(lacking));
  }
  return makeError(Code::NotFound, libraryPath, ": expected ",
                   name.empty() || name == "cpu" ? "a program for CPUs"
                   : name == "cuda"              ? "a program for CUDA devices"
                                                 : "program " + quoteName(name),
                   ", got ", names);
}

std::string describeUse(const tfc_program_v0 &program,
                        const tfc_program_v0 *chosen) {
  if (&program == chosen) {
    return "in use on this machine";
  }
  if (program.isa == TFC_ISA_CUDA) {
    uint64_t needed = program.features & TFC_FEATURE_CUDA_CAPABILITY;
    return concat("for CUDA devices of compute capability ", needed / 10, ".",
                  needed % 10,
                  program.features & TFC_FEATURE_CUDA_EXACT ? "" : " or more");
  }
  if (program.isa != hostIsa) {
    return "for another kind of machine";
  }
  uint64_t missing = program.features & ~machineFeatures();
  if (!missing && hostIsa == TFC_ISA_X86_64 &&
      (program.features & tileFeatures) && !tileRefusal().empty()) {
    missing = program.features & tileFeatures;
  }
  return missing ? "this machine lacks " + describeMissing(missing)
                 : "runs on this machine";
}

const char *kindName(uint32_t kind) {
  return kind == TFC_KIND_ENCODER   ? "encoder"
         : kind == TFC_KIND_DECODER ? "decoder"
                                    : "encoder-decoder";
}

} // namespace tfc::rt
