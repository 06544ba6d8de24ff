// The stand-in for CUDA's driver in a test's process, and the toy model on it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_RUNTIME_GPU_FAKECUDA_H
#define TFC_TEST_RUNTIME_GPU_FAKECUDA_H

#include "runtime/src/load/Model.h"
#include "test/runtime/FakeModel.h"

namespace tfc::rt::test {

/// The driver that models find as long as this lives, with settings as
/// TFC_FAKECUDA takes them.
class FakeCuda {
public:
  explicit FakeCuda(const std::string &settings = "",
                    const std::string &driver = CUDA_DRIVER);
  ~FakeCuda();
  FakeCuda(const FakeCuda &) = delete;
  FakeCuda &operator=(const FakeCuda &) = delete;
};

/// A variant of the toy model with weights of its own. `program`: as
/// chooseProgram; `options` for the rest.
Result<std::unique_ptr<Model>> loadCuda(const std::string &variant,
                                        const FakeWeights &weights,
                                        const std::string &program,
                                        LoadOptions options = {});

} // namespace tfc::rt::test

#endif // TFC_TEST_RUNTIME_GPU_FAKECUDA_H
