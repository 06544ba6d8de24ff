// Entry points: streams that are captured, and graphs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/EntryPoints.h"
#include "test/emulator/FakeDevice.h"

namespace tfc::emulator {

namespace {

FakeDevice &device() { return FakeDevice::current(); }

/// One that was captured, and one that can be launched, which does not need the
/// other any more.
struct Graph {
  FakeDevice *device;
  std::vector<StreamWork> work;
};

/// The handles that are good, of one kind.
class Handles {
public:
  void *add(Graph graph) {
    auto made = std::make_unique<Graph>(std::move(graph));
    std::lock_guard<std::mutex> lock(mutex);
    void *handle = made.get();
    graphs[handle] = std::move(made);
    return handle;
  }
  /// Null where it is none of the current device.
  const Graph *find(void *handle) const {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = graphs.find(handle);
    bool isOwn = found != graphs.end() && found->second->device == &device();
    return isOwn ? found->second.get() : nullptr;
  }
  bool remove(void *handle) {
    std::lock_guard<std::mutex> lock(mutex);
    return graphs.erase(handle) != 0;
  }

private:
  mutable std::mutex mutex;
  std::map<void *, std::unique_ptr<Graph>> graphs;
};

Handles &captured() {
  static Handles handles;
  return handles;
}
Handles &executable() {
  static Handles handles;
  return handles;
}

int cuStreamBeginCapture(void *handle, int mode) {
  CudaResult result = device().beginInContext("cuStreamBeginCapture");
  Stream *stream = device().findStream(handle);
  if (result || !stream) {
    return result ? result : CudaInvalidHandle;
  }
  return mode < OfAllThreads || mode > OfNobody
             ? CudaInvalidValue
             : device().beginCapture(*stream, CaptureMode(mode));
}

int cuStreamEndCapture(void *handle, void **graph) {
  *graph = nullptr;
  CudaResult result = device().beginInContext("cuStreamEndCapture");
  Stream *stream = device().findStream(handle);
  if (result || !stream) {
    return result ? result : CudaInvalidHandle;
  }
  Graph made = {&device(), {}};
  result = device().endCapture(*stream, made.work);
  *graph = result ? nullptr : captured().add(std::move(made));
  return result;
}

/// No flag is modelled.
int cuGraphInstantiateWithFlags(void **launchable, void *graph,
                                unsigned long long flags) {
  *launchable = nullptr;
  CudaResult result = device().beginInContext("cuGraphInstantiateWithFlags");
  const Graph *found = captured().find(graph);
  if (result || !found) {
    return result ? result : CudaInvalidHandle;
  }
  *launchable = flags ? nullptr : executable().add(*found);
  return flags ? CudaInvalidValue : CudaSuccess;
}

/// A graph in a graph is not modelled.
int cuGraphLaunch(void *launchable, void *handle) {
  CudaResult result =
      device().beginInContext("cuGraphLaunch", CudaLaunchFailed);
  const Graph *graph = executable().find(launchable);
  Stream *stream = device().findStream(handle);
  if (result || !stream || !graph) {
    return result ? result : CudaInvalidHandle;
  }
  if (stream->capture) {
    return device().finish(*stream);
  }
  for (const StreamWork &work : graph->work) {
    device().enqueue(*stream, work);
  }
  return CudaSuccess;
}

int cuGraphDestroy(void *graph) {
  CudaResult result = device().begin("cuGraphDestroy");
  return captured().remove(graph) ? result : CudaInvalidHandle;
}

/// What was launched of it is done all the same.
int cuGraphExecDestroy(void *launchable) {
  CudaResult result = device().begin("cuGraphExecDestroy");
  return executable().remove(launchable) ? result : CudaInvalidHandle;
}

} // namespace

void *findGraphPoint(const std::string &name) {
  static const EntryPoint points[] = {
      {"cuStreamBeginCapture", pointer(cuStreamBeginCapture)},
      {"cuStreamEndCapture", pointer(cuStreamEndCapture)},
      {"cuGraphInstantiateWithFlags", pointer(cuGraphInstantiateWithFlags)},
      {"cuGraphLaunch", pointer(cuGraphLaunch)},
      {"cuGraphDestroy", pointer(cuGraphDestroy)},
      {"cuGraphExecDestroy", pointer(cuGraphExecDestroy)},
  };
  return findPoint(points, name);
}

} // namespace tfc::emulator
