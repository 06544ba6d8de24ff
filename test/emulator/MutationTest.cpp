// Kernels without one of the instructions that synchronise them: what is not
// noticed on the stand-in would not be noticed before a GPU gets it wrong.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/Kernels.h"

#include <fstream>
#include <sstream>

namespace tfc::emulator {
namespace {

constexpr uint32_t threads = 64, blocks = 2;
constexpr uint64_t words = 6 * 64; // what the kernels read and write at most

std::string readKernel(const std::string &name) {
  std::ifstream file(TFC_EMULATOR_ROOT "/test/emulator/kernels/" + name +
                     ".ptx");
  EXPECT_TRUE(file.good()) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A kernel's result, and what was said of it.
struct Outcome {
  std::string message;
  std::vector<uint32_t> result;
};

Outcome runKernel(const std::string &ptx, uint32_t numBlocks, uint64_t seed) {
  Device device;
  Races races;
  device.order.seed = seed;
  device.order.races = &races;
  device.order.work = races.begin(nullptr, 0);
  uint64_t to = device.allocate(words * 4), from = device.allocate(words * 4);
  for (uint32_t i = 0; i < words; ++i) {
    uint32_t value = i * 2654435761U >> 8;
    std::memcpy(device.at(from + 4 * i, 4), &value, 4);
  }
  Outcome outcome;
  outcome.message = device.run(ptx, to, from, numBlocks, threads).message;
  for (uint32_t i = 0; i < words; ++i) {
    outcome.result.push_back(device.read<uint32_t>(to + 4 * i));
  }
  return outcome;
}

/// The lines of instructions that order threads or wait for copies.
bool isSynchronising(const std::string &line) {
  for (const char *base :
       {"bar.", "cp.async.commit_group", "cp.async.wait_group"}) {
    if (line.rfind(base, 0) == 0) {
      return true;
    }
  }
  return false;
}

struct Count {
  int mutants = 0, noticed = 0;
};

/// Runs every mutant of a kernel; names those that nobody notices.
Count mutate(const std::string &name, uint32_t numBlocks) {
  std::string text = readKernel(name);
  Outcome whole = runKernel(text, numBlocks, 1);
  EXPECT_EQ(whole.message, "") << name;
  EXPECT_EQ(runKernel(text, numBlocks, 0).result, whole.result) << name;
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  Count count;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!isSynchronising(lines[i])) {
      continue;
    }
    std::string mutant;
    for (size_t j = 0; j < lines.size(); ++j) {
      mutant += (j == i ? "" : lines[j]) + "\n";
    }
    Outcome outcome = runKernel(mutant, numBlocks, 1);
    bool isNoticed = !outcome.message.empty() || outcome.result != whole.result;
    ++count.mutants;
    count.noticed += isNoticed;
    EXPECT_TRUE(isNoticed) << name << ".ptx:" << i + 1 << ": " << lines[i];
  }
  return count;
}

// All are noticed: the kernels have no redundant one. The goal for kernels that
// do is 95 of 100, with the reason of each that is left.
TEST(Mutation, EveryMissingSynchronisationIsNoticed) {
  Count total;
  for (const char *name :
       {"row_sums", "transpose", "staged_sum", "warp_turns", "stencil"}) {
    bool isOneBlock = std::string(name) == "staged_sum" ||
                      std::string(name) == "warp_turns" ||
                      std::string(name) == "stencil";
    Count count = mutate(name, isOneBlock ? 1 : blocks);
    EXPECT_GE(count.mutants, 2) << name;
    total.mutants += count.mutants;
    total.noticed += count.noticed;
  }
  EXPECT_GE(total.mutants, 14);
  EXPECT_EQ(total.noticed, total.mutants);
}

} // namespace
} // namespace tfc::emulator
