// What this machine can do at most, measured: multiplications and additions a
// second, and bytes read a second. Probes run on the threads that a host lends.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_ROOFLINE_H
#define TFC_RUNTIME_SRC_ROOFLINE_H

#include "tfc/abi.h"

namespace tfc::rt {

/// A loop in registers: runs so often, and does so many operations each time.
/// What it returns depends on all of them.
struct OperationProbe {
  uint32_t (*run)(int64_t iterations);
  int64_t operationsPerIteration;
};

/// Operations a second of the probe, all workers of the host together. Takes
/// about a millisecond.
double measureOperations(const tfc_host_v0 &host, const OperationProbe &probe);

/// Float operations a second (a fused multiply-add is two) of the widest
/// vectors that the machine has, all workers of the host together. Takes about
/// a millisecond.
double measureFlops(const tfc_host_v0 &host);

/// Bytes a second when all workers read [data, data + bytes), each its own part
/// in order of address; small ranges several times. `data` is aligned to 64
/// bytes; 0 when there are less than 64 KiB.
double measureReads(const tfc_host_v0 &host, const void *data, uint64_t bytes);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_ROOFLINE_H
