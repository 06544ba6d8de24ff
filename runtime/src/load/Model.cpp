// Loads a model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/Model.h"

#include "runtime/src/CallOut.h"
#include "runtime/src/load/Weights.h"
#include "runtime/src/step/CpuDevice.h"
#include "runtime/src/step/Engine.h"
#include "runtime/src/threads/ThreadPool.h"

namespace tfc::rt {

// Warm buffers are as large as the largest batch they have seen.
static constexpr size_t maxIdleEngines = 2;

Result<std::unique_ptr<Model>> Model::load(const LoadOptions &options) {
  std::unique_ptr<Model> model(new Model);
  Status status = checkThreads(options);
  if (!status) {
    return std::move(status.error());
  }
  // The C API does not know abi.h's tables.
  Result<std::unique_ptr<Module>> module =
      options.library ? Module::open(options.library)
                      : Module::open(options.libraryPath);
  if (!module) {
    return std::move(module.error());
  }
  model->module = std::move(*module);
  status = model->checkRank(options);
  if (!status) {
    return std::move(status.error());
  }
  auto program = chooseProgram(*model->module, options.program);
  if (!program) {
    return std::move(program.error());
  }
  model->chosen = program->program;
  model->cuda = std::move(program->cuda);
  status = model->chooseEntries();
  if (!status) {
    return std::move(status.error());
  }
  model->startThreads(options);
  status = model->loadPacked(options);
  if (status && model->cuda) {
    status = model->moveToDevice();
  }
  if (!status) {
    return std::move(status.error());
  }
  model->tap = options.tap;
  model->reduce = options.reduce;
  model->reduceUser = options.reduceUser;
  model->mostTokens = options.stepLimit;
  model->fillHost();
  return model;
}

Status Model::checkThreads(const LoadOptions &options) {
  if (options.threads > maxThreads) {
    return makeError(Code::InvalidArgument, "expected at most ", maxThreads,
                     " threads, got ", options.threads);
  }
  if (options.parallelFor && options.threads == 0) {
    return makeError(Code::InvalidArgument, "expected threads beside ",
                     "parallel_for (how many workers it has), got 0");
  }
  return {};
}

Status Model::checkRank(const LoadOptions &options) const {
  uint32_t ranks = table().ranks;
  if (ranks == 0 && (options.rank != 0 || options.reduce)) {
    return makeError(Code::InvalidArgument, path(),
                     ": expected no rank and no ",
                     "reduce (it is a library for one process; tfc compile ",
                     "--ranks makes one for several), got ",
                     options.reduce ? "reduce" : "a rank");
  }
  if (ranks != 0 && !options.reduce) {
    return makeError(Code::InvalidArgument, path(),
                     ": expected reduce (it is a ", "library for ", ranks,
                     " ranks, whose numbers a program ", "adds up), got none");
  }
  if (ranks != 0 && options.rank >= ranks) {
    return makeError(Code::InvalidArgument, path(), ": expected a rank from 0 ",
                     "to ", ranks - 1, ", got ", options.rank);
  }
  return {};
}

void Model::startThreads(const LoadOptions &options) {
  threads =
      options.parallelFor
          ? Workers(options.threads, options.parallelFor, options.parallelUser)
          : Workers(ThreadPool::instance().reserve(
                options.threads ? options.threads : allowedThreads()));
}

Status Model::loadPacked(const LoadOptions &options) {
  Loading loading(threads, options.progress, options.progressUser);
  if (options.randomWeights) {
    Result<Mapping> random =
        packRandomWeights(table(), *chosen, loading, options.rank);
    if (!random) {
      return std::move(random.error());
    }
    packed = std::move(*random);
    return loading.finish();
  }
  WeightPaths paths{options.moreWeights, options.packedPath,
                    options.sharesPacked, options.rank};
  if (!options.weightsPath.empty()) {
    paths.checkpoint.insert(paths.checkpoint.begin(), options.weightsPath);
  }
  Result<LoadedWeights> loaded = loadWeights(table(), *chosen, paths, loading);
  if (!loaded) {
    return std::move(loaded.error());
  }
  packed = std::move(loaded->packed);
  saveFault = std::move(loaded->fault);
  return loading.finish();
}

/// Memory never holds two copies of the model for longer than that takes.
Status Model::moveToDevice() {
  Status status = cuda->upload(packed, threads);
  packed = Mapping();
  return status;
}

Model::~Model() = default;

std::unique_ptr<Device> Model::makeDevice() const {
  if (cuda) {
    return cuda->makeDevice(tap);
  }
  return std::make_unique<CpuDevice>(hostTable, packed.data());
}

void Model::fillHost() {
  hostTable.struct_size = sizeof(hostTable);
  hostTable.ctx = this;
  hostTable.n_workers = threads.count();
  hostTable.parallel_for = [](void *ctx, int64_t n, tfc_body_fn body,
                              void *arg) {
    static_cast<const Model *>(ctx)->threads.parallelFor(n, body, arg);
    return int32_t(TFC_STATUS_DONE);
  };
  if (reduce) {
    hostTable.reduce = [](void *ctx, float *values, int64_t count) {
      const Model &self = *static_cast<const Model *>(ctx);
      int fault = callOut("reduce", [&] {
        return self.reduce(self.reduceUser, values, count);
      });
      if (fault != 0) {
        throw CallerFault(concat("reduce: expected 0, got ", fault));
      }
      return int32_t(TFC_STATUS_DONE);
    };
  }
  hostTable.tap = [](void *ctx, const char *id, int64_t layer, uint32_t dtype,
                     const void *data, int64_t rows, int64_t width) {
    const Model &self = *static_cast<const Model *>(ctx);
    if (self.tap && (dtype == TFC_DTYPE_F16 || dtype == TFC_DTYPE_BF16)) {
      // A copy: what a listener changes of it is lost.
      std::vector<float> wide(static_cast<size_t>(rows * width));
      Tensor narrow;
      narrow.dtype = dtype == TFC_DTYPE_F16 ? DType::F16 : DType::BF16;
      narrow.data = static_cast<const uint8_t *>(data);
      convertToF32(narrow, 0, rows * width, wide.data());
      self.tap({id, layer, rows, width, dtype, wide.data(), nullptr});
    }
    if (self.tap && dtype == TFC_DTYPE_F32) {
      // The step's own memory: what a listener changes is changed.
      auto *values = static_cast<float *>(const_cast<void *>(data));
      self.tap({id, layer, rows, width, dtype, values, nullptr});
    }
  };
}

Status Model::chooseEntries() {
  for (uint32_t i = 0; i < chosen->n_entries; ++i) {
    const tfc_entry_v0 &entry = chosen->entries[i];
    std::string name = entry.name;
    encode = name == "encode" ? &entry : encode;
    step = name == "step" ? &entry : step;
    for (uint32_t p = 0; name == "step" && p < entry.n_outputs; ++p) {
      const tfc_port_v0 &port = entry.outputs[p];
      if (std::string(port.name) == "logits" && port.rows == TFC_ROWS_WANTED &&
          port.take == TFC_TAKE_ALL) {
        generate = &entry;
        logits = p;
      }
    }
  }
  if (!encode && !step) {
    return makeError(Code::Incompatible, module->path(),
                     ": malformed library: expected an entry \"encode\" or ",
                     "\"step\", got none");
  }
  return {};
}

bool Model::isCausal(const tfc_entry_v0 &entry) const {
  return std::string_view(entry.name) == "step";
}

Result<std::unique_ptr<Engine>> Model::borrowEngine() const {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!idleEngines.empty()) {
      std::unique_ptr<Engine> engine = std::move(idleEngines.back());
      idleEngines.pop_back();
      return engine;
    }
  }
  auto engine = std::make_unique<Engine>(*this);
  Status status = engine->open({});
  if (!status) {
    return std::move(status.error());
  }
  return engine;
}

void Model::giveBack(std::unique_ptr<Engine> engine) const {
  engine->clear();
  engine->setStop({});
  std::lock_guard<std::mutex> lock(mutex);
  if (idleEngines.size() < maxIdleEngines) {
    idleEngines.push_back(std::move(engine));
  }
}

void Model::trim() const {
  std::vector<std::unique_ptr<Engine>> unused; // freed without the lock
  std::lock_guard<std::mutex> lock(mutex);
  std::swap(unused, idleEngines);
}

} // namespace tfc::rt
