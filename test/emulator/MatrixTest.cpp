// Tiles of matrices: which lane has which elements, and what is asked of those
// who load them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/Kernels.h"

namespace tfc::emulator {
namespace {

constexpr uint32_t lanes = 32;

/// bf16 or f16 of a small integer, which both have exactly.
uint16_t half(int value, bool isBf16) {
  if (isBf16) {
    float wide = float(value);
    uint32_t bits;
    std::memcpy(&bits, &wide, sizeof bits);
    return uint16_t(bits >> 16);
  }
  _Float16 narrow = _Float16(value);
  uint16_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  return bits;
}

int elementOfA(uint32_t row, uint32_t k) {
  return int(row * 3 + k * 5) % 23 - 9;
}
int elementOfB(uint32_t k, uint32_t n) { return int(k * 7 + n * 2) % 19 - 6; }
int elementOfC(uint32_t row, uint32_t n) { return int(row * 100 + n); }

/// The registers of a lane, by the tables of the PTX ISA: element i of A is in
/// half i % 2 of word i / 2, and so on.
std::vector<uint32_t> registersOf(uint32_t lane, bool isBf16) {
  uint32_t group = lane / 4, place = lane % 4;
  uint32_t words[10] = {};
  for (uint32_t i = 0; i < 8; ++i) {
    uint32_t row = i % 4 < 2 ? group : group + 8;
    uint32_t k = place * 2 + i % 2 + (i < 4 ? 0 : 8);
    words[i / 2] |= uint32_t(half(elementOfA(row, k), isBf16))
                    << (16 * (i % 2));
  }
  for (uint32_t i = 0; i < 4; ++i) {
    uint32_t k = place * 2 + i % 2 + (i < 2 ? 0 : 8);
    words[4 + i / 2] |= uint32_t(half(elementOfB(k, group), isBf16))
                        << (16 * (i % 2));
    uint32_t row = i < 2 ? group : group + 8;
    auto c = float(elementOfC(row, place * 2 + i % 2));
    std::memcpy(&words[6 + i], &c, sizeof c);
  }
  return {words, words + 10};
}

/// Words 0 to 9 of a lane in %r0 to %r9; %r20 to %r23 out.
std::string ofLane(const std::string &body) {
  std::string text = "mov.u32 %r24, %tid.x;\nmul.wide.u32 %d1, %r24, 40;\n"
                     "add.s64 %d1, %from, %d1;\n";
  for (int i = 0; i < 10; ++i) {
    text += "ld.global.b32 %r" + std::to_string(i) + ", [%d1+" +
            std::to_string(4 * i) + "];\n";
  }
  text += body + "\nmul.wide.u32 %d2, %r24, 16;\nadd.s64 %d2, %to, %d2;\n";
  for (int i = 0; i < 4; ++i) {
    text += "st.global.b32 [%d2+" + std::to_string(4 * i) + "], %r" +
            std::to_string(20 + i) + ";\n";
  }
  return text;
}

std::string multiply(const std::string &type) {
  return "mma.sync.aligned.m16n8k16.row.col.f32." + type + "." + type +
         ".f32 {%r20, %r21, %r22, %r23}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, "
         "{%r6, %r7, %r8, %r9};";
}

TEST(Matrix, ProductsAreSumsOverK) {
  for (bool isBf16 : {true, false}) {
    Device device;
    uint64_t to = device.allocate(lanes * 16),
             from = device.allocate(lanes * 40);
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      std::vector<uint32_t> words = registersOf(lane, isBf16);
      std::memcpy(device.at(from + 40 * lane, 40), words.data(), 40);
    }
    EXPECT_EQ(device
                  .run(entryOf(ofLane(multiply(isBf16 ? "bf16" : "f16"))), to,
                       from, 1, lanes)
                  .message,
              "");
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      for (uint32_t i = 0; i < 4; ++i) {
        uint32_t row = lane / 4 + (i < 2 ? 0 : 8), n = lane % 4 * 2 + i % 2;
        int sum = elementOfC(row, n);
        for (uint32_t k = 0; k < 16; ++k) {
          sum += elementOfA(row, k) * elementOfB(k, n);
        }
        EXPECT_EQ(device.read<float>(to + 16 * lane + 4 * i), float(sum))
            << lane << " " << i;
      }
    }
  }
}

