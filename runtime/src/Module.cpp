// Opens a compiled library and chooses the program to run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Module.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fstream>
#include <sys/stat.h>

namespace tfc::rt {

/// Whether a file of `size` bytes has all the segments that its ELF header
/// promises. dlopen maps them without looking, and what is missing becomes a
/// signal. What is no 64-bit ELF file is left to dlopen's own message.
static bool isWhole(const std::string &path, uint64_t size) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header;
  if (!file.read(reinterpret_cast<char *>(&header), sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_phentsize != sizeof(Elf64_Phdr)) {
    return true;
  }
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!file.read(reinterpret_cast<char *>(&segment), sizeof segment) ||
        segment.p_offset > size || segment.p_filesz > size - segment.p_offset) {
      return false;
    }
  }
  return true;
}

Result<std::unique_ptr<Module>> Module::open(const std::string &path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    return makeError(Code::NotFound, path,
                     ": cannot be opened: ", std::strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) {
    return makeError(Code::InvalidArgument, path,
                     ": expected a compiled model, got no regular file");
  }
  if (!isWhole(path, static_cast<uint64_t>(info.st_size))) {
    return makeError(Code::Incompatible, path,
                     ": expected a whole compiled model, got a file that ends "
                     "early (compile it again)");
  }
  std::unique_ptr<Module> module(new Module);
  module->libraryPath = path;
  // Without a slash, dlopen would search the system's folders.
  std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  module->handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module->handle) {
    return makeError(
        Code::Incompatible, path,
        ": expected a compiled model for this machine, got: ", dlerror());
  }
  Status status = module->query();
  if (!status) {
    return std::move(status.error());
  }
  return module;
}

Status Module::query() {
  auto query = reinterpret_cast<tfc_module_query_fn>(
      dlsym(handle, TFC_MODULE_QUERY_SYMBOL));
  if (!query) {
    return makeError(Code::Incompatible, libraryPath,
                     ": expected a compiled model (symbol ",
                     TFC_MODULE_QUERY_SYMBOL, "), got another library");
  }
  const tfc_module_header *header = query(TFC_ABI_VERSION);
  if (!header || header->version != TFC_ABI_VERSION) {
    return makeError(Code::Incompatible, libraryPath, ": expected ABI version ",
                     TFC_ABI_VERSION, " (this runtime's), got ",
                     header ? std::to_string(header->version) : "a newer one",
                     "; compile the model again");
  }
  module = reinterpret_cast<const tfc_module_v0 *>(header);
  Status status = checkModule(*module);
  if (!status) {
    return makeError(status.error().code, libraryPath, ": ",
                     status.error().message);
  }
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
  uint64_t lacking = 0; // of the least demanding program
  for (uint32_t i = 0; i < module->n_programs; ++i) {
    const tfc_program_v0 &program = module->programs[i];
    names += (i ? ", " : "") + std::string(program.name);
    bool wanted = name.empty() || name == program.name;
    if (!wanted || program.kind != TFC_PROGRAM_CPU) {
      continue;
    }
    if (uint64_t missing = program.features & ~features) {
      lacking = lacking && lacking < missing ? lacking : missing;
    } else if (!best || program.features > best->features) {
      best = &program;
    }
  }
  if (best) {
    return best;
  }
  if (lacking) {
    return makeError(Code::Incompatible, libraryPath, ": expected a program ",
                     "that this machine runs, got ",
                     name.empty() ? names : name, "; the machine lacks ",
                     missingFeatures(lacking));
  }
  return makeError(Code::NotFound, libraryPath, ": expected ",
                   name.empty() ? "a program for CPUs"
                                : "program " + quoteName(name),
                   ", got ", names);
}

std::string describeUse(const tfc_program_v0 &program,
                        const tfc_program_v0 *chosen) {
  if (&program == chosen) {
    return "in use on this machine";
  }
  if (program.kind != TFC_PROGRAM_CPU) {
    return "not for CPUs";
  }
  uint64_t missing = program.features & ~machineFeatures();
  return missing ? "this machine lacks " + missingFeatures(missing)
                 : "runs on this machine";
}

