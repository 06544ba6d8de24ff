// Fills one buffer while the other one is read.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/gpu/CudaUpload.h"

#include "runtime/src/threads/ForEach.h"

#include <algorithm>
#include <cstring>

namespace tfc::rt {

// Long enough that the bus is busy most of the time, short enough that nobody
// misses the memory.
static constexpr uint64_t bufferBytes = uint64_t(16) << 20;
// What a worker copies at a time.
static constexpr uint64_t pieceBytes = uint64_t(1) << 20;

CudaUpload::~CudaUpload() {
  CudaScope scope(context);
  for (Half &half : halves) {
    if (half.stream && scope.status()) {
      context.functions().cuStreamDestroy(half.stream);
    }
  }
}

Status CudaUpload::open(uint64_t bytes) {
  Status status;
  for (Half &half : halves) {
    if (status) {
      status = half.buffer.requireExactly(std::min(bytes, bufferBytes));
    }
    if (status && !half.stream) {
      status = context.check(context.functions().cuStreamCreate(
                                 &half.stream, cuda::StreamNonBlocking),
                             "cuStreamCreate", "to load weights");
      half.stream = status ? half.stream : nullptr;
    }
  }
  return status;
}

Status CudaUpload::wait(const Half &half) const {
  return context.check(context.functions().cuStreamSynchronize(half.stream),
                       "cuStreamSynchronize", "to load weights");
}

static void copyInPieces(uint8_t *to, const uint8_t *from, uint64_t bytes,
                         const Workers &workers) {
  auto pieces = static_cast<int64_t>((bytes + pieceBytes - 1) / pieceBytes);
  forEach(workers, pieces, [&](int64_t piece, uint32_t) {
    uint64_t at = uint64_t(piece) * pieceBytes;
    std::memcpy(to + at, from + at, std::min(pieceBytes, bytes - at));
  });
}

Status CudaUpload::copy(cuda::Address to, const uint8_t *from, uint64_t bytes,
                        const Workers &workers) {
  CudaScope scope(context);
  Status status = scope.status() ? open(bytes) : scope.status();
  uint64_t done = 0;
  for (size_t turn = 0; status && done < bytes; ++turn) {
    const Half &half = halves[turn % halves.size()];
    auto *staged = static_cast<uint8_t *>(half.buffer.data());
    uint64_t count = std::min(bytes - done, bufferBytes);
    status = wait(half);
    if (status) {
      copyInPieces(staged, from + done, count, workers);
      status = context.check(context.functions().cuMemcpyHtoDAsync(
                                 to + done, staged, count, half.stream),
                             "cuMemcpyHtoDAsync",
                             concat("to load ", bytes, " bytes of weights"));
    }
    done += count;
  }
  // Even after a fault: nothing may read the buffers any more.
  for (const Half &half : halves) {
    Status finished = half.stream ? wait(half) : Status();
    if (status) {
      status = std::move(finished);
    }
  }
  return status;
}

} // namespace tfc::rt
