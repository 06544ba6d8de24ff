// Packed weights in a file: saved after packing, read the next time. A file of
// another model, layout or checkpoint, or a damaged one, is an error.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_LOAD_PACKEDFILE_H
#define TFC_RUNTIME_SRC_LOAD_PACKEDFILE_H

#include "runtime/src/files/OpenFile.h"
#include "runtime/src/load/Loading.h"
#include "runtime/src/memory/Memory.h"

namespace tfc::rt {

/// Where packed weights came from. The stamp is of the files (which ones,
/// names, sizes, times), cheap to compare; the sum is of their tensors' bytes,
/// and decides when the stamps differ, as they do for a copy.
struct SourceIdentity {
  uint64_t stamp = 0, sum = 0;
};

/// What a file must hold to be of use.
struct PackedIdentity {
  uint64_t specHash = 0;
  uint64_t bytes = 0;    // of the packed weights
  std::string layoutTag; // at most maxLayoutTag characters
};

constexpr size_t maxLayoutTag = 255;

struct PackedFile {
  Mapping weights;
  SourceIdentity source;
};

/// How the weights of a file become memory.
enum class PackedMemory {
  Own,   // read; what happens to the file afterwards does not matter
  Shared // mapped read-only: processes share it, and must keep it as it is
};

/// Reads or maps the file and checks it, checksum included; no value if there
/// is no such file. Errors: InvalidArgument (not packed weights, truncated,
/// damaged), Incompatible (of another model or layout), Io, Exhausted,
/// Cancelled.
Result<std::optional<PackedFile>>
openPacked(const std::string &path, const PackedIdentity &identity,
           Loading &loading, PackedMemory memory = PackedMemory::Own);

/// Bytes of work that writePacked adds to a load.
uint64_t bytesOfWriting(uint64_t weightBytes);

/// Writes the file whole or not at all. Errors: InvalidArgument (something else
/// is there), NotFound (no such folder), Io, Cancelled.
Status writePacked(const std::string &path, const PackedIdentity &identity,
                   const SourceIdentity &source, const Mapping &weights,
                   Loading &loading);

/// A checksum of bytes; the same for any number of workers. Every change of a
/// single word changes it. Not cryptographic.
uint64_t checksum(const void *data, uint64_t bytes, const Workers &workers);
/// The same as a part of a load; of no meaning once that is cancelled.
uint64_t checksum(const void *data, uint64_t bytes, Loading &loading);

/// Reads `bytes` bytes of a file from `offset` on and gives their checksum: of
/// what was read, not of what may be in the file a moment later. Errors: Io,
/// Cancelled.
Result<uint64_t> readSummed(const OpenFile &file, uint64_t offset, void *to,
                            uint64_t bytes, Loading &loading);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_LOAD_PACKEDFILE_H
