// Which frames of which rows an unfold puts together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/ShapeUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc::transformer;

FrameWindow::Place FrameWindow::placeOf(int64_t tap) const {
  int64_t rows = llvm::divideFloorSigned(first + tap, frames);
  int64_t frame = first + tap - rows * frames, each = frames / inputs;
  return {rows, frame / each, frame % each * width};
}

template <typename Op> static FrameWindow readWindow(Op op) {
  auto taps = static_cast<int64_t>(op.getTaps());
  auto frames = static_cast<int64_t>(op.getFrames());
  auto inputs = static_cast<int64_t>(op.getInputs().size());
  std::optional<int64_t> first = op.getFirst();
  return {taps, first ? *first : -(taps - 1) / 2, frames, inputs,
          widthOf(op.getInputs().front()) * inputs / frames};
}

FrameWindow tfc::transformer::windowOf(UnfoldOp op) { return readWindow(op); }

FrameWindow tfc::transformer::windowOf(RaggedUnfoldOp op) {
  return readWindow(op);
}

template <typename Op> static LogicalResult checkWindow(Op op) {
  // unfold_c1
  auto taps = static_cast<int64_t>(op.getTaps());
  std::optional<int64_t> first = op.getFirst();
  if (taps < 1 || taps > kMaxTaps || (taps % 2 == 0 && !first)) {
    return op.emitOpError() << "expected " << (first ? "" : "odd ")
                            << "taps in [1, " << kMaxTaps << "], got " << taps;
  }
  // unfold_c2
  if (first && (*first < -kMaxTaps || *first > kMaxTaps)) {
    return op.emitOpError() << "expected first in [-" << kMaxTaps << ", "
                            << kMaxTaps << "], got " << *first;
  }
  auto frames = static_cast<int64_t>(op.getFrames());
  if (frames < 1 || frames > kMaxFrames) {
    return op.emitOpError()
           << "expected frames in [1, " << kMaxFrames << "], got " << frames;
  }
  // unfold_c3
  auto inputs = static_cast<int64_t>(op.getInputs().size());
  if (inputs < 1 || frames % inputs != 0) {
    return op.emitOpError() << "expected inputs that divide " << frames
                            << " frames, got " << inputs;
  }
  if (!llvm::all_equal(op.getInputs().getTypes())) {
    return op.emitOpError() << "expected inputs of one type, got several";
  }
  int64_t each = frames / inputs, width = widthOf(op.getInputs().front());
  if (width % each != 0) {
    return op.emitOpError() << "expected inputs of " << each
                            << " whole frames, got " << width << " columns";
  }
  return success();
}

LogicalResult tfc::transformer::expectFrames(UnfoldOp op) {
  return checkWindow(op);
}

LogicalResult tfc::transformer::expectFrames(RaggedUnfoldOp op) {
  return checkWindow(op);
}
