// A loaded model: library, chosen program, packed weights, threads. Immutable,
// so that any number of calls and sessions may share it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_LOAD_MODEL_H
#define TFC_RUNTIME_SRC_LOAD_MODEL_H

#include "runtime/src/load/ChooseProgram.h"
#include "runtime/src/memory/Memory.h"
#include "runtime/src/step/Tap.h"
#include "runtime/src/threads/Workers.h"
#include "tfc/runtime.h"

#include <mutex>

namespace tfc::rt {

/// Most tokens of a step: row numbers are 32-bit.
constexpr int64_t maxStepTokens = int64_t(1) << 30;

struct LoadOptions {
  std::string libraryPath, weightsPath;
  tfc_library_fn library = nullptr;     // instead of libraryPath
  std::vector<std::string> moreWeights; // tensors of the same checkpoint
  std::string program;                  // as chooseProgram
  uint32_t threads = 0;
  TapListener tap;                   // may be none
  std::string packedPath;            // see loadWeights
  bool sharesPacked = false;         // likewise
  bool randomWeights = false;        // of no meaning, instead of all paths
  int64_t stepLimit = maxStepTokens; // most tokens of a step; at most that
  tfc_progress_fn progress = nullptr;
  void *progressUser = nullptr;
  tfc_parallel_for_fn parallelFor = nullptr; // instead of the pool, `threads`
  void *parallelUser = nullptr;              // being how many they are
  uint32_t rank = 0;                         // of a library of ranks
  tfc_reduce_fn reduce = nullptr;            // of such a library alone
  void *reduceUser = nullptr;
};

class Engine;

class Model {
public:
  /// Errors: InvalidArgument (numbers of threads or a rank that make no sense),
  /// those of Module::open, chooseProgram, loadWeights and, of a program for a
  /// GPU, CudaProgram::upload.
  static Result<std::unique_ptr<Model>> load(const LoadOptions &options);
  ~Model();

  const tfc_module_v0 &table() const { return module->table(); }
  const tfc_program_v0 &program() const { return *chosen; }
  const std::string &path() const { return module->path(); }
  /// The entries "encode" and "step"; null when the model has no such one. An
  /// encoder-decoder has both.
  const tfc_entry_v0 *encoder() const { return encode; }
  const tfc_entry_v0 *decoder() const { return step; }
  bool isEncoderDecoder() const { return encode && step; }
  /// The entry that a forward pass begins with: the encoder's, or the decoder's
  /// when there is no encoder. Never null.
  const tfc_entry_v0 &forwardEntry() const { return encode ? *encode : *step; }
  /// The entry that generates, and the index of its output with the logits of
  /// wanted tokens. Null when the model cannot generate.
  const tfc_entry_v0 *generateEntry() const { return generate; }
  uint32_t logitsPort() const { return logits; }
  /// Whether a step may ask for the greatest logits' tokens alone.
  bool givesGreatest() const {
    return generate && generate->outputs[logits].flags & TFC_PORT_GREATEST;
  }
  /// Whether tokens of an entry see only those before them.
  bool isCausal(const tfc_entry_v0 &entry) const;

  /// Whether the program's memory is the host's.
  bool isOnHost() const { return !cuda; }
  /// In the host's memory; null when they are a device's.
  const void *weights() const { return packed.data(); }
  uint64_t weightBytes() const {
    return cuda ? chosen->packed_bytes : packed.size();
  }
  /// Why the packed weights could not be saved; empty when nothing is wrong.
  const std::string &packedFault() const { return saveFault; }
  uint32_t numThreads() const { return threads.count(); }
  /// Who runs loops.
  const Workers &workers() const { return threads; }
  /// Most tokens of a step.
  int64_t stepLimit() const { return mostTokens; }
  /// Threads of the host, whatever the program runs on.
  const tfc_host_v0 &host() const { return hostTable; }
  /// Where an engine's steps run; the model outlives it.
  std::unique_ptr<Device> makeDevice() const;

  /// An engine with caches as large as need be, to be given back: its buffers
  /// are warm. Errors: those of Engine::open.
  Result<std::unique_ptr<Engine>> borrowEngine() const;
  void giveBack(std::unique_ptr<Engine> engine) const;
  /// Frees the engines that nobody has borrowed, with all their memory.
  void trim() const;

private:
  Model() = default;
  Status chooseEntries();
  static Status checkThreads(const LoadOptions &options);
  Status checkRank(const LoadOptions &options) const;
  void startThreads(const LoadOptions &options);
  Status loadPacked(const LoadOptions &options);
  Status moveToDevice();
  void fillHost();

  std::unique_ptr<Module> module;
  const tfc_program_v0 *chosen = nullptr;
  std::unique_ptr<CudaProgram> cuda; // null: the program is the CPU's
  const tfc_entry_v0 *encode = nullptr, *step = nullptr, *generate = nullptr;
  uint32_t logits = 0;
  Workers threads{1};
  int64_t mostTokens = maxStepTokens;
  Mapping packed;
  std::string saveFault;
  tfc_host_v0 hostTable{};
  TapListener tap;
  tfc_reduce_fn reduce = nullptr;
  void *reduceUser = nullptr;
  mutable std::mutex mutex;
  mutable std::vector<std::unique_ptr<Engine>> idleEngines;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_LOAD_MODEL_H
