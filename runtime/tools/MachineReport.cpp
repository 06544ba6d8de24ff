// What of a library a machine runs: programs, threads, memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/MachineReport.h"

#include "runtime/src/load/ChooseProgram.h"
#include "runtime/src/memory/MemoryLimits.h"
#include "runtime/src/step/CpuDevice.h"
#include "runtime/src/threads/ThreadPool.h"
#include "runtime/tools/FormatText.h"

#include <algorithm>
#include <fstream>

namespace tfc::tools {

namespace {

/// What a model needs of memory, in bytes: weights, a step of one sequence, and
/// the keys and values of the longest one.
struct MemoryPlan {
  uint64_t weights = 0, workspace = 0, sequence = 0;
  int64_t stepTokens = 0, sequenceTokens = 0;
  uint64_t total() const { return weights + workspace + sequence; }
};

std::string sizeOf(uint64_t bytes) {
  const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1000 && unit < 4; ++unit) {
    value /= 1000;
  }
  return formatText(unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

/// Bytes that programs can get without others having to give some; 0 where the
/// system does not say.
uint64_t availableMemory() {
  std::ifstream file("/proc/meminfo");
  for (std::string name; file >> name;) {
    uint64_t kilobytes = 0;
    if (name == "MemAvailable:" && file >> kilobytes) {
      return kilobytes * 1024;
    }
    file.ignore(4096, '\n');
  }
  return 0;
}

MemoryPlan planMemory(const tfc_module_v0 &module,
                      const tfc_program_v0 &program) {
  constexpr int64_t longestPlanned = 2048, stepPlanned = 512;
  MemoryPlan plan;
  plan.weights = program.packed_bytes;
  plan.sequenceTokens =
      module.max_positions ? module.max_positions : longestPlanned;
  plan.stepTokens = std::min(stepPlanned, plan.sequenceTokens);
  for (uint32_t e = 0; e < program.n_entries; ++e) {
    const tfc_entry_v0 &entry = program.entries[e];
    if (entry.flags & TFC_ENTRY_PREPARE) {
      continue; // gives its workspace back before there are steps
    }
    plan.workspace += entry.workspace_bytes(plan.stepTokens, plan.stepTokens, 1,
                                            rt::allowedThreads());
    for (uint32_t c = 0; c < entry.n_caches; ++c) {
      const tfc_cache_v0 &cache = entry.caches[c];
      if (cache.layers != 0) {
        // Of a state one is read and one is written.
        int64_t blocks = cache.role == TFC_CACHE_STATE
                             ? 2
                             : (plan.sequenceTokens + cache.block_tokens - 1) /
                                   cache.block_tokens;
        plan.sequence += static_cast<uint64_t>(blocks) * cache.block_bytes;
      }
    }
  }
  return plan;
}

void addPrograms(const rt::Module &module, const tfc_program_v0 *chosen,
                 MachineReport &report) {
  const tfc_module_v0 &table = module.table();
  report.text +=
      rt::concat("model ", table.header.name, ", ", rt::kindName(table.kind),
                 ", made by ", table.header.producer, "\n");
  for (uint32_t i = 0; i < table.n_programs; ++i) {
    const tfc_program_v0 &program = table.programs[i];
    report.text += rt::concat("program ", program.name, ": ",
                              rt::describeUse(program, chosen), "\n");
  }
}

void addMemory(const MemoryPlan &plan, bool isHost, MachineReport &report) {
  uint64_t allowed = rt::allowedMemory(), available = availableMemory();
  bool isGroups = rt::cgroupMemory() != 0 && rt::cgroupMemory() == allowed;
  report.text += rt::concat(
      "threads ", rt::allowedThreads(),
      ", one a CPU that this process may use\n", "memory: weights ",
      sizeOf(plan.weights), ", a step of ", plan.stepTokens, " tokens ",
      sizeOf(plan.workspace), ", a sequence of ", plan.sequenceTokens,
      " tokens ", sizeOf(plan.sequence), isHost ? "" : ", on the device",
      "\nmemory there is: ", sizeOf(allowed), " (",
      isGroups ? "the control group's limit" : "the machine's", "), ",
      sizeOf(available), " of the machine's available\n");
  if (!isHost) {
    return;
  }
  if (plan.sequence != 0) {
    report.text += rt::concat(
        "keys and values: ", rt::CpuDevice::halfOfMemory() / plan.sequence,
        " such sequences in the half of memory that they may have\n");
  }
  uint64_t least = available ? std::min(allowed, available) : allowed;
  if (plan.total() > least) {
    report.faults.push_back(rt::concat(
        "expected at least ", sizeOf(plan.total()),
        " of memory for weights, a step and a sequence, got ", sizeOf(least)));
  }
}

} // namespace

rt::Result<MachineReport> reportMachine(const std::string &library) {
  auto module = rt::Module::open(library);
  if (!module) {
    return std::move(module.error());
  }
  MachineReport report;
  auto chosen = rt::chooseProgram(**module, "");
  addPrograms(**module, chosen ? chosen->program : nullptr, report);
  if (!chosen) {
    report.faults.push_back(chosen.error().message);
    return report;
  }
  addMemory(planMemory((*module)->table(), *chosen->program),
            chosen->program->isa == TFC_ISA_X86_64, report);
  return report;
}

} // namespace tfc::tools
