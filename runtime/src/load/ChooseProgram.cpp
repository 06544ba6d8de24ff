// Tries a library's CUDA programs, best first, as far as the CPU's is no
// better.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/ChooseProgram.h"

#include "runtime/gpu/CudaAvoid.h"
#include "runtime/gpu/DeviceNumber.h"
#include "runtime/src/load/TilePermission.h"

#include <algorithm>
#include <tuple>

namespace tfc::rt {

/// The CUDA programs that a name means, those of the highest priority first.
static std::vector<const tfc_program_v0 *>
cudaPrograms(const tfc_module_v0 &table, const std::string &name) {
  std::vector<const tfc_program_v0 *> programs;
  for (uint32_t i = 0; i < table.n_programs; ++i) {
    const tfc_program_v0 &program = table.programs[i];
    bool isMeant = name.empty() || name == "cuda" || name == program.name;
    if (isMeant && program.isa == TFC_ISA_CUDA) {
      programs.push_back(&program);
    }
  }
  std::sort(programs.begin(), programs.end(), [](const auto *a, const auto *b) {
    return std::make_tuple(-int64_t(a->priority), a) <
           std::make_tuple(-int64_t(b->priority), b);
  });
  return programs;
}

/// What else a library has, for whoever asked in vain.
static std::string otherPrograms(const tfc_module_v0 &table) {
  std::string names;
  for (uint32_t i = 0; i < table.n_programs; ++i) {
    if (table.programs[i].isa == hostIsa) {
      names += (names.empty() ? "; this library also has " : ", ") +
               std::string(table.programs[i].name);
    }
  }
  return names;
}

Result<ChosenProgram> chooseProgram(const Module &module,
                                    const std::string &given) {
  const tfc_module_v0 &table = module.table();
  auto named = readDeviceNumber(given);
  if (!named) {
    return std::move(named.error());
  }
  const std::string &name = named->program;
  auto onCpu = module.choose(name, permittedFeatures(table, machineFeatures()));
  auto avoided = readAvoided();
  if (!avoided) {
    return std::move(avoided.error());
  }
  std::optional<Error> fault;
  for (const tfc_program_v0 *program : cudaPrograms(table, name)) {
    // Plain loops on a device may be slower than a CPU's best.
    if (name.empty() && onCpu && program->priority < (*onCpu)->priority) {
      break;
    }
    auto loaded = CudaProgram::load(*program, named->device, *avoided);
    if (loaded) {
      return ChosenProgram{program, std::move(*loaded)};
    }
    // That of the best one is the one to mend.
    fault = fault ? fault : std::move(loaded.error());
  }
  if (fault && !name.empty()) {
    return makeError(fault->code, module.path(), ": ", fault->message,
                     otherPrograms(table));
  }
  if (!onCpu) {
    return std::move(onCpu.error());
  }
  return ChosenProgram{*onCpu, nullptr};
}

} // namespace tfc::rt
