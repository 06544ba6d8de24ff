// Packed weights in a file: saved after packing, read the next time. A file of
// another model, layout or checkpoint, or a damaged one, is an error.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_PACKEDFILE_H
#define TFC_RUNTIME_SRC_PACKEDFILE_H

#include "runtime/src/Memory.h"
#include "runtime/src/OpenFile.h"

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

/// Reads or maps the file and checks it, checksum included, with `threads`
/// workers; no value if there is no such file. Errors: InvalidArgument (not
/// packed weights, truncated, damaged), Incompatible (of another model or
/// layout), Io, Exhausted.
Result<std::optional<PackedFile>>
openPacked(const std::string &path, const PackedIdentity &identity,
           uint32_t threads, PackedMemory memory = PackedMemory::Own);

/// Writes the file whole or not at all. Errors: InvalidArgument (something else
/// is there), NotFound (no such folder), Io.
Status writePacked(const std::string &path, const PackedIdentity &identity,
                   const SourceIdentity &source, const Mapping &weights,
                   uint32_t threads);

/// A checksum of bytes, computed by `threads` workers; the same for any number
/// of them. Every change of a single word changes it. Not cryptographic.
uint64_t checksum(const void *data, uint64_t bytes, uint32_t threads);

/// Reads `bytes` bytes of a file from `offset` on and gives their checksum: of
/// what was read, not of what may be in the file a moment later. Errors: Io.
Result<uint64_t> readSummed(const OpenFile &file, uint64_t offset, void *to,
                            uint64_t bytes, uint32_t threads);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_PACKEDFILE_H
