// The models of instructions against what the manual says of chosen numbers,
// and against the instructions of a machine that has them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/InstructionModels.h"

#include "llvm/ADT/bit.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>

#if defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace tfc;

namespace {

constexpr char dotText[] = R"(
define void @dot(ptr %sum, ptr %a, ptr %b, ptr %to) {
  %s = load <16 x float>, ptr %sum, align 4
  %x = load <32 x bfloat>, ptr %a, align 4
  %y = load <32 x bfloat>, ptr %b, align 4
  %z = call <16 x float> @llvm.x86.avx512bf16.dpbf16ps.512(<16 x float> %s, <32 x bfloat> %x, <32 x bfloat> %y)
  store <16 x float> %z, ptr %to, align 4
  ret void
}
declare <16 x float> @llvm.x86.avx512bf16.dpbf16ps.512(<16 x float>, <32 x bfloat>, <32 x bfloat>)
)";

using Words = std::array<uint32_t, 16>;

constexpr char bytesText[] = R"(
define void @dot(ptr %sum, ptr %a, ptr %b, ptr %to) {
  %s = load <16 x i32>, ptr %sum, align 4
  %x = load <64 x i8>, ptr %a, align 4
  %y = load <64 x i8>, ptr %b, align 4
  %z = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32> %s, <64 x i8> %x, <64 x i8> %y)
  store <16 x i32> %z, ptr %to, align 4
  ret void
}
declare <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32>, <64 x i8>, <64 x i8>)
)";

constexpr char halfBytesText[] = R"(
define void @dot(ptr %sum, ptr %a, ptr %b, ptr %to) {
  %s = load <8 x i32>, ptr %sum, align 4
  %x = load <32 x i8>, ptr %a, align 4
  %y = load <32 x i8>, ptr %b, align 4
  %z = call <8 x i32> @llvm.x86.avx512.vpdpbusd.256(<8 x i32> %s, <32 x i8> %x, <32 x i8> %y)
  store <8 x i32> %z, ptr %to, align 4
  %upper = getelementptr i8, ptr %to, i64 32
  store <8 x i32> %z, ptr %upper, align 4
  ret void
}
declare <8 x i32> @llvm.x86.avx512.vpdpbusd.256(<8 x i32>, <32 x i8>, <32 x i8>)
)";

/// Four words, four times.
constexpr char signedText[] = R"(
define void @dot(ptr %sum, ptr %a, ptr %b, ptr %to) {
  %s = load <4 x i32>, ptr %sum, align 4
  %x = load <16 x i8>, ptr %a, align 4
  %y = load <16 x i8>, ptr %b, align 4
  %z = call <4 x i32> @llvm.aarch64.neon.sdot.v4i32.v16i8(<4 x i32> %s, <16 x i8> %x, <16 x i8> %y)
  %all = shufflevector <4 x i32> %z, <4 x i32> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3>
  store <16 x i32> %all, ptr %to, align 4
  ret void
}
declare <4 x i32> @llvm.aarch64.neon.sdot.v4i32.v16i8(<4 x i32>, <16 x i8>, <16 x i8>)
)";

/// Two rows and two columns of eight bytes, four times.
constexpr char matrixText[] = R"(
define void @dot(ptr %sum, ptr %a, ptr %b, ptr %to) {
  %s = load <4 x i32>, ptr %sum, align 4
  %x = load <16 x i8>, ptr %a, align 4
  %y = load <16 x i8>, ptr %b, align 4
  %z = call <4 x i32> @llvm.aarch64.neon.smmla.v4i32.v16i8(<4 x i32> %s, <16 x i8> %x, <16 x i8> %y)
  %all = shufflevector <4 x i32> %z, <4 x i32> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3, i32 0, i32 1, i32 2, i32 3>
  store <16 x i32> %all, ptr %to, align 4
  ret void
}
declare <4 x i32> @llvm.aarch64.neon.smmla.v4i32.v16i8(<4 x i32>, <16 x i8>, <16 x i8>)
)";

