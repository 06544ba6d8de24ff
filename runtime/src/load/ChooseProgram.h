// Which of a library's programs is run: the best one that a GPU or the CPU
// takes, or what the user says.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_LOAD_CHOOSEPROGRAM_H
#define TFC_RUNTIME_SRC_LOAD_CHOOSEPROGRAM_H

#include "runtime/gpu/CudaProgram.h"
#include "runtime/src/load/Module.h"

namespace tfc::rt {

struct ChosenProgram {
  const tfc_program_v0 *program = nullptr;
  std::unique_ptr<CudaProgram> cuda; // null: it is the CPU's
};

/// `given`: a program's name, "cpu" or "cuda" for the best one of that kind,
/// "cuda:1" for that on the second device, or empty for that of the highest
/// priority. Then a GPU that cannot be used is no error. The module outlives
/// the program. Errors: those of Module::choose, readDeviceNumber, readAvoided
/// and CudaProgram::load.
Result<ChosenProgram> chooseProgram(const Module &module,
                                    const std::string &given);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_LOAD_CHOOSEPROGRAM_H
