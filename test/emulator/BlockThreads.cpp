// Fibers that give way where threads wait for each other.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#undef _FORTIFY_SOURCE // whose longjmp takes another stack for a fault
#include "test/emulator/BlockThreads.h"

#include <map>
#include <numeric>

namespace tfc::emulator {

static constexpr size_t stackBytes = size_t(64) << 10;

BlockThreads::BlockThreads(uint32_t numThreads, bool areApart, uint64_t seed)
    : isRandom(seed != 0), random(seed), fibers(areApart ? numThreads : 1),
      lanes((fibers.size() + warpSize - 1) / warpSize * warpSize),
      order(fibers.size()) {
  std::iota(order.begin(), order.end(), size_t(0));
  for (uint32_t i = 0; i < fibers.size(); ++i) {
    fibers[i].stack.reset(new char[stackBytes]);
    fibers[i].first = i;
    fibers[i].last = areApart ? i + 1 : numThreads;
    prepare(fibers[i]);
  }
}

/// A fiber does its threads of one block after the other.
void BlockThreads::enter(unsigned high, unsigned low) {
  auto *self = reinterpret_cast<BlockThreads *>(uint64_t(high) << 32 | low);
  Fiber &fiber = *self->current;
  for (;;) {
    (*self->body)(fiber.first, fiber.last);
    fiber.isDone = true;
    self->giveWay();
  }
}

void BlockThreads::prepare(Fiber &fiber) {
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = stackBytes;
  auto address = reinterpret_cast<uint64_t>(this);
  makecontext(&fiber.context, reinterpret_cast<void (*)()>(enter), 2,
              unsigned(address >> 32), unsigned(address));
}

/// Contexts are for the first time alone: they ask the system for its signals,
/// which a jump does not.
void BlockThreads::resume(Fiber &fiber) {
  current = &fiber;
  if (_setjmp(scheduler)) {
    return;
  }
  if (fiber.hasBegun) {
    _longjmp(fiber.place, 1);
  }
  fiber.hasBegun = true;
  setcontext(&fiber.context);
}

void BlockThreads::giveWay() {
  if (!_setjmp(current->place)) {
    _longjmp(scheduler, 1);
  }
}

void BlockThreads::leave() {
  hasLeft = true;
  giveWay();
  __builtin_unreachable();
}

void BlockThreads::wait(WaitKind kind, uint32_t number, uint32_t mask,
                        int line) {
  current->kind = kind;
  current->number = number;
  current->mask = mask;
  current->line = line;
  giveWay();
}

/// Whether all of these wait for each other at one place. An exchange is one
/// instruction of the program; barriers are told apart by their numbers.
bool BlockThreads::isComplete(size_t begin, size_t end, uint32_t lanes) const {
  const Fiber *first = nullptr;
  for (size_t i = begin; i < end; ++i) {
    if (!(lanes >> (i - begin) % warpSize & 1)) {
      continue;
    }
    const Fiber &fiber = fibers[i];
    first = first ? first : &fiber;
    bool isHere =
        !fiber.isDone && fiber.kind == first->kind &&
        fiber.kind != WaitKind::Nothing && fiber.number == first->number &&
        fiber.mask == first->mask &&
        (fiber.kind != WaitKind::Exchange || fiber.line == first->line);
    if (!isHere) {
      return false;
    }
  }
  return first != nullptr;
}

bool BlockThreads::releaseBlock() {
  if (fibers[0].kind != WaitKind::Barrier ||
      !isComplete(0, fibers.size(), ~0U)) {
    return false;
  }
  for (Fiber &fiber : fibers) {
    fiber.kind = WaitKind::Nothing;
  }
  ++epoch;
  return true;
}

bool BlockThreads::releaseWarp(size_t begin) {
  size_t end = std::min(begin + warpSize, fibers.size());
  uint32_t all = end - begin == warpSize ? ~0U : (1U << (end - begin)) - 1;
  for (size_t i = begin; i < end; ++i) {
    WaitKind kind = fibers[i].kind;
    bool isOfWarp = !fibers[i].isDone && (kind == WaitKind::WarpBarrier ||
                                          kind == WaitKind::Exchange);
    // Lanes that the block has not got need not come.
    uint32_t lanes = fibers[i].mask & all;
    if (!isOfWarp || !(lanes >> (i - begin) & 1) ||
        !isComplete(begin, end, lanes)) {
      continue;
    }
    for (size_t j = begin; j < end; ++j) {
      if (lanes >> (j - begin) & 1) {
        fibers[j].kind = WaitKind::Nothing;
        this->lanes[j] = fibers[j].posted;
        // Memory is ordered by a barrier alone, and here by one of all lanes.
        fibers[j].warpEpoch += kind == WaitKind::WarpBarrier && lanes == all;
      }
    }
    return true;
  }
  return false;
}

std::string BlockThreads::describeWaiting() const {
  std::map<std::pair<WaitKind, int>, std::vector<uint32_t>> places;
  for (const Fiber &fiber : fibers) {
    auto place = fiber.isDone ? std::pair(WaitKind::Nothing, 0)
                              : std::pair(fiber.kind, fiber.line);
    places[place].push_back(fiber.first);
  }
  std::string text = "expected threads to wait for each other at one place, "
                     "got ";
  const char *between = "";
  for (const auto &[place, threads] : places) {
    text += between + std::to_string(threads.size()) +
            (place.first == WaitKind::Nothing
                 ? " that ended"
                 : " at line " + std::to_string(place.second) + " of the PTX") +
            " (thread " + std::to_string(threads[0]) +
            (threads.size() > 1 ? " first)" : ")");
    between = ", ";
  }
  return text;
}

std::string
BlockThreads::run(const std::function<void(uint32_t, uint32_t)> &threads) {
  body = &threads;
  hasLeft = false;
  epoch = 0;
  for (Fiber &fiber : fibers) {
    fiber.isDone = false;
    fiber.kind = WaitKind::Nothing;
    fiber.warpEpoch = 0;
  }
  for (;;) {
    if (isRandom) {
      std::shuffle(order.begin(), order.end(), random);
    }
    bool hasMoved = false, areDone = true;
    for (size_t i : order) {
      Fiber &fiber = fibers[i];
      if (!fiber.isDone && fiber.kind == WaitKind::Nothing) {
        resume(fiber);
        hasMoved = true;
        if (hasLeft) {
          return "";
        }
      }
      areDone &= fiber.isDone;
    }
    if (areDone) {
      return "";
    }
    for (size_t warp = 0; warp < fibers.size(); warp += warpSize) {
      while (releaseWarp(warp)) {
        hasMoved = true;
      }
    }
    hasMoved |= releaseBlock();
    if (!hasMoved) {
      return describeWaiting();
    }
  }
}

} // namespace tfc::emulator
