// Which of the layers of a stack come again in turn.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/LayerPeriods.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

using namespace tfc::spec;

namespace {

std::vector<size_t> kindsOf(const std::string &letters) {
  return std::vector<size_t>(letters.begin(), letters.end());
}

/// "a*3 (ab)*2" for a loop over three layers and one over two pairs.
std::string periodsOf(const std::string &letters) {
  std::string text;
  size_t next = 0;
  for (const LayerPeriod &loop : findPeriods(kindsOf(letters))) {
    std::string body = letters.substr(next, loop.period);
    text += text.empty() ? "" : " ";
    text += loop.period > 1 ? "(" + body + ")" : body;
    text += loop.trips > 1 ? "*" + std::to_string(loop.trips) : "";
    next += loop.period * loop.trips;
  }
  EXPECT_EQ(next, letters.size());
  return text;
}

/// The fewest layers in all bodies, by trying everything.
size_t fewestBodies(const std::string &letters) {
  size_t best = letters.size();
  for (size_t period = 1; period <= letters.size(); ++period) {
    for (size_t end = period; end <= letters.size(); end += period) {
      if (letters.compare(end - period, period, letters, 0, period) != 0) {
        break;
      }
      best = std::min(best, period + fewestBodies(letters.substr(end)));
    }
  }
  return best;
}

} // namespace

TEST(LayerPeriods, EqualLayersAreALoopOverOne) {
  EXPECT_EQ(periodsOf(""), "");
  EXPECT_EQ(periodsOf("a"), "a");
  EXPECT_EQ(periodsOf("aaaaaa"), "a*6");
  EXPECT_EQ(periodsOf("aaabbb"), "a*3 b*3");
}

TEST(LayerPeriods, WhatComesAgainIsAPeriod) {
  EXPECT_EQ(periodsOf("abab"), "(ab)*2");
  EXPECT_EQ(periodsOf("aaabaaabaaab"), "(aaab)*3");
  EXPECT_EQ(periodsOf("abcabcabc"), "(abc)*3");
}

TEST(LayerPeriods, OnceIsNoPeriod) {
  EXPECT_EQ(periodsOf("ab"), "a b");
  EXPECT_EQ(periodsOf("aba"), "a b a");
  EXPECT_EQ(periodsOf("abcd"), "a b c d");
}

TEST(LayerPeriods, PrologueAndEpilogue) {
  EXPECT_EQ(periodsOf("xababab"), "x (ab)*3");
  EXPECT_EQ(periodsOf("abababx"), "(ab)*3 x");
  EXPECT_EQ(periodsOf("xxxabababyy"), "x*3 (ab)*3 y*2");
  // A dense first layer in front of those that are dense in turn.
  EXPECT_EQ(periodsOf("aabababab"), "a (ab)*4");
  EXPECT_EQ(periodsOf("aaabaabaab"), "a (aab)*3");
}

TEST(LayerPeriods, ThePeriodComesBeforeWhatItLeaves) {
  EXPECT_EQ(periodsOf("ababa"), "(ab)*2 a");
  EXPECT_EQ(periodsOf("aaabaaabaaabaa"), "(aaab)*3 a*2");
}

TEST(LayerPeriods, NoLoopWhereItSavesNothing) {
  EXPECT_EQ(periodsOf("aabbaabb"), "a*2 b*2 a*2 b*2");
  EXPECT_EQ(periodsOf("aabbaabbaabb"), "(aabb)*3");
}

TEST(LayerPeriods, TwoPeriods) {
  EXPECT_EQ(periodsOf("abababcacaca"), "(ab)*3 (ca)*3");
}

TEST(LayerPeriods, ABodyHasAnEnd) {
  std::string turn;
  for (char letter = 1; letter <= 64; ++letter) {
    turn += letter;
  }
  EXPECT_EQ(findPeriods(kindsOf(turn + turn)).size(), 1u);
  turn += char(65);
  EXPECT_EQ(findPeriods(kindsOf(turn + turn)).size(), 130u);
}

TEST(LayerPeriods, FewestOfAll) {
  std::mt19937 draw(7);
  for (int round = 0; round < 300; ++round) {
    std::string letters;
    for (size_t count = draw() % 13; letters.size() < count;) {
      letters += char('a' + draw() % 3 % 2);
    }
    size_t bodies = 0;
    for (const LayerPeriod &loop : findPeriods(kindsOf(letters))) {
      bodies += loop.period;
    }
    EXPECT_EQ(bodies, fewestBodies(letters)) << letters;
  }
}