// A sum and its addend may be one register, as compilers have them.
TEST(Matrix, SumsStayInTheirRegisters) {
  Device device;
  uint64_t to = device.allocate(lanes * 16), from = device.allocate(lanes * 40);
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    std::vector<uint32_t> words = registersOf(lane, true);
    std::memcpy(device.at(from + 40 * lane, 40), words.data(), 40);
  }
  std::string twice = multiply("bf16") +
                      "\nmma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16."
                      "f32 {%r20, %r21, %r22, %r23}, {%r0, %r1, %r2, %r3}, "
                      "{%r4, %r5}, {%r20, %r21, %r22, %r23};";
  EXPECT_EQ(device.run(entryOf(ofLane(twice)), to, from, 1, lanes).message, "");
  int sum = 0;
  for (uint32_t k = 0; k < 16; ++k) {
    sum += 2 * elementOfA(0, k) * elementOfB(k, 0);
  }
  EXPECT_EQ(device.read<float>(to), float(sum + elementOfC(0, 0)));
}

/// Fills four tiles of shared memory, rows of 8 words one after the other, word
/// i of them being i, and loads them with `load`. Lane 8 * t + r has the
/// address of row r of tile 3 - t in %r10.
std::string loadTiles(const std::string &load, const std::string &between) {
  return entryOf(
      ofLane("mov.b64 %d3, tiles;\nmul.wide.u32 %d4, %r24, 16;\n"
             "add.s64 %d4, %d3, %d4;\nmul.lo.s32 %r11, %r24, 524296;\n"
             "add.s32 %r11, %r11, 65536;\nst.shared.b32 [%d4], %r11;\n"
             "add.s32 %r11, %r11, 131074;\nst.shared.b32 [%d4+4], %r11;\n"
             "add.s32 %r11, %r11, 131074;\nst.shared.b32 [%d4+8], %r11;\n"
             "add.s32 %r11, %r11, 131074;\nst.shared.b32 [%d4+12], %r11;\n" +
             between +
             "xor.b32 %r12, %r24, 24;\nmul.lo.s32 %r12, %r12, 16;\n"
             "mov.b32 %r10, tiles;\nadd.s32 %r10, %r10, %r12;\n"
             "mov.b32 %r20, 0;\nmov.b32 %r21, 0;\nmov.b32 %r22, 0;\n"
             "mov.b32 %r23, 0;\n" +
             load),
      ".shared .align 16 .b8 tiles[512];\n");
}

struct Loaded {
  std::string message;
  std::vector<uint32_t> words;
};

Loaded runLoad(const std::string &ptx) {
  Device device;
  Races races;
  device.order.races = &races;
  device.order.work = races.begin(nullptr, 0);
  uint64_t to = device.allocate(lanes * 16), from = device.allocate(lanes * 40);
  std::memset(device.at(from, lanes * 40), 0, lanes * 40);
  Loaded loaded;
  loaded.message = device.run(ptx, to, from, 1, lanes).message;
  for (uint32_t i = 0; i < 4 * lanes; ++i) {
    loaded.words.push_back(device.read<uint32_t>(to + 4 * i));
  }
  return loaded;
}

const char *const meeting = "bar.warp.sync -1;\n";

TEST(Matrix, LoadsTilesByTheAddressesOfTheirRows) {
  Loaded plain = runLoad(loadTiles("ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
                                   "{%r20, %r21, %r22, %r23}, [%r10];",
                                   meeting));
  EXPECT_EQ(plain.message, "");
  Loaded turned =
      runLoad(loadTiles("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
                        "{%r20, %r21, %r22, %r23}, [%r10];",
                        meeting));
  EXPECT_EQ(turned.message, "");
  Loaded two = runLoad(loadTiles(
      "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r20, %r21}, [%r10];",
      meeting));
  EXPECT_EQ(two.message, "");
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    uint32_t group = lane / 4, place = 2 * (lane % 4);
    for (uint32_t tile = 0; tile < 4; ++tile) {
      uint32_t first = (3 - tile) * 64;
      uint32_t row = first + group * 8 + place;
      EXPECT_EQ(plain.words[4 * lane + tile], row | (row + 1) << 16);
      uint32_t column = first + place * 8 + group;
      EXPECT_EQ(turned.words[4 * lane + tile], column | (column + 8) << 16);
      EXPECT_EQ(two.words[4 * lane + tile],
                tile < 2 ? row | (row + 1) << 16 : 0);
    }
  }
}

TEST(Matrix, LoadsAreOrderedAndAligned) {
  std::string load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
                     "{%r20, %r21, %r22, %r23}, [%r10];";
  Loaded early = runLoad(loadTiles(load, ""));
  EXPECT_NE(early.message.find("load that is not ordered after a store"),
            std::string::npos)
      << early.message;
  Loaded odd = runLoad(loadTiles("add.s32 %r10, %r10, 8;\n" + load, meeting));
  EXPECT_NE(odd.message.find("not aligned"), std::string::npos) << odd.message;
  Loaded beyond =
      runLoad(loadTiles("add.s32 %r10, %r10, 64;\n" + load, meeting));
  EXPECT_NE(beyond.message.find("outside of shared memory"), std::string::npos)
      << beyond.message;
}

} // namespace
} // namespace tfc::emulator
