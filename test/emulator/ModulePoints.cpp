// Entry points: modules of PTX, their kernels, launches; and the one function
// that gives all others.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/EntryPoints.h"
#include "test/emulator/FakeDevice.h"

#include <algorithm>
#include <cstring>

namespace tfc::emulator {

namespace {

FakeDriver &driver() { return FakeDriver::instance(); }
FakeDevice &device() { return FakeDevice::current(); }

/// Puts a message into the log that the options name, as far as there is room.
void writeLog(unsigned count, const int *options, void **values,
              const std::string &message) {
  char *log = nullptr;
  size_t room = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == JitErrorLog) {
      log = static_cast<char *>(values[i]);
    } else if (options[i] == JitErrorLogBytes) {
      room = size_t(reinterpret_cast<uintptr_t>(values[i]));
    }
  }
  if (log && room) {
    std::strncpy(log, message.c_str(), room);
    log[room - 1] = '\0';
  }
}

/// Gives a module's variables memory and their values.
CudaResult placeGlobals(LoadedModule &module) {
  const PtxModule &ptx = module.code->ptx();
  if (ptx.globalBytes == 0) {
    return CudaSuccess;
  }
  CudaResult result =
      device().memory.allocate(ptx.globalBytes, &module.globals);
  UsableRange range;
  if (result || !device().memory.find(module.globals, ptx.globalBytes, range)) {
    return result;
  }
  device().forgetAccesses(module.globals, ptx.globalBytes);
  for (const Variable &variable : ptx.globals) {
    uint8_t *at =
        range.memory + (module.globals - range.begin) + variable.offset;
    std::memset(at, 0, variable.bytes);
    std::memcpy(at, variable.value.data(), variable.value.size());
  }
  return CudaSuccess;
}

/// The text as the settings would have it.
std::string changed(std::string text) {
  const Settings &settings = driver().settings();
  const std::string &from = settings.replaced;
  for (size_t at = from.empty() ? std::string::npos : text.find(from);
       at != std::string::npos;
       at = text.find(from, at + settings.replacement.size())) {
    text.replace(at, from.size(), settings.replacement);
  }
  return text;
}

int cuModuleLoadDataEx(void **handle, const void *image, unsigned count,
                       int *options, void **values) {
  CudaResult result = device().beginInContext("cuModuleLoadDataEx");
  result = result ? result : device().refuseInCapture();
  if (result) {
    return result;
  }
  const char *text = static_cast<const char *>(image);
  if (std::memcmp(text, "\177ELF", 4) == 0) {
    return CudaNoBinaryForGpu;
  }
  auto module = std::make_unique<LoadedModule>();
  module->device = &device();
  try {
    module->code = std::make_shared<CompiledModule>(changed(text));
  } catch (const PtxError &fault) {
    writeLog(count, options, values, fault.what());
    return CudaInvalidPtx;
  }
  const PtxModule &ptx = module->code->ptx();
  int capability = driver().settings().capability;
  if (ptx.isExact ? ptx.capability != capability
                  : ptx.capability > capability) {
    writeLog(count, options, values, "the PTX is for another device");
    return CudaInvalidPtx;
  }
  result = placeGlobals(*module);
  *handle = result ? nullptr : module.release();
  return result;
}

int cuModuleUnload(void *handle) {
  CudaResult result = device().checkContext();
  result = result ? result : device().refuseInCapture();
  if (result) {
    return result;
  }
  auto *module = static_cast<LoadedModule *>(handle);
  if (module->globals) {
    device().memory.free(module->globals);
  }
  delete module;
  return CudaSuccess;
}

/// A function's handle is the module's entry; they live as long as the process.
int cuModuleGetFunction(void **function, void *handle, const char *name) {
  CudaResult result = device().beginInContext("cuModuleGetFunction");
  if (result) {
    return result;
  }
  auto *module = static_cast<LoadedModule *>(handle);
  const std::vector<Entry> &entries = module->code->ptx().entries;
  auto found =
      std::find_if(entries.begin(), entries.end(),
                   [&](const Entry &entry) { return entry.name == name; });
  if (found == entries.end()) {
    return CudaNotFound;
  }
  static std::mutex mutex;
  static std::map<std::pair<LoadedModule *, size_t>, LoadedKernel> kernels;
  std::lock_guard<std::mutex> lock(mutex);
  auto entry = size_t(found - entries.begin());
  *function = &(kernels[{module, entry}] = {module, entry, 48U << 10});
  return CudaSuccess;
}

/// What a block may have at most. Of those before 9.0 devices have different
/// amounts; this one has what sm_86 has, the least from 8.0 on.
int mostSharedBytes() {
  return (driver().settings().capability == 90 ? 227 : 99) << 10;
}

