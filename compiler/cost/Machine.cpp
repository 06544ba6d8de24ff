// What a machine can do at most, and what that says of a piece of work.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cost/Machine.h"

#include "compiler/cost/MeasureCpu.h"

using namespace tfc::cost;

Work &Work::operator+=(const Work &other) {
  products += other.products;
  others += other.others;
  bytes += other.bytes;
  return *this;
}

Work tfc::cost::productOf(double rows, double columns, double inner,
                          double elementBytes) {
  Work work;
  work.products = 2 * rows * columns * inner;
  work.bytes = elementBytes * (rows * inner + inner * columns + rows * columns);
  return work;
}

llvm::Expected<Machine> tfc::cost::findMachine(llvm::StringRef name) {
  // NVIDIA's data sheets: A100 80GB SXM (its 2.04 TB/s as 2), H100 SXM, H200
  // SXM, L40S; of the RTX 4090 the white paper of its architecture, of tensor
  // cores that sum in f32. Tensor cores without sparsity, f32 on the ordinary
  // units, since programs of f32 are not rounded to TF32.
  static const Machine devices[] = {
      {"a100", 312e12, 19.5e12, 2e12, true, "cuda:sm_80"},
      {"h100", 989.4e12, 66.9e12, 3.35e12, true, "cuda:sm_90"},
      {"h200", 989.4e12, 66.9e12, 4.8e12, true, "cuda:sm_90"},
      {"l40s", 362.05e12, 91.6e12, 0.864e12, true, "cuda:sm_89"},
      {"rtx4090", 165.2e12, 82.6e12, 1.008e12, true, "cuda:sm_89"},
  };
  for (const Machine &machine : devices) {
    if (machine.name == name) {
      return machine;
    }
  }
  if (name == "cpu") {
    // 16-bit matrices are widened: products are as fast as those of f32.
    double f32 = measureArithmetic();
    return Machine{"cpu", f32, f32, measureBandwidth(), false, ""};
  }
  return llvm::createStringError("expected --machine a100, h100, h200, l40s, "
                                 "rtx4090 or cpu (this one), got " +
                                 name);
}

Roofline tfc::cost::rooflineOf(const Work &work, const Machine &machine,
                               bool isNarrow) {
  double products = isNarrow ? machine.narrowProducts : machine.f32;
  return {work.products / products + work.others / machine.f32,
          work.bytes / machine.bandwidth};
}
