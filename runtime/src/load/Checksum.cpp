// A checksum as fast as memory: four chains of multiplications a chunk, chunks
// side by side.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/PackedFile.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace tfc::rt {

namespace {

constexpr uint64_t chunkBytes = uint64_t(1) << 20;
// Odd, so that multiplying by them loses nothing.
constexpr uint64_t multiplierA = 0x9e3779b97f4a7c15u;
constexpr uint64_t multiplierB = 0xc2b2ae3d27d4eb4fu;

uint64_t rotate(uint64_t value, int bits) {
  return value << bits | value >> (64 - bits);
}

/// A bijection of `state` for every word, and of `word` for every state: a word
/// that changes is never lost.
uint64_t mix(uint64_t state, uint64_t word) {
  return rotate(state ^ word * multiplierA, 29) * multiplierB;
}

uint64_t loadWord(const uint8_t *data, uint64_t bytes) {
  uint64_t word = 0;
  std::memcpy(&word, data, bytes);
  return word;
}

uint64_t sumChunk(const uint8_t *data, uint64_t bytes) {
  uint64_t lanes[4] = {1, 2, 3, 4};
  uint64_t i = 0;
  for (; i + 32 <= bytes; i += 32) {
    for (int lane = 0; lane < 4; ++lane) {
      lanes[lane] = mix(lanes[lane], loadWord(data + i + 8 * lane, 8));
    }
  }
  for (; i < bytes; i += 8) {
    lanes[0] =
        mix(lanes[0], loadWord(data + i, std::min<uint64_t>(8, bytes - i)));
  }
  uint64_t sum = bytes;
  for (uint64_t lane : lanes) {
    sum = mix(sum, lane);
  }
  return sum ^ sum >> 32;
}

/// The sum of the sums that `sumOf` gives of the chunks [first, first + count),
/// which it is asked for side by side.
template <typename F>
uint64_t sumChunks(uint64_t bytes, const Workers &workers, const F &sumOf) {
  struct Job {
    const F &sumOf;
    uint64_t bytes;
    std::vector<uint64_t> sums;
  };
  uint64_t chunks = (bytes + chunkBytes - 1) / chunkBytes;
  Job job{sumOf, bytes, std::vector<uint64_t>(chunks)};
  auto body = [](void *arg, int64_t begin, int64_t end, uint32_t) {
    Job &job = *static_cast<Job *>(arg);
    for (int64_t i = begin; i < end; ++i) {
      uint64_t first = static_cast<uint64_t>(i) * chunkBytes;
      job.sums[static_cast<size_t>(i)] =
          job.sumOf(first, std::min(chunkBytes, job.bytes - first));
    }
  };
  workers.parallelFor(static_cast<int64_t>(chunks), body, &job);
  uint64_t sum = bytes;
  for (uint64_t part : job.sums) {
    sum = mix(sum, part);
  }
  return sum ^ sum >> 32;
}

} // namespace

uint64_t checksum(const void *data, uint64_t bytes, const Workers &workers) {
  return sumChunks(bytes, workers, [&](uint64_t first, uint64_t count) {
    return sumChunk(static_cast<const uint8_t *>(data) + first, count);
  });
}

uint64_t checksum(const void *data, uint64_t bytes, Loading &loading) {
  return sumChunks(
      bytes, loading.workers(), [&](uint64_t first, uint64_t count) {
        if (loading.isCancelled()) {
          return uint64_t(0);
        }
        uint64_t sum =
            sumChunk(static_cast<const uint8_t *>(data) + first, count);
        loading.add(count);
        return sum;
      });
}

Result<uint64_t> readSummed(const OpenFile &file, uint64_t offset, void *to,
                            uint64_t bytes, Loading &loading) {
  std::mutex mutex;
  Status status;
  auto readChunk = [&](uint64_t first, uint64_t count) {
    if (loading.isCancelled()) {
      return uint64_t(0);
    }
    uint8_t *chunk = static_cast<uint8_t *>(to) + first;
    Status read = file.read(chunk, count, offset + first);
    if (!read) {
      std::lock_guard<std::mutex> lock(mutex);
      status = std::move(read);
      return uint64_t(0);
    }
    uint64_t sum = sumChunk(chunk, count);
    loading.add(count);
    return sum;
  };
  uint64_t sum = sumChunks(bytes, loading.workers(), readChunk);
  if (status) {
    status = loading.status();
  }
  return status ? Result<uint64_t>(sum) : std::move(status.error());
}

} // namespace tfc::rt