/// The one attribute is how much shared memory launches may ask for.
int cuFuncSetAttribute(void *function, int attribute, int value) {
  CudaResult result = device().beginInContext("cuFuncSetAttribute");
  if (result) {
    return result;
  }
  if (attribute != MostDynamicSharedBytes || value < 0 ||
      value > mostSharedBytes()) {
    return CudaInvalidValue;
  }
  static_cast<LoadedKernel *>(function)->sharedLimit = uint32_t(value);
  return CudaSuccess;
}

/// Whether a launch is one that a device of this kind takes.
bool isSane(const Launch &launch, const LoadedKernel &kernel) {
  const Entry &entry = kernel.module->code->ptx().entries[kernel.entry];
  uint64_t numThreads =
      uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
  bool hasSize = entry.threads[0] == 0 ||
                 std::equal(launch.block, launch.block + 3, entry.threads);
  return hasSize && numThreads >= 1 && numThreads <= 1024 &&
         launch.grid[0] >= 1 && launch.grid[0] <= 0x7fffffff &&
         launch.grid[1] >= 1 && launch.grid[1] <= 65535 &&
         launch.grid[2] >= 1 && launch.grid[2] <= 65535 &&
         launch.sharedBytes <= kernel.sharedLimit;
}

/// `name` is the function that was called.
int launch(const char *name, void *function, const LaunchConfig &config,
           void **params, void **extra) {
  CudaResult result = device().beginInContext(name, CudaLaunchFailed);
  Stream *stream = device().findStream(config.stream);
  if (result || !stream || extra) {
    return result ? result : stream ? CudaInvalidValue : CudaInvalidHandle;
  }
  const auto *kernel = static_cast<const LoadedKernel *>(function);
  if (kernel->module->device != &device()) {
    return CudaInvalidHandle;
  }
  const Entry &entry = kernel->module->code->ptx().entries[kernel->entry];
  Launch launch{kernel->module->code,
                kernel->entry,
                {config.grid[0], config.grid[1], config.grid[2]},
                {config.block[0], config.block[1], config.block[2]},
                config.sharedBytes,
                kernel->module->globals,
                std::vector<uint8_t>(entry.paramBytes)};
  for (unsigned i = 0; i < config.numAttributes; ++i) {
    if (config.attributes[i].id != LaunchOverlaps) {
      return CudaInvalidValue;
    }
    launch.overlaps = config.attributes[i].value.isAllowed;
  }
  if (!isSane(launch, *kernel)) {
    return CudaInvalidValue;
  }
  for (size_t i = 0; i < entry.params.size(); ++i) {
    std::memcpy(launch.params.data() + entry.params[i].offset, params[i],
                entry.params[i].bytes);
  }
  device().enqueue(*stream,
                   [launch = std::move(launch)](const RunOrder &order) {
                     return runGrid(launch, device().memory, order);
                   });
  return CudaSuccess;
}

int cuLaunchKernel(void *function, unsigned gridX, unsigned gridY,
                   unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned sharedBytes, void *stream,
                   void **params, void **extra) {
  LaunchConfig config = {{gridX, gridY, gridZ},
                         {blockX, blockY, blockZ},
                         sharedBytes,
                         stream,
                         nullptr,
                         0};
  return launch("cuLaunchKernel", function, config, params, extra);
}

int cuLaunchKernelEx(const LaunchConfig *config, void *function, void **params,
                     void **extra) {
  return launch("cuLaunchKernelEx", function, *config, params, extra);
}

} // namespace

void *findModulePoint(const std::string &name) {
  static const EntryPoint points[] = {
      {"cuModuleLoadDataEx", pointer(cuModuleLoadDataEx)},
      {"cuModuleUnload", pointer(cuModuleUnload)},
      {"cuModuleGetFunction", pointer(cuModuleGetFunction)},
      {"cuFuncSetAttribute", pointer(cuFuncSetAttribute)},
      {"cuLaunchKernel", pointer(cuLaunchKernel)},
      {"cuLaunchKernelEx", pointer(cuLaunchKernelEx)},
  };
  return findPoint(points, name);
}

} // namespace tfc::emulator

/// The one symbol that the library exports: how a driver from 12.0 on is asked
/// for its functions.
extern "C" int cuGetProcAddress_v2(const char *symbol, void **function,
                                   int version, uint64_t flags, int *status);

extern "C" int cuGetProcAddress_v2(const char *symbol, void **function,
                                   int version, uint64_t flags, int *status) {
  using namespace tfc::emulator;
  void *found = findDevicePoint(symbol);
  found = found ? found : findMemoryPoint(symbol);
  found = found ? found : findVirtualMemoryPoint(symbol);
  found = found ? found : findModulePoint(symbol);
  found = found ? found : findEventPoint(symbol);
  found = found ? found : findGraphPoint(symbol);
  *function = found;
  bool isAsked = version >= 12000 && flags == 0;
  if (status) {
    *status = found && isAsked ? 0 : 1; // found, or no such symbol
  }
  return found && isAsked ? CudaSuccess : CudaNotFound;
}