constexpr char wideText[] = R"(
define void @dot(ptr %sum, ptr %a, ptr %b, ptr %to) {
  %s = load <16 x i32>, ptr %sum, align 4
  %x = load <32 x i16>, ptr %a, align 4
  %y = load <32 x i16>, ptr %b, align 4
  %p = call <16 x i32> @llvm.x86.avx512.pmaddw.d.512(<32 x i16> %x, <32 x i16> %y)
  %z = add <16 x i32> %s, %p
  store <16 x i32> %z, ptr %to, align 4
  ret void
}
declare <16 x i32> @llvm.x86.avx512.pmaddw.d.512(<32 x i16>, <32 x i16>)
)";

constexpr char roundText[] = R"(
define void @dot(ptr %sum, ptr %a, ptr %b, ptr %to) {
  %x = load <16 x float>, ptr %a, align 4
  %y = call <16 x bfloat> @llvm.x86.avx512bf16.cvtneps2bf16.512(<16 x float> %x)
  %half = bitcast <16 x bfloat> %y to <16 x i16>
  %z = zext <16 x i16> %half to <16 x i32>
  store <16 x i32> %z, ptr %to, align 4
  ret void
}
declare <16 x bfloat> @llvm.x86.avx512bf16.cvtneps2bf16.512(<16 x float>)
)";

constexpr char pairsText[] = R"(
define void @dot(ptr %sum, ptr %a, ptr %b, ptr %to) {
  %x = load <64 x i8>, ptr %a, align 4
  %y = load <64 x i8>, ptr %b, align 4
  %z = call <32 x i16> @llvm.x86.avx512.pmaddubs.w.512(<64 x i8> %x, <64 x i8> %y)
  store <32 x i16> %z, ptr %to, align 4
  ret void
}
declare <32 x i16> @llvm.x86.avx512.pmaddubs.w.512(<64 x i8>, <64 x i8>)
)";

/// A product of tiles with rows of 64 bytes; @ROWS is of sums and the first
/// factor, whose registers are the first and the seventh, @PRODUCT the
/// instruction.
constexpr char tileText[] = R"(
@configuration = private constant [64 x i8] c"\01\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\40\00\00\00\00\00\00\00\00\00\00\00\40\00\40\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00@ROWS\00\00\00\00\00@ROWS\10\00\00\00\00\00\00\00\00"
define void @dot(ptr %sum, ptr %a, ptr %b, ptr %to) {
  call void @llvm.x86.ldtilecfg(ptr @configuration)
  call void @llvm.x86.tileloadd64(i8 0, ptr %sum, i64 64)
  call void @llvm.x86.tileloadd64(i8 6, ptr %a, i64 64)
  call void @llvm.x86.tileloadd64(i8 7, ptr %b, i64 64)
  call void @llvm.x86.@PRODUCT(i8 0, i8 6, i8 7)
  call void @llvm.x86.tilestored64(i8 0, ptr %to, i64 64)
  call void @llvm.x86.tilerelease()
  ret void
}
declare void @llvm.x86.ldtilecfg(ptr)
declare void @llvm.x86.tilerelease()
declare void @llvm.x86.tileloadd64(i8 immarg, ptr, i64)
declare void @llvm.x86.tilestored64(i8 immarg, ptr, i64)
declare void @llvm.x86.@PRODUCT(i8 immarg, i8 immarg, i8 immarg)
)";

std::string fill(llvm::StringRef text, llvm::StringRef name,
                 llvm::StringRef value) {
  std::string filled;
  auto [before, after] = text.split(name);
  while (before.size() != text.size()) {
    filled += (before + value).str();
    text = after;
    std::tie(before, after) = text.split(name);
  }
  return filled + text.str();
}

/// "\\0d" is 13 rows.
std::string writeTiles(llvm::StringRef product, llvm::StringRef rows) {
  return fill(fill(tileText, "@ROWS", rows), "@PRODUCT", product);
}

