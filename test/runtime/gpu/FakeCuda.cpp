// Sets the environment that names the driver.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/gpu/FakeCuda.h"

#include <cstdlib>

namespace tfc::rt::test {

FakeCuda::FakeCuda(const std::string &settings, const std::string &driver) {
  setenv("TFC_CUDA_DRIVER", driver.c_str(), 1);
  setenv("TFC_FAKECUDA", settings.c_str(), 1);
  setenv("TFC_FAKECUDA_CACHE", KERNEL_CACHE, 1);
}

FakeCuda::~FakeCuda() {
  setenv("TFC_CUDA_DRIVER", "no such driver", 1);
  unsetenv("TFC_FAKECUDA");
}

Result<std::unique_ptr<Model>> loadCuda(const std::string &variant,
                                        const FakeWeights &weights,
                                        const std::string &program,
                                        LoadOptions options) {
  Folder folder;
  writeTensors(folder / "model.safetensors", weights.stored());
  options.libraryPath = fakeLibrary(variant);
  options.weightsPath = folder.path.string();
  options.threads = 2;
  options.program = program;
  return Model::load(options);
}

} // namespace tfc::rt::test
