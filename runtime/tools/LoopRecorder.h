// What the workers do during a step: every parallel loop of the library timed,
// by the function that is its body.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_LOOPRECORDER_H
#define TFC_RUNTIME_TOOLS_LOOPRECORDER_H

#include "runtime/src/Error.h"
#include "tfc/abi.h"

namespace tfc::bench {

/// A piece of a loop that a worker did, in seconds of the steady clock.
struct Piece {
  tfc_body_fn body = nullptr;
  int64_t loop = 0; // counts all loops
  uint32_t worker = 0;
  double begin = 0, end = 0;
};

/// All loops with the same body: one op, of all layers.
struct LoopTotal {
  tfc_body_fn body = nullptr;
  int64_t calls = 0;
  double wall = 0;    // from start to end of the loops
  double busy = 0;    // of all workers together
  double longest = 0; // of the busiest worker of each loop
};

/// A host that passes everything on and takes notes. Belongs to one thread.
class LoopRecorder {
public:
  /// `lent` must outlive it.
  explicit LoopRecorder(const tfc_host_v0 &lent);
  LoopRecorder(const LoopRecorder &) = delete;
  LoopRecorder &operator=(const LoopRecorder &) = delete;

  const tfc_host_v0 &host() const { return table; }
  /// Forgets everything.
  void clear();

  /// In order of the first loop with that body.
  const std::vector<LoopTotal> &totals() const { return sums; }
  /// By worker.
  const std::vector<std::vector<Piece>> &pieces() const { return byWorker; }

private:
  struct Call;
  int32_t run(int64_t n, tfc_body_fn body, void *arg);

  const tfc_host_v0 &lent;
  tfc_host_v0 table;
  int64_t numLoops = 0;
  std::vector<LoopTotal> sums;
  std::vector<std::vector<Piece>> byWorker;
};

/// The names of functions in a library, from its symbol table, by their
/// distance from the library's start. Empty when it has been stripped or cannot
/// be read: then functions have no names.
std::vector<std::pair<uint64_t, std::string>>
readSymbols(const std::string &path);

/// The name of a body: its symbol, or "+0x1a40", its place in the library.
class BodyNames {
public:
  explicit BodyNames(const std::string &libraryPath);
  std::string name(tfc_body_fn body) const;

private:
  std::vector<std::pair<uint64_t, std::string>> symbols;
};

} // namespace tfc::bench

#endif // TFC_RUNTIME_TOOLS_LOOPRECORDER_H