/// `dot`, as its model on any machine or as the instruction.
class Dot {
public:
  explicit Dot(bool isModel, const char *text = dotText,
               const std::string &feature = "+avx512bf16") {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto context = std::make_unique<llvm::LLVMContext>();
    llvm::SMDiagnostic diagnostic;
    std::unique_ptr<llvm::Module> module =
        llvm::parseAssemblyString(text, diagnostic, *context);
    llvm::orc::JITTargetMachineBuilder machine(
        (llvm::Triple(llvm::sys::getProcessTriple())));
    machine.setCPU(isModel ? "x86-64-v3" : "x86-64-v4");
    if (isModel) {
      EXPECT_EQ(replaceByModels(*module), "");
    } else {
      machine.addFeatures(llvm::SubtargetFeatures(feature).getFeatures());
    }
    jit = llvm::cantFail(llvm::orc::LLJITBuilder()
                             .setJITTargetMachineBuilder(std::move(machine))
                             .create());
    llvm::cantFail(jit->addIRModule(
        llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
    apply = llvm::cantFail(jit->lookup("dot"))
                .toPtr<void (*)(const void *, const void *, const void *,
                                void *)>();
  }

  Words operator()(const Words &sum, const Words &a, const Words &b) const {
    Words to;
    apply(sum.data(), a.data(), b.data(), to.data());
    return to;
  }

  void run(const uint32_t *sum, const uint32_t *a, const uint32_t *b,
           uint32_t *to) const {
    apply(sum, a, b, to);
  }

  uint32_t operator()(uint32_t sum, uint32_t a, uint32_t b) const {
    Words sums, as, bs;
    sums.fill(sum);
    as.fill(a);
    bs.fill(b);
    return (*this)(sums, as, bs)[7];
  }

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void (*apply)(const void *, const void *, const void *, void *) = nullptr;
};

bool hasFeature(llvm::StringRef name) {
  return llvm::sys::getHostCPUFeatures().lookup(name);
}

uint32_t bits(float x) { return llvm::bit_cast<uint32_t>(x); }

/// Numbers of every kind, and pairs of them: any bits, near one, special ones,
/// near the smallest.
class Draw {
public:
  uint32_t half(int kind) {
    static constexpr uint16_t special[] = {
        0,      0x8000, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0xffff, 1,
        0x8001, 0x7f,   0x80,   0x8080, 0x3f80, 0x7f7f, 0xff7f, 0x0100};
    auto drawn = static_cast<uint32_t>(random());
    uint32_t fraction = drawn & 0x807f, up = drawn >> 16;
    switch (kind) {
    case 0:
      return drawn & 0xffff;
    case 1:
      return fraction | (120 + up % 16) << 7;
    case 2:
      return special[drawn % 16];
    default:
      return fraction | (50 + up % 30) << 7;
    }
  }
  uint32_t pair(int kind) { return half(kind) | half(kind) << 16; }
  uint32_t sum(int kind) {
    auto drawn = static_cast<uint32_t>(random());
    uint32_t exponent = kind == 1 ? 118 + drawn % 20 : drawn % 6;
    return kind == 0   ? drawn
           : kind == 2 ? half(2) << 16
                       : (drawn & 0x807fffff) | exponent << 23;
  }

private:
  std::mt19937_64 random{1};
};

TEST(InstructionModels, dotAddsTheSecondProductFirst) {
  if (!hasFeature("fma")) {
    GTEST_SKIP() << "expected a machine of x86-64-v3";
  }
  Dot dot(/*isModel=*/true);
  // 1 * 2 + 3 * 4 + 0.5, the second of a pair being its upper half.
  EXPECT_EQ(dot(bits(0.5f), 0x40403f80, 0x40804000), bits(14.5f));
  // 2^60 + (-2^60 + 1): the one is lost before the first product comes.
  EXPECT_EQ(dot(bits(1.0f), 0xdd805d80, 0x3f803f80), bits(0.0f));
  // Denormals are zeros: an element, a sum, a result.
  EXPECT_EQ(dot(0, 0x00000001, 0x00007f00), 0u);
  EXPECT_EQ(dot(0x80000001, 0, 0), 0u);
  EXPECT_EQ(dot(0, 0x00000080, 0x00003f00), 0u);
  EXPECT_EQ(dot(0, 0x00008080, 0x00003f00), 0x80000000u);
  // Zero times infinity; infinity less infinity; NaN.
  EXPECT_EQ(dot(0, 0x00000000, 0x00007f80) & 0x7fc00000, 0x7fc00000u);
  EXPECT_EQ(dot(0xff800000, 0x00003f80, 0x00007f80) & 0x7fc00000, 0x7fc00000u);
  EXPECT_EQ(dot(bits(1), 0x7fc00000, 0) & 0x7fc00000, 0x7fc00000u);
}

TEST(InstructionModels, dotIsTheInstructionWhereThereIsOne) {
  if (!hasFeature("avx512bf16")) {
    GTEST_SKIP() << "expected a machine with AVX512_BF16";
  }
  Dot model(/*isModel=*/true), instruction(/*isModel=*/false);
  Draw draw;
  auto isNaN = [](uint32_t x) { return (x & 0x7fffffff) > 0x7f800000; };
  for (int trial = 0; trial < (1 << 20) / 16; ++trial) {
    Words sum, a, b;
    for (size_t lane = 0; lane < sum.size(); ++lane) {
      int kind = static_cast<int>(lane % 4);
      sum[lane] = draw.sum(kind);
      a[lane] = draw.pair(kind);
      // Small numbers times others than small ones.
      b[lane] = draw.pair(kind == 3 && lane > 7 ? 1 : kind);
    }
    Words expected = instruction(sum, a, b), got = model(sum, a, b);
    for (size_t lane = 0; lane < sum.size(); ++lane) {
      // Which of several NaNs it is depends on the order of operands.
      ASSERT_TRUE(expected[lane] == got[lane] ||
                  (isNaN(expected[lane]) && isNaN(got[lane])))
          << std::hex << sum[lane] << ' ' << a[lane] << ' ' << b[lane]
          << ": expected " << expected[lane] << ", got " << got[lane];
    }
  }
}

TEST(InstructionModels, roundingIsToTheNearestAndEven) {
  if (!hasFeature("fma")) {
    GTEST_SKIP() << "expected a machine of x86-64-v3";
  }
  Dot model(/*isModel=*/true, roundText);
  for (auto [number, half] :
       {std::pair{0x3f808000U, 0x3f80U}, std::pair{0x3f818000U, 0x3f82U},
        std::pair{0x3f808001U, 0x3f81U}, std::pair{0x7f7fffffU, 0x7f80U},
        std::pair{0x00000001U, 0U}, std::pair{0x807fffffU, 0x8000U},
        std::pair{0x7f800001U, 0x7fc0U}, std::pair{0xffffffffU, 0xffffU}}) {
    EXPECT_EQ(model(0, number, 0), half) << std::hex << number;
  }
  if (!hasFeature("avx512bf16")) {
    GTEST_SKIP() << "expected a machine with AVX512_BF16";
  }
  Dot instruction(/*isModel=*/false, roundText);
  Draw draw;
  for (int trial = 0; trial < (1 << 20) / 16; ++trial) {
    Words a;
    for (size_t lane = 0; lane < a.size(); ++lane) {
      a[lane] = draw.sum(static_cast<int>(lane % 4));
    }
    ASSERT_EQ(instruction(Words{}, a, Words{}), model(Words{}, a, Words{}));
  }
}

TEST(InstructionModels, bytesOfTheFirstHaveNoSign) {
  if (!hasFeature("fma")) {
    GTEST_SKIP() << "expected a machine of x86-64-v3";
  }
  for (const char *text : {bytesText, halfBytesText}) {
    Dot dot(/*isModel=*/true, text);
    // 255 * -1 + 1 * 2 + 2 * 3 + 128 * -128 + 7
    EXPECT_EQ(dot(7, 0x800201ff, 0x800302ff),
              static_cast<uint32_t>(-255 + 2 + 6 - 16384 + 7));
    // Modulo 2^32, not saturated.
    EXPECT_EQ(dot(0x7fffffff, 1, 1), 0x80000000u);
  }
  Dot wide(/*isModel=*/true, wideText);
  EXPECT_EQ(wide(1, 0xffff0002, 0x00050003), 2u);
  // Pairs: 255 * -1 + 1 * 2, and twice 255 * -128, which 16 bits do not hold.
  Dot pairs(/*isModel=*/true, pairsText);
  EXPECT_EQ(pairs(0, 0xffff01ff, 0x808002ff),
            0x80000000 | (static_cast<uint32_t>(-253) & 0xffff));
}

/// By the manual's formula: qemu and machines are test/cross's.
TEST(InstructionModels, bytesOfNeonHaveSigns) {
  if (!hasFeature("fma")) {
    GTEST_SKIP() << "expected a machine of x86-64-v3";
  }
  Dot dot(/*isModel=*/true, signedText);
  // 4 times -128 * -128, which 16 bits do not hold; modulo 2^32.
  EXPECT_EQ(dot(5, 0x80808080, 0x80808080), 65536u + 5);
  EXPECT_EQ(dot(0x7fffffff, 1, 1), 0x80000000u);
  std::mt19937 random(3);
  for (int trial = 0; trial < 1000; ++trial) {
    Words sum, a, b;
    for (Words *words : {&sum, &a, &b}) {
      std::generate(words->begin(), words->end(), std::ref(random));
    }
    Words got = dot(sum, a, b);
    for (size_t lane = 0; lane < 4; ++lane) {
      uint32_t expected = sum[lane];
      for (int byte = 0; byte < 32; byte += 8) {
        expected += static_cast<uint32_t>(static_cast<int8_t>(a[lane] >> byte) *
                                          static_cast<int8_t>(b[lane] >> byte));
      }
      ASSERT_EQ(got[lane], expected);
    }
  }
}

TEST(InstructionModels, matricesOfNeonAreRowsTimesColumns) {
  if (!hasFeature("fma")) {
    GTEST_SKIP() << "expected a machine of x86-64-v3";
  }
  Dot dot(/*isModel=*/true, matrixText);
  // 8 times -128 * -128; modulo 2^32.
  EXPECT_EQ(dot(5, 0x80808080, 0x80808080), 131072u + 5);
  EXPECT_EQ(dot(0x7fffffff, 1, 1), 0x80000001u);
  std::mt19937 random(3);
  for (int trial = 0; trial < 1000; ++trial) {
    Words sum, a, b;
    for (Words *words : {&sum, &a, &b}) {
      std::generate(words->begin(), words->end(), std::ref(random));
    }
    Words got = dot(sum, a, b);
    for (size_t lane = 0; lane < 4; ++lane) {
      uint32_t expected = sum[lane];
      for (size_t word = 0; word < 2; ++word) {
        uint32_t x = a[lane / 2 * 2 + word], y = b[lane % 2 * 2 + word];
        for (int byte = 0; byte < 32; byte += 8) {
          expected += static_cast<uint32_t>(static_cast<int8_t>(x >> byte) *
                                            static_cast<int8_t>(y >> byte));
        }
      }
      ASSERT_EQ(got[lane], expected);
    }
  }
}

TEST(InstructionModels, integersAreThoseOfTheInstructions) {
  for (auto [text, feature] :
       {std::pair{bytesText, "avx512vnni"},
        std::pair{halfBytesText, "avx512vnni"}, std::pair{wideText, "avx512bw"},
        std::pair{pairsText, "avx512bw"}}) {
    if (!hasFeature(feature)) {
      GTEST_SKIP() << "expected a machine with " << feature;
    }
    Dot model(/*isModel=*/true, text),
        instruction(/*isModel=*/false, text, std::string("+") + feature);
    std::mt19937 random(1);
    for (int trial = 0; trial < (1 << 20) / 16; ++trial) {
      Words sum, a, b;
      for (size_t lane = 0; lane < sum.size(); ++lane) {
        sum[lane] = static_cast<uint32_t>(random());
        a[lane] = static_cast<uint32_t>(random());
        // The extremes, too.
        b[lane] = lane % 4 == 0 ? 0x80807f80 : static_cast<uint32_t>(random());
      }
      ASSERT_EQ(instruction(sum, a, b), model(sum, a, b));
    }
  }
}

using Tile = std::array<uint32_t, 16 * 16>;

/// Of the manual, a number at a time.
float flush(float x) {
  return std::abs(x) < std::numeric_limits<float>::min()
             ? std::copysign(0.0f, x)
             : x;
}

uint32_t multiplyBf16(const Tile &sum, const Tile &a, const Tile &b, size_t row,
                      size_t column) {
  float halves[2] = {0, 0};
  for (size_t k = 0; k < 16; ++k) {
    for (unsigned half : {0U, 1U}) {
      auto widen = [&](uint32_t pair) {
        return flush(
            llvm::bit_cast<float>(half ? pair & 0xffff0000 : pair << 16));
      };
      halves[half] = flush(std::fma(widen(a[row * 16 + k]),
                                    widen(b[k * 16 + column]), halves[half]));
    }
  }
  float old = flush(llvm::bit_cast<float>(sum[row * 16 + column]));
  return bits(flush(old + flush(halves[0] + halves[1])));
}

uint32_t multiplyBytes(const Tile &sum, const Tile &a, const Tile &b,
                       size_t row, size_t column) {
  uint32_t all = sum[row * 16 + column];
  for (size_t k = 0; k < 16; ++k) {
    for (unsigned shift : {0U, 8U, 16U, 24U}) {
      auto x = static_cast<uint8_t>(a[row * 16 + k] >> shift);
      auto y = static_cast<int8_t>(b[k * 16 + column] >> shift);
      all += static_cast<uint32_t>(x * y);
    }
  }
  return all;
}

bool isNoNumber(uint32_t x) { return (x & 0x7fffffff) > 0x7f800000; }

/// Tiles that are drawn, with `rows` rows; what is behind them stays. Of an
/// instruction where the machine has it and the system lets it be used.
void checkTiles(llvm::StringRef product, const std::string &feature,
                bool isModel) {
  bool isBf16 = product == "tdpbf16ps";
  for (auto [text, rows] : {std::pair{"\\10", 16U}, std::pair{"\\0d", 13U},
                            std::pair{"\\01", 1U}}) {
    std::string written = writeTiles(product, text);
    Dot dot(isModel, written.c_str(), "+amx-tile,+" + feature);
    Draw draw;
    for (int trial = 0; trial < 64; ++trial) {
      Tile sum, a, b, to;
      for (size_t i = 0; i < sum.size(); ++i) {
        // Mostly numbers that add up, and in every fourth all kinds.
        int kind = trial % 4 ? 1 : static_cast<int>(i % 4);
        sum[i] = isBf16 ? draw.sum(kind) : draw.sum(0);
        a[i] = isBf16 ? draw.pair(kind) : draw.sum(0);
        b[i] = isBf16 ? draw.pair(kind) : draw.sum(0);
      }
      to.fill(7);
      dot.run(sum.data(), a.data(), b.data(), to.data());
      for (size_t i = 0; i < to.size(); ++i) {
        uint32_t wanted = i >= rows * 16 ? 7
                          : isBf16 ? multiplyBf16(sum, a, b, i / 16, i % 16)
                                   : multiplyBytes(sum, a, b, i / 16, i % 16);
        ASSERT_TRUE(to[i] == wanted ||
                    (isBf16 && isNoNumber(to[i]) && isNoNumber(wanted)))
            << product.str() << " of " << rows << " rows, number " << i
            << std::hex << ": expected " << wanted << ", got " << to[i];
      }
    }
  }
}

TEST(InstructionModels, tilesAddUpFirstAndSecondElementsApart) {
  if (!hasFeature("fma")) {
    GTEST_SKIP() << "expected a machine of x86-64-v3";
  }
  std::string text = writeTiles("tdpbf16ps", "\\10");
  Dot dot(/*isModel=*/true, text.c_str());
  Tile sum{}, a, b{}, to;
  a.fill(0x3f803f80); // ones
  // First elements 2^60, 0, -2^60, second ones 0, 1, 0: as one sum after the
  // other the 1 would be lost.
  b[0] = 0x5d80;
  b[16] = 0x3f800000;
  b[32] = 0xdd80;
  // The old sum comes last.
  sum[0] = bits(0.5f);
  // It is lost in what the others are.
  sum[1] = bits(1.0f);
  b[1] = 0x5d80;
  dot.run(sum.data(), a.data(), b.data(), to.data());
  EXPECT_EQ(to[0], bits(1.5f));
  EXPECT_EQ(to[1], 0x5d800000u);
  checkTiles("tdpbf16ps", "amx-bf16", /*isModel=*/true);
  checkTiles("tdpbusd", "amx-int8", /*isModel=*/true);
}

TEST(InstructionModels, tilesAreThoseOfTheInstructions) {
#if defined(__x86_64__)
  constexpr long request = 0x1023, tiles = 18;
  bool isAllowed = syscall(SYS_arch_prctl, request, tiles) == 0;
#else
  bool isAllowed = false;
#endif
  for (auto [product, feature] :
       {std::pair{"tdpbf16ps", "amx-bf16"}, std::pair{"tdpbusd", "amx-int8"}}) {
    if (!hasFeature(feature) || !isAllowed) {
      GTEST_SKIP() << "expected a machine with " << feature
                   << ", whose system lets it be used";
    }
    checkTiles(product, feature, /*isModel=*/false);
  }
}

TEST(InstructionModels, tilesOfOtherShapesAreFaults) {
  if (!hasFeature("fma")) {
    GTEST_SKIP() << "expected a machine of x86-64-v3";
  }
  Tile sum{}, a{}, b{}, to;
  auto run = [&](const std::string &text) {
    Dot dot(/*isModel=*/true, text.c_str());
    dot.run(sum.data(), a.data(), b.data(), to.data());
  };
  std::string whole = writeTiles("tdpbusd", "\\10");
  run(whole);
  // 17 rows; none; a second factor of fewer rows than the first has words; a
  // factor that is the sum.
  EXPECT_DEATH(run(writeTiles("tdpbusd", "\\11")), "");
  EXPECT_DEATH(run(writeTiles("tdpbusd", "\\00")), "");
  EXPECT_DEATH(run(fill(whole, "\\10\\10", "\\10\\0f")), "");
  EXPECT_DEATH(run(fill(whole, "i8 0, i8 6, i8 7", "i8 0, i8 0, i8 7")), "");
  // Without a configuration.
  EXPECT_DEATH(
      run(fill(whole, "call void @llvm.x86.ldtilecfg(ptr @configuration)", "")),
      "");
}

TEST(InstructionModels, namesWhatHasNoModel) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(
      "declare <16 x i32> @llvm.x86.avx512.vpdpbusds.512(<16 x i32>, "
      "<64 x i8>, <64 x i8>)",
      diagnostic, context);
  ASSERT_TRUE(module);
  EXPECT_EQ(replaceByModels(*module), "llvm.x86.avx512.vpdpbusds.512");
}

// What emulates is at least of level 3: on a machine that has the instructions
// beyond it, nothing else would notice.
TEST(InstructionModels, leavesWhatLevel3Has) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(
      "declare <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16>, <16 x i16>)",
      diagnostic, context);
  ASSERT_TRUE(module);
  EXPECT_EQ(replaceByModels(*module), "");
  EXPECT_TRUE(module->getFunction("llvm.x86.avx2.pmadd.wd"));
}

} // namespace
