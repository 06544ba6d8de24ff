// Loops that move pointers from round to round.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/MovingPointer.h"

#include "compiler/kernel/StepFields.h"

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

Values tfc::loopMoving(KernelBuilder &k, Value from, Value to, int64_t step,
                       MutableArrayRef<MovingPointer> pointers,
                       ValueRange inits,
                       function_ref<Values(Value, ValueRange)> body) {
  SmallVector<MovingPointer *> moving;
  Values carried;
  for (MovingPointer &pointer : pointers) {
    if (pointer.pointer) {
      moving.push_back(&pointer);
      carried.push_back(pointer.pointer);
    }
  }
  llvm::append_range(carried, inits);
  auto take = [&](ValueRange values) {
    for (auto [pointer, value] :
         llvm::zip(moving, values.take_front(moving.size()))) {
      pointer->pointer = value;
    }
    return values.drop_front(moving.size());
  };
  Values last =
      k.loop(from, to, step, carried, [&](Value i, ValueRange carried) {
        Values values = body(i, take(carried)), next;
        for (MovingPointer *pointer : moving) {
          next.push_back(
              buildAddress(k.builder(), pointer->pointer, pointer->bytes));
        }
        llvm::append_range(next, values);
        return next;
      });
  return Values(take(last));
}