namespace {

/// The first thing that is wrong with a table, "" when nothing is.
std::string faultOfPort(const tfc_port_v0 &port, bool isInput) {
  if (!port.name || port.width == 0) {
    return "a port with a name and a width";
  }
  if (port.dtype != (isInput ? TFC_DTYPE_I32 : TFC_DTYPE_F32)) {
    return isInput ? "inputs of dtype i32" : "outputs of dtype f32";
  }
  if (port.rows > TFC_ROWS_WANTED || port.fill > TFC_FILL_POSITION ||
      port.take > TFC_TAKE_LAST_NONPAD) {
    return "known kinds of rows";
  }
  if (isInput ? port.width != 1 || port.rows != TFC_ROWS_TOKENS
              : port.flags & TFC_PORT_SQUEEZED && port.width != 1) {
    return "one value a token";
  }
  return "";
}

std::string faultOfEntry(const tfc_entry_v0 &entry) {
  if (!entry.name || !entry.workspace_bytes || !entry.run ||
      entry.query_rows == 0 || !entry.inputs || !entry.outputs ||
      entry.n_inputs == 0 || entry.n_outputs == 0) {
    return "entries with functions, inputs and outputs";
  }
  if (entry.self.layers &&
      (entry.self.block_tokens == 0 || entry.self.block_bytes == 0)) {
    return "cache blocks that hold something";
  }
  std::string fault;
  for (uint32_t i = 0; fault.empty() && i < entry.n_inputs; ++i) {
    fault = faultOfPort(entry.inputs[i], true);
  }
  for (uint32_t i = 0; fault.empty() && i < entry.n_outputs; ++i) {
    fault = faultOfPort(entry.outputs[i], false);
  }
  return fault;
}

std::string faultOfProgram(const tfc_program_v0 &program) {
  if (!program.name || !program.pack || !program.entries ||
      program.n_entries == 0) {
    return "programs with a name, entries and a pack function";
  }
  std::string fault;
  for (uint32_t i = 0; fault.empty() && i < program.n_entries; ++i) {
    fault = faultOfEntry(program.entries[i]);
  }
  return fault;
}

std::string faultOfWeight(const tfc_weight_v0 &weight, uint32_t numWeights) {
  if (!weight.name || (weight.n_patterns && !weight.patterns) ||
      weight.layers == 0) {
    return "weights with a name, patterns and layers";
  }
  if (weight.rank < 1 || weight.rank > 2 || weight.rows <= 0 ||
      weight.cols <= 0 || weight.first_row < 0 ||
      weight.rows > weight.stored_rows - weight.first_row) {
    return concat("weight ", weight.name, " within its stored tensor");
  }
  if (weight.flags & TFC_WEIGHT_TIED && weight.tied_to >= numWeights) {
    return concat("weight ", weight.name, " to be tied to a weight");
  }
  return "";
}

std::string faultOfModule(const tfc_module_v0 &module) {
  if (!module.header.name || !module.header.producer || !module.spec_json) {
    return "a model with a name, a producer and a spec";
  }
  if (module.kind > TFC_KIND_ENCODER_DECODER) {
    return "an encoder, a decoder or both";
  }
  if (module.n_programs == 0 || !module.programs) {
    return "at least one program";
  }
  if ((module.n_weights && !module.weights) || (module.n_eos && !module.eos) ||
      !module.generation || (module.n_prefixes && !module.prefixes) ||
      (module.n_aliases && !module.aliases)) {
    return "tables of the lengths it states";
  }
  std::string fault;
  for (uint32_t i = 0; fault.empty() && i < module.n_weights; ++i) {
    fault = faultOfWeight(module.weights[i], module.n_weights);
  }
  for (uint32_t i = 0; fault.empty() && i < module.n_programs; ++i) {
    fault = faultOfProgram(module.programs[i]);
  }
  return fault;
}

} // namespace

Status checkModule(const tfc_module_v0 &module) {
  std::string fault = faultOfModule(module);
  if (fault.empty()) {
    return {};
  }
  return makeError(Code::Incompatible, "malformed library: expected ", fault);
}

} // namespace tfc::rt
