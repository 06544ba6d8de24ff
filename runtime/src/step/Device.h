// Where a program's memory is and how its steps run: the one seam between the
// runtime's bookkeeping (blocks, tables, sequences) and a CPU or a GPU.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_STEP_DEVICE_H
#define TFC_RUNTIME_SRC_STEP_DEVICE_H

#include "runtime/src/Error.h"
#include "tfc/abi.h"

#include <memory>
#include <vector>

namespace tfc::rt {

/// Addresses of a device, of which a part has memory. Belongs to a device,
/// which outlives it.
class DeviceRange {
public:
  virtual ~DeviceRange() = default;

  /// Makes bytes [begin, end) usable, of arbitrary content; `begin` is where
  /// the last call ended. Errors: Exhausted, those of a device.
  virtual Status commit(uint64_t begin, uint64_t end) = 0;
  /// Copies bytes from one offset to another, after the steps before and before
  /// those behind. Errors: those of a device.
  virtual Status copy(uint64_t to, uint64_t from, uint64_t bytes) = 0;

  /// An address of the device.
  virtual void *data() const = 0;
  virtual uint64_t size() const = 0;
};

/// A buffer behind which an entry has written.
struct Overrun {
  std::optional<uint32_t> port; // none: the workspace
  uint64_t bytes = 0;           // that were lent
};

/// What of a step a device's own clock is asked for. Each kernel: with a mark
/// behind it, so that none begins before the one in front of it has ended.
enum class Timing { None, Step, Kernels };

struct KernelTime {
  const char *kernel; // of the program's table
  double seconds = 0;
};

/// Of a step's kernels, from the first one's beginning to the last one's end.
struct StepTimes {
  double seconds = 0;
  std::vector<KernelTime> kernels; // in order; with Timing::Kernels
};

/// What a step is asked of an output: nothing; its rows, in the host's memory;
/// or of an output that is TFC_PORT_GREATEST the greatest column of each row,
/// and its rows stay where they are computed.
enum Want : uint8_t { NotWanted = 0, WantedRows = 1, WantedGreatest = 2 };

/// Sizes of a step's tables that the step itself does not have.
struct TableSizes {
  uint64_t blocks = 0; // numbers of the block table
  int64_t given = 0;   // rows of the port of embeddings
};

/// The memory of a runner's steps, warm from step to step, and the call of its
/// entry. Belongs to a device, which outlives it.
class DeviceStep {
public:
  virtual ~DeviceStep() = default;

  /// Bytes for the next step, of arbitrary content. Errors: Exhausted, those of
  /// a device.
  virtual Status lendWorkspace(uint64_t bytes) = 0;
  /// `how` is not NotWanted.
  virtual Status lendOutput(uint32_t port, uint64_t bytes, Want how) = 0;
  /// A number for each of so many rows, of an output with WantedGreatest.
  virtual Status lendGreatest(int64_t rows) = 0;
  /// Runs an entry. The step's tables and inputs are the host's; this fills in
  /// weights, workspace and device_step, and outputs and greatest where
  /// `wanted` says so, a Want an output. Returns what the entry returned, all
  /// work being done. Errors: those of a device.
  virtual Result<int32_t> run(const tfc_entry_v0 &entry, tfc_step_v0 &step,
                              const TableSizes &sizes,
                              const std::vector<uint8_t> &wanted) = 0;
  /// Where the last run wrote beyond what it was lent; none when nowhere, or
  /// when the device does not say.
  virtual std::optional<Overrun> overrun() const = 0;
  /// Output `port` of the last run that wanted its rows, in the host's memory;
  /// null before any.
  virtual uint8_t *output(uint32_t port) const = 0;
  /// The greatest columns of the last run that wanted them; null before any.
  virtual const int32_t *greatest() const = 0;
  /// Of the last run; none where the device was not asked, or has no clock of
  /// its own.
  virtual std::optional<StepTimes> times() const { return {}; }
};

/// The device as an engine sees it: what is asked of it is done in order.
/// Belongs to one thread at a time. Errors "of a device": Internal, with the
/// call that failed.
class Device {
public:
  virtual ~Device() = default;

  /// Before anything else. Errors: those of a device.
  virtual Status open() = 0;
  /// Addresses for a cache. Errors: Exhausted, those of a device.
  virtual Result<std::unique_ptr<DeviceRange>> reserve(uint64_t bytes) = 0;
  /// Steps will need so many bytes beside caches: before those are opened.
  virtual void keepForSteps(uint64_t) {}
  /// What a cache may have of memory when nobody says.
  virtual Result<uint64_t> defaultCacheBytes() const = 0;
  virtual std::unique_ptr<DeviceStep> makeStep(uint32_t numOutputs) = 0;
  /// What entries get of the host; lives as long as the device.
  virtual const tfc_host_v0 &host() const = 0;
  /// Pieces of scratch that a step of so many work items needs.
  virtual uint32_t numWorkers(int64_t items) const = 0;

  /// What it is: its name, versions; empty for the CPU.
  virtual std::string describe() const { return ""; }
  /// What its clock is asked for from the next step on.
  virtual void setTiming(Timing) {}
  /// Bytes a second that a copy of so many within the device reads and writes,
  /// by its own clock; 0 without one. Errors: Exhausted, those of a device.
  virtual Result<double> measureCopies(uint64_t) { return 0.0; }
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_STEP_DEVICE_H
