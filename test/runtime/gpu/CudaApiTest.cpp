// Our declarations of CUDA's driver interface against those of the toolkit,
// where that is there.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>
#include <iterator>
#include <type_traits>
#include <vector>

#if __has_include(<cuda.h>)
// First: it makes macros of the names, for their newest versions, and so our
// members have those names here, too.
#include <cuda.h>

#include "runtime/gpu/CudaApi.h"

namespace tfc::rt {
namespace {

/// Whether two types are passed alike: pointers, or numbers of one size.
template <typename A, typename B>
constexpr bool isAlike =
    sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;

template <typename A, typename B> struct HaveOneShape : std::false_type {};
template <typename R, typename... As, typename S, typename... Bs>
struct HaveOneShape<R (*)(As...), S (*)(Bs...)> {
  static constexpr bool compare() {
    if constexpr (sizeof...(As) == sizeof...(Bs)) {
      return isAlike<R, S> && (isAlike<As, Bs> && ...);
    } else {
      return false;
    }
  }
  static constexpr bool value = compare();
};

#define TFC_SHAPE_TEST(name, parameters)                                       \
  static_assert(                                                               \
      HaveOneShape<decltype(cuda::Functions::name), decltype(&::name)>::value, \
      #name);
TFC_CUDA_FUNCTIONS(TFC_SHAPE_TEST)
static_assert(!HaveOneShape<decltype(cuda::Functions::cuMemMap),
                            decltype(&::cuMemUnmap)>::value);

TEST(CudaApi, HasTheToolkitsValues) {
  EXPECT_EQ(int(cuda::Success), int(CUDA_SUCCESS));
  EXPECT_EQ(int(cuda::OutOfMemory), int(CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_EQ(int(cuda::CapabilityMajor),
            int(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  EXPECT_EQ(int(cuda::CapabilityMinor),
            int(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  EXPECT_EQ(int(cuda::MostDynamicSharedBytes),
            int(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
  EXPECT_EQ(int(cuda::JitErrorLog), int(CU_JIT_ERROR_LOG_BUFFER));
  EXPECT_EQ(int(cuda::JitErrorLogBytes),
            int(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES));
  EXPECT_EQ(unsigned(cuda::StreamNonBlocking),
            unsigned(CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(cuda::locationDevice, int(CU_MEM_LOCATION_TYPE_DEVICE));
  EXPECT_EQ(cuda::allocationPinned, int(CU_MEM_ALLOCATION_TYPE_PINNED));
  EXPECT_EQ(cuda::accessReadWrite, int(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  EXPECT_EQ(cuda::launchOverlaps,
            int(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION));
  EXPECT_EQ(cuda::captureOfThread, int(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_EQ(cuda::granularityMinimum, int(CU_MEM_ALLOC_GRANULARITY_MINIMUM));
}

TEST(CudaApi, KnowsWhatIsTheEndOfAProcess) {
  std::vector<int> expected = {CUDA_ERROR_ECC_UNCORRECTABLE,
                               CUDA_ERROR_NVLINK_UNCORRECTABLE,
#if CUDA_VERSION >= 13000
                               CUDA_ERROR_CONTAINED,
#else
                               226,
#endif
                               CUDA_ERROR_ILLEGAL_ADDRESS,
                               CUDA_ERROR_LAUNCH_TIMEOUT,
                               CUDA_ERROR_CONTEXT_IS_DESTROYED,
                               CUDA_ERROR_ASSERT,
                               CUDA_ERROR_HARDWARE_STACK_ERROR,
                               CUDA_ERROR_ILLEGAL_INSTRUCTION,
                               CUDA_ERROR_MISALIGNED_ADDRESS,
                               CUDA_ERROR_INVALID_ADDRESS_SPACE,
                               CUDA_ERROR_INVALID_PC,
                               CUDA_ERROR_LAUNCH_FAILED,
#if CUDA_VERSION >= 13000
                               CUDA_ERROR_TENSOR_MEMORY_LEAK,
#else
                               721,
#endif
                               CUDA_ERROR_UNKNOWN};
  EXPECT_EQ(std::vector<int>(std::begin(cuda::stickyResults),
                             std::end(cuda::stickyResults)),
            expected);
}

TEST(CudaApi, HasTheToolkitsStructs) {
  EXPECT_EQ(sizeof(cuda::AllocationProperties), sizeof(CUmemAllocationProp));
  EXPECT_EQ(offsetof(cuda::AllocationProperties, location),
            offsetof(CUmemAllocationProp, location));
  EXPECT_EQ(offsetof(cuda::AllocationProperties, flags),
            offsetof(CUmemAllocationProp, allocFlags));
  EXPECT_EQ(sizeof(cuda::AccessDescription), sizeof(CUmemAccessDesc));
  EXPECT_EQ(offsetof(cuda::AccessDescription, flags),
            offsetof(CUmemAccessDesc, flags));
  EXPECT_EQ(sizeof(cuda::LaunchConfig), sizeof(CUlaunchConfig));
  EXPECT_EQ(offsetof(cuda::LaunchConfig, sharedBytes),
            offsetof(CUlaunchConfig, sharedMemBytes));
  EXPECT_EQ(offsetof(cuda::LaunchConfig, attributes),
            offsetof(CUlaunchConfig, attrs));
  EXPECT_EQ(offsetof(cuda::LaunchConfig, numAttributes),
            offsetof(CUlaunchConfig, numAttrs));
  EXPECT_EQ(sizeof(cuda::LaunchAttribute), sizeof(CUlaunchAttribute));
  EXPECT_EQ(offsetof(cuda::LaunchAttribute, value),
            offsetof(CUlaunchAttribute, value));
}

} // namespace
} // namespace tfc::rt

#else

TEST(CudaApi, HasTheToolkitsValues) {
  GTEST_SKIP() << "expected cuda.h of a CUDA toolkit, got none";
}

#endif
