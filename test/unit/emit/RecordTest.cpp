// Constants of C structs: each byte is set once, whatever the order.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/Record.h"

#include <gtest/gtest.h>

using namespace tfc;

namespace {
struct Inner {
  uint32_t first, second;
};
struct Outer {
  const char *name;
  uint32_t count, flags;
  Inner inner;
  int64_t limit;
  double factor;
};

Field innerOf(uint32_t first, uint32_t second) {
  return Record<Inner>("Inner")
      .set(&Inner::first, first)
      .set(&Inner::second, second)
      .finish();
}

/// All members but `limit`.
Record<Outer> almostAll() {
  Record<Outer> record("Outer");
  record.set(&Outer::factor, 1.0)
      .set(&Outer::inner, innerOf(3, 4))
      .set(&Outer::flags, 2)
      .set(&Outer::count, 1)
      .set(&Outer::name, Field::symbol("text"));
  return record;
}
} // namespace

TEST(Record, LiesInTheOrderOfTheStruct) {
  Field field = almostAll().set(&Outer::limit, -1).finish();
  ASSERT_EQ(field.fields.size(), 6u);
  EXPECT_EQ(field.fields[0].name, "text");
  EXPECT_EQ(field.fields[1].value, 1u);
  EXPECT_EQ(field.fields[2].value, 2u);
  ASSERT_EQ(field.fields[3].fields.size(), 2u);
  EXPECT_EQ(field.fields[3].fields[1].value, 4u);
  EXPECT_EQ(field.fields[4].value, ~uint64_t(0));
  EXPECT_EQ(field.fields[5].value, 0x3ff0000000000000u);
  EXPECT_EQ(sizeOf(field), sizeof(Outer));
}

TEST(Record, NamesTheBytesThatAreMissing) {
  EXPECT_EQ(almostAll().findFault(), "bytes 24 to 32 are not set");
  EXPECT_EQ(Record<Inner>("Inner").findFault(), "bytes 0 to 8 are not set");
  EXPECT_EQ(Record<Inner>("Inner").set(&Inner::first, 1).findFault(),
            "bytes 4 to 8 are not set");
}

TEST(Record, NamesTheBytesThatAreSetTwice) {
  EXPECT_EQ(almostAll().set(&Outer::count, 1).findFault(),
            "bytes 8 to 12 are set twice");
}

TEST(Record, NamesTheBytesThatAreOfAnotherSize) {
  // A pointer's place takes a struct of two pointers, which no type forbids.
  Field two = Field::record({Field::symbol("a"), Field::symbol("b")});
  EXPECT_EQ(Record<Outer>("Outer").set(&Outer::name, two).findFault(),
            "bytes 0 to 8 are set to something of another size");
}

TEST(Record, NamesTheBytesThatDoNotHoldTheirValue) {
  auto faultOf = [](auto first) {
    return Record<Inner>("Inner")
        .set(&Inner::first, first)
        .set(&Inner::second, 0)
        .findFault();
  };
  EXPECT_EQ(faultOf(-1), "bytes 0 to 4 do not hold their value");
  EXPECT_EQ(faultOf(int64_t(1) << 32), "bytes 0 to 4 do not hold their value");
  EXPECT_EQ(faultOf((int64_t(1) << 32) - 1), "");
  EXPECT_EQ(almostAll().set(&Outer::limit, ~uint64_t(0)).findFault(),
            "bytes 24 to 32 do not hold their value");
}
