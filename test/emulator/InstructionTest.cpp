// Instructions one by one, by hand-computed results: awkward numbers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/Kernels.h"

#include <cmath>
#include <limits>

namespace tfc::emulator {
namespace {

/// Of an expression of %r1 in %r0, as 32 bits.
uint32_t word(const std::string &body, uint32_t in) {
  return uint32_t(compute(body + "\ncvt.u64.u32 %d0, %r0;", in));
}

uint32_t bits(float value) {
  uint32_t word;
  std::memcpy(&word, &value, sizeof word);
  return word;
}

TEST(Instructions, WrapAndWiden) {
  EXPECT_EQ(word("add.s32 %r0, %r1, 1;", 0x7fffffff), 0x80000000U);
  EXPECT_EQ(word("mul.lo.s32 %r0, %r1, %r1;", 0x10001), 0x20001U);
  EXPECT_EQ(word("mul.hi.u32 %r0, %r1, 16;", 0xf0000000), 0xfU);
  EXPECT_EQ(word("mul.hi.s32 %r0, %r1, 16;", 0xf0000000), 0xffffffffU);
  EXPECT_EQ(compute("mul.wide.s32 %d0, %r1, 4;", 0xffffffff), ~uint64_t(3));
  EXPECT_EQ(compute("mul.wide.u32 %d0, %r1, 4;", 0xffffffff), 0x3fffffffcU);
  EXPECT_EQ(compute("mul.hi.u64 %d0, %d1, %d1;", uint64_t(1) << 63), uint64_t(1)
                                                                         << 62);
  EXPECT_EQ(compute("mad.lo.s64 %d0, %d1, -3, 10;", 4), uint64_t(-2));
  EXPECT_EQ(word("neg.s32 %r0, %r1;", 0x80000000), 0x80000000U);
  EXPECT_EQ(word("div.s32 %r0, %r1, -2;", 7), uint32_t(-3));
  EXPECT_EQ(word("rem.s32 %r0, %r1, 2;", uint32_t(-7)), uint32_t(-1));
  EXPECT_EQ(word("div.s32 %r0, %r1, -1;", 0x80000000), 0x80000000U);
  EXPECT_EQ(word("min.s32 %r0, %r1, 1;", uint32_t(-5)), uint32_t(-5));
  EXPECT_EQ(word("min.u32 %r0, %r1, 1;", uint32_t(-5)), 1U);
}

TEST(Instructions, ShiftsByTheWidthAndMore) {
  EXPECT_EQ(word("shl.b32 %r0, %r1, 32;", 1), 0U);
  EXPECT_EQ(word("shr.s32 %r0, %r1, 40;", 0x80000000), 0xffffffffU);
  EXPECT_EQ(word("shr.u32 %r0, %r1, 31;", 0x80000000), 1U);
  EXPECT_EQ(compute("shl.b64 %d0, %d1, 63;", 3), uint64_t(1) << 63);
  EXPECT_EQ(word("shf.l.wrap.b32 %r0, %r1, %r1, 8;", 0x12345678), 0x34567812U);
  EXPECT_EQ(word("bfe.u32 %r0, %r1, 8, 8;", 0x12345678), 0x56U);
  EXPECT_EQ(word("bfe.s32 %r0, %r1, 4, 4;", 0x80), uint32_t(-8));
  EXPECT_EQ(word("prmt.b32 %r0, %r1, 0, 0x0123;", 0x12345678), 0x78563412U);
  EXPECT_EQ(word("lop3.b32 %r0, %r1, 0xff00, 0xf, 0xea;", 0x12345678),
            (0x12345678U & 0xff00U) | 0xfU);
  EXPECT_EQ(word("clz.b32 %r0, %r1;", 0), 32U);
  EXPECT_EQ(word("popc.b32 %r0, %r1;", 0xf0f1), 9U);
}

TEST(Instructions, RoundOnceOrTwice) {
  // 1 + 2^-12: its square is 1 + 2^-11 + 2^-24, which only fma keeps.
  float x = 1 + 0x1p-12f;
  EXPECT_EQ(word("fma.rn.f32 %r0, %r1, %r1, 0fBF800000;", bits(x)),
            bits(0x1p-11f + 0x1p-24f));
  EXPECT_EQ(word("mul.rn.f32 %r2, %r1, %r1;\n"
                 "add.rn.f32 %r0, %r2, 0fBF800000;",
                 bits(x)),
            bits(0x1p-11f));
  EXPECT_EQ(word("div.rn.f32 %r0, %r1, 0f40400000;", bits(1)), bits(1 / 3.0f));
  EXPECT_EQ(word("rcp.rn.f32 %r0, %r1;", bits(3)), bits(1 / 3.0f));
  EXPECT_EQ(word("sqrt.rn.f32 %r0, %r1;", bits(2)), bits(std::sqrt(2.0f)));
  EXPECT_EQ(word("neg.f32 %r0, %r1;", bits(0)), bits(-0.0f));
  EXPECT_EQ(word("abs.f32 %r0, %r1;", bits(-7)), bits(7));
}

TEST(Instructions, KnowNaNs) {
  uint32_t nan = 0x7fc00000;
  EXPECT_EQ(word("max.f32 %r0, %r1, 0f3F800000;", nan), bits(1));
  EXPECT_TRUE(word("max.NaN.f32 %r0, %r1, 0f3F800000;", nan) > 0x7f800000);
  EXPECT_EQ(word("max.f32 %r0, %r1, 0f00000000;", bits(-0.0f)), bits(0));
  auto compare = [&](const std::string &how, uint32_t in) {
    return word("setp." + how +
                    ".f32 %p1, %r1, 0f3F800000;\n"
                    "selp.b32 %r0, 1, 0, %p1;",
                in);
  };
  EXPECT_EQ(compare("lt", nan), 0U);
  EXPECT_EQ(compare("ltu", nan), 1U);
  EXPECT_EQ(compare("ne", nan), 0U);
  EXPECT_EQ(compare("neu", nan), 1U);
  EXPECT_EQ(compare("nan", nan), 1U);
  EXPECT_EQ(compare("num", nan), 0U);
  EXPECT_EQ(compare("ge", bits(1)), 1U);
}

TEST(Instructions, ConvertWithinTheRange) {
  EXPECT_EQ(word("cvt.rzi.s32.f32 %r0, %r1;", bits(-2.9f)), uint32_t(-2));
  EXPECT_EQ(word("cvt.rni.s32.f32 %r0, %r1;", bits(2.5f)), 2U);
  EXPECT_EQ(word("cvt.rmi.f32.f32 %r0, %r1;", bits(-2.5f)), bits(-3));
  EXPECT_EQ(word("cvt.rzi.s32.f32 %r0, %r1;", bits(1e20f)), 0x7fffffffU);
  EXPECT_EQ(word("cvt.rzi.s32.f32 %r0, %r1;", 0x7fc00000), 0U);
  EXPECT_EQ(word("cvt.rzi.u32.f32 %r0, %r1;", bits(-1)), 0U);
  EXPECT_EQ(word("cvt.rn.f32.s32 %r0, %r1;", 16777217), bits(16777216));
  EXPECT_EQ(compute("cvt.s64.s32 %d0, %r1;", 0x80000000), 0xffffffff80000000U);
  EXPECT_EQ(compute("cvt.u64.u32 %d0, %r1;", 0x80000000), 0x80000000U);
  EXPECT_EQ(word("cvt.u16.u32 %h1, %r1;\ncvt.s32.s16 %r0, %h1;", 0x12348765),
            0xffff8765U);
  EXPECT_EQ(
      word("cvt.rn.f16.f32 %h1, %r1;\ncvt.f32.f16 %r0, %h1;", bits(1.0009765f)),
      bits(1 + 0x1p-10f));
  EXPECT_EQ(word("cvt.rn.bf16.f32 %h1, %r1;\ncvt.u32.u16 %r0, %h1;",
                 bits(1 + 0x1p-8f)),
            0x3f80U); // a tie, to the even one
  EXPECT_EQ(word("cvt.rn.bf16x2.f32 %r0, %r1, 0f40400000;", bits(-2)),
            0xc0004040U);
  EXPECT_EQ(word("cvt.rn.f16x2.f32 %r0, 0f3F800000, %r1;", bits(-2)),
            0x3c00c000U);
}

// Halfway between two numbers of 8 bits but for what is far below: rounded
// once.
TEST(Instructions, RoundSixteenBitsOnce) {
  auto half = [](const std::string &instruction, float x, float y, float z) {
    std::string body;
    const float values[] = {x, y, z};
    for (size_t i = 0; i < 3; ++i) {
      std::string n = std::to_string(i + 1);
      body += "mov.b32 %r2, " + std::to_string(bits(values[i])) + ";\n" +
              "cvt.rn.bf16.f32 %h" + n + ", %r2;\n";
    }
    return word(body + instruction + "\ncvt.u32.u16 %r0, %h1;", 0);
  };
  const char *fma = "fma.rn.bf16 %h1, %h1, %h2, %h3;";
  EXPECT_EQ(half(fma, 1, 0x1p-8f, 1), 0x3f80U);
  EXPECT_EQ(half(fma, 0x1.02p0f, 0x1p-8f, 1), 0x3f81U);
  EXPECT_EQ(half(fma, 1, 1 + 0x1p-7f, -0x1p-9f), 0x3f81U);
  EXPECT_EQ(half(fma, 0x1p-60f, 0x1p-60f, 1 + 0x1p-7f), 0x3f81U);
  EXPECT_EQ(half("mul.rn.bf16 %h1, %h1, %h2;", -1, 0, 0), 0x8000U);
  EXPECT_EQ(half("sub.rn.bf16 %h1, %h1, %h2;", 3, 1, 0), 0x4000U);
  EXPECT_EQ(word("cvt.rn.f16.f32 %h1, %r1;\nadd.rn.f16 %h1, %h1, %h1;\n"
                 "cvt.f32.f16 %r0, %h1;",
                 bits(1 + 0x1p-10f)),
            bits(2 + 0x1p-9f));
}

// Each half for itself: 1 + 1 and 3 + 0.5.
TEST(Instructions, AddPairs) {
  for (const char *type : {"bf16x2", "f16x2"}) {
    std::string name = type;
    std::string body = "mov.b32 %r2, " + std::to_string(bits(3)) +
                       ";\nmov.b32 %r3, " + std::to_string(bits(1)) +
                       ";\nmov.b32 %r4, " + std::to_string(bits(0.5f)) +
                       ";\ncvt.rn." + name + ".f32 %r5, %r2, %r3;\ncvt.rn." +
                       name + ".f32 %r6, %r4, %r3;\ncvt.rn." + name +
                       ".f32 %r7, %r3, %r3;\nfma.rn." + name +
                       " %r8, %r5, %r7, %r6;\nmov.b32 %r0, %r8;";
    EXPECT_EQ(word(body, 0), name == "bf16x2" ? 0x40604000U : 0x43004000U);
  }
}

TEST(Instructions, NegatePairs) {
  EXPECT_EQ(word("neg.bf16x2 %r0, %r1;", 0x3F80C000), 0xBF804000U);
  EXPECT_EQ(word("neg.f16x2 %r0, %r1;", 0x3C00C000), 0xBC004000U);
}

TEST(Instructions, PackAndUnpack) {
  EXPECT_EQ(compute("mov.b64 {%r2, %r3}, %d1;\nmov.b64 %d0, {%r3, %r2};",
                    0x1122334455667788),
            0x5566778811223344U);
  EXPECT_EQ(
      word("mov.b32 {%h1, %h2}, %r1;\nmov.b32 %r0, {%h2, %h1};", 0x12345678),
      0x56781234U);
}

TEST(Instructions, JumpUnderAGuard) {
  std::string loop = "mov.b32 %r0, 0;\nmov.b32 %r2, %r1;\n"
                     "$again: setp.eq.s32 %p1, %r2, 0;\n@%p1 bra $done;\n"
                     "add.s32 %r0, %r0, %r2;\nadd.s32 %r2, %r2, -1;\n"
                     "bra.uni $again;\n$done:\n@!%p1 add.s32 %r0, %r0, 1000;";
  EXPECT_EQ(word(loop, 10), 55U);
}

TEST(Instructions, AreNamedWhenTheyAreUnknown) {
  auto fault = [](const std::string &body) -> std::string {
    try {
      CompiledModule compiled(entryOf(body));
    } catch (const PtxError &error) {
      return error.what();
    }
    return "";
  };
  std::string expected =
      "expected an instruction that the emulator knows, got ";
  EXPECT_EQ(fault("ex2.approx.f32 %r0, %r1;"),
            "line 10: " + expected + "ex2.approx.f32 %r0, %r1");
  EXPECT_EQ(fault("add.rn.ftz.f32 %r0, %r1, %r2;"),
            "line 10: " + expected + "add.rn.ftz.f32 %r0, %r1, %r2");
  EXPECT_EQ(fault("div.full.f32 %r0, %r1, %r2;"),
            "line 10: " + expected + "div.full.f32 %r0, %r1, %r2");
  EXPECT_EQ(fault("mov.b32 %r0, %nothing;"),
            "k: expected an operand that the emulator knows, got %nothing");
  EXPECT_EQ(fault("cvt.f32.s32 %r0, %r1;"), // without a rounding
            "line 10: " + expected + "cvt.f32.s32 %r0, %r1");
  EXPECT_EQ(fault("mov.b64 %r0, %d1;"),
            "k: expected a register of .u64, got %r0");
}

} // namespace
} // namespace tfc::emulator
