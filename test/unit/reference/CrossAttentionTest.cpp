// What `encode` leaves in the cross cache and `step` reads there.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/reference/InterpretText.h"

#include <gtest/gtest.h>

using namespace tfc::reference;

namespace {

const std::string kCross =
    "!transformer.cache<cross, layers = 2, kv_heads = 1, head_dim = 1>";

/// An entry with the cross cache in place of its own.
std::string crossEntry(const std::string &body) {
  std::string text = Program::step(body);
  size_t begin = text.find("!transformer.cache<");
  text.replace(begin, text.find('>', begin) - begin + 1, kCross);
  return text;
}

/// Keys 1 and values 4 * id of the first layer; keys and values 0 of the other.
std::string encode() {
  return crossEntry(R"(
    %table = arith.constant dense<[[1.0, 0.0], [1.0, 4.0], [1.0, 8.0]]>
      : tensor<3x2xf32>
    %x = transformer.embedding %ids, %table : tensor<?xi32>, tensor<3x2xf32>
    %k = transformer.slice_columns %x[0, 1] : tensor<?x2xf32>
    %v = transformer.slice_columns %x[1, 1] : tensor<?x2xf32>
    %none = transformer.scale %k by 0.0 : tensor<?x1xf32>
    transformer.cache_write %k, %v into %cache[%c0], %batch
      : tensor<?x1xf32>, tensor<?x1xf32>, )" +
                    kCross + R"(
    transformer.cache_write %none, %none into %cache[%c1], %batch
      : tensor<?x1xf32>, tensor<?x1xf32>, )" +
                    kCross);
}

/// Attends to the given layer with zero queries: the mean of its values.
std::string attend(const std::string &layer) {
  return crossEntry(R"(
    %table = arith.constant dense<0.0> : tensor<1x1xf32>
    %q = transformer.embedding %ids, %table : tensor<?xi32>, tensor<1x1xf32>
    %y = transformer.cross_attention %q, %cache[)" +
                    layer + R"(], %batch heads 1 {scale = 1.0 : f64}
      : tensor<?x1xf32>, )" +
                    kCross + R"(
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<?x1xf32>
    })");
}

/// A cache in which sequence 5 has the ids 0, 1, 2 and sequence 6 the id 1.
Cache encoded() {
  Program program(encode());
  Step step;
  step.inputs["ids"] = {1, 0, 1, 2};
  step.sequences = {{6, 0, 1, 0, 1}, {5, 1, 3, 0, 3}};
  program.run(step);
  EXPECT_TRUE(program.messages.empty());
  return program.cache;
}

TEST(CrossAttention, EachTokenSeesAllOfItsSequence) {
  Step step;
  step.inputs["ids"] = {0, 0, 0};
  step.sequences = {{5, 0, 2, 0, 2, 3}, {6, 2, 1, 0, 1, 1}};
  Program first(attend("%c0"));
  first.cache = encoded();
  expectMatrix(first.run(step)["y"], 3, 1, {4, 4, 4});
  EXPECT_EQ(first.attentions,
            (std::vector<std::string>{"cross 0 0 0 0: 0.333 0.333 0.333",
                                      "cross 0 1 0 0: 0.333 0.333 0.333",
                                      "cross 0 2 0 0: 1.000"}));
  Program second(attend("%c1"));
  second.cache = encoded();
  expectMatrix(second.run(step)["y"], 3, 1, {0, 0, 0});
}

TEST(CrossAttention, DividesTheScaleByTheLayerFromOne) {
  Program write(crossEntry(R"(
    %table = arith.constant dense<[[0.0, 0.0], [1.0, 4.0], [2.0, 8.0]]>
      : tensor<3x2xf32>
    %x = transformer.embedding %ids, %table : tensor<?xi32>, tensor<3x2xf32>
    %k = transformer.slice_columns %x[0, 1] : tensor<?x2xf32>
    %v = transformer.slice_columns %x[1, 1] : tensor<?x2xf32>
    transformer.cache_write %k, %v into %cache[%c1], %batch
      : tensor<?x1xf32>, tensor<?x1xf32>, )" +
                           kCross));
  Step step;
  step.inputs["ids"] = {0, 1, 2};
  step.sequences = {{5, 0, 3, 0, 3}};
  write.run(step);
  // The scale of layer 1 is ln 2: weights of 1, 2 and 4 sevenths.
  Program read(crossEntry(R"(
    %table = arith.constant dense<1.0> : tensor<1x1xf32>
    %q = transformer.embedding %ids, %table : tensor<?xi32>, tensor<1x1xf32>
    %y = transformer.cross_attention %q, %cache[%c1], %batch heads 1
      scale_by_inverse_layer {scale = 1.3862943611198906 : f64}
      : tensor<?x1xf32>, )" +
                          kCross + R"(
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<?x1xf32>
    })"));
  read.cache = write.cache;
  step.inputs["ids"] = {0};
  step.sequences = {{5, 0, 1, 0, 1, 3}};
  expectMatrix(read.run(step)["y"], 1, 1, {40.0 / 7});
}

TEST(CrossAttention, SeesAsManyPositionsAsTheStepSays) {
  Program program(attend("%c0"));
  program.cache = encoded();
  Step step;
  step.inputs["ids"] = {0};
  step.sequences = {{5, 0, 1, 7, 8, 2}};
  expectMatrix(program.run(step)["y"], 1, 1, {2});
}

TEST(CrossAttention, RefusesWhatWasNotEncoded) {
  Program program(attend("%c0"));
  program.cache = encoded();
  Step step;
  step.inputs["ids"] = {0};
  step.sequences = {{5, 0, 1, 0, 1, 4}};
  EXPECT_TRUE(program.run(step).empty());
  program.cache.drop(5);
  step.sequences = {{5, 0, 1, 0, 1, 3}};
  EXPECT_TRUE(program.run(step).empty());
  EXPECT_EQ(program.messages,
            (std::vector<std::string>{
                "expected sequence 5 to attend to 1 to 3 encoded positions, "
                "got 4",
                "expected sequence 5 to attend to 1 to 0 encoded positions, "
                "got 3"}));
}

} // namespace
