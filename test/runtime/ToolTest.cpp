// tfc-run and the examples as processes: exit codes, messages, and files that
// appear whole or not at all.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/RerunModel.h"

#include <cstring>
#include <sys/wait.h>

namespace tfc::rt::test {
namespace {

struct Ran {
  int status = -1;
  std::string text; // both streams
};

Ran runShell(const std::string &command) {
  Ran ran;
  FILE *pipe = popen(command.c_str(), "r");
  if (!pipe) {
    return ran;
  }
  char buffer[4096];
  while (size_t size = fread(buffer, 1, sizeof(buffer), pipe)) {
    ran.text.append(buffer, size);
  }
  int state = pclose(pipe);
  ran.status = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
  return ran;
}

std::string quoted(const std::string &tool,
                   const std::vector<std::string> &arguments) {
  std::string command = "'" + tool + "'";
  for (const std::string &argument : arguments) {
    command += " '" + argument + "'";
  }
  return command + " 2>&1";
}

Ran runTool(const std::string &tool,
            const std::vector<std::string> &arguments) {
  return runShell(quoted(tool, arguments));
}

NamedTensor integers(const std::string &name, DType dtype, int64_t batch,
                     const std::vector<int64_t> &values) {
  NamedTensor tensor{name, dtype, {}, {}};
  tensor.shape = {batch, static_cast<int64_t>(values.size()) / batch};
  for (int64_t value : values) {
    for (uint32_t i = 0; i < dtypeBits(dtype) / 8; ++i) {
      tensor.bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
    }
  }
  return tensor;
}

class Tool : public ::testing::Test {
protected:
  void SetUp() override {
    std::filesystem::create_directory(folder / "weights");
    writeTensors(folder / "weights/model.safetensors", weights.stored());
    inputs = folder / "in.safetensors";
    outputs = folder / "out.safetensors";
  }

  std::vector<std::string> lineOf(const std::string &variant,
                                  const std::vector<std::string> &extra) {
    std::vector<std::string> line = {fakeLibrary(variant),
                                     "--weights",
                                     folder / "weights",
                                     "--inputs",
                                     inputs,
                                     "--outputs",
                                     outputs};
    line.insert(line.end(), extra.begin(), extra.end());
    return line;
  }

  Ran run(const std::string &variant,
          const std::vector<std::string> &extra = {}) {
    return runTool(TFC_RUN, lineOf(variant, extra));
  }

  bool wrote() const { return std::filesystem::exists(outputs); }

  Folder folder;
  FakeWeights weights;
  std::string inputs, outputs;
};

TEST_F(Tool, RunsAForwardPass) {
  Padded padded{2, 3, {4, 5, 6, 7, 8, 9}, {1, 1, 0, 1, 1, 1}, {}, {}};
  for (DType dtype : {DType::I32, DType::I64}) {
    writeTensors(inputs, {integers("input_ids", dtype, 2, padded.ids),
                          integers("attention_mask", dtype, 2, padded.mask)});
    Ran ran = run("encoder", {"--threads", "2", "--program", "plain"});
    EXPECT_EQ(ran.status, 0) << ran.text;
    EXPECT_EQ(ran.text, "");
    auto file = TensorFile::open(outputs);
    ASSERT_TRUE(file) << messageOf(file);
    ASSERT_EQ((*file)->tensors().size(), 3U);
    const Tensor *hidden = (*file)->find("last_hidden_state");
    ASSERT_TRUE(hidden);
    std::vector<float> got(hidden->elements());
    convertToF32(*hidden, 0, hidden->elements(), got.data());
    std::vector<double> expected = referenceState(weights, padded, false);
    std::fill_n(expected.begin() + 2 * width, width, 0.0);
    expectNear(got, expected);
  }
}

TEST_F(Tool, TakesWeightsOfSeveralPlaces) {
  std::vector<NamedTensor> tensors = weights.stored();
  std::string first = folder / "first.safetensors",
              rest = folder / "rest.safetensors";
  writeTensors(first, {tensors[0]});
  writeTensors(rest, {tensors.begin() + 1, tensors.end()});
  writeTensors(inputs, {integers("input_ids", DType::I64, 1, {4, 5, 6})});
  ASSERT_EQ(run("encoder").status, 0);
  std::string expected = readBytes(outputs);
  std::vector<std::string> line = lineOf("encoder", {"--weights", rest});
  line[2] = first;
  Ran ran = runTool(TFC_RUN, line);
  EXPECT_EQ(ran.status, 0) << ran.text;
  EXPECT_EQ(readBytes(outputs), expected);
  line[6] = rest; // outputs over weights
  EXPECT_EQ(runTool(TFC_RUN, line).status, 1);
}

TEST_F(Tool, Generates) {
  Padded padded{2, 3, {7, 8, 9, 10, 11, 12}, {}, {}, {}};
  writeTensors(inputs, {integers("input_ids", DType::I64, 2, padded.ids)});
  struct Case {
    std::vector<std::string> eos;
    std::vector<int64_t> tokens;
  };
  for (const Case &c : {Case{{}, {3, 5}}, Case{{"--eos", "none"}, {}},
                        Case{{"--eos=30,29"}, {30, 29}}}) {
    std::vector<std::string> extra = {"--generate", "--max-new-tokens", "8"};
    extra.insert(extra.end(), c.eos.begin(), c.eos.end());
    Ran ran = run("decoder", extra);
    EXPECT_EQ(ran.status, 0) << ran.text;
    auto file = TensorFile::open(outputs);
    ASSERT_TRUE(file) << messageOf(file);
    const Tensor *got = (*file)->find("sequences");
    ASSERT_TRUE(got && got->dtype == DType::I64);
    std::vector<int64_t> tokens(got->elements());
    std::memcpy(tokens.data(), got->data, got->bytes);
    EXPECT_EQ(tokens, referenceGenerate(weights, padded, c.tokens, 0, 8));
  }
}

TEST_F(Tool, GeneratesWithBeams) {
  Padded padded{2, 3, {7, 8, 9, 10, 11, 12}, {}, {}, {}};
  writeTensors(inputs, {integers("input_ids", DType::I64, 2, padded.ids)});
  std::vector<std::string> line = {"--generate", "--max-new-tokens=8",
                                   "--beams=3",  "--return-sequences=2",
                                   "--eos=none", "--length-penalty=2"};
  Ran ran = run("decoder", line);
  EXPECT_EQ(ran.status, 0) << ran.text;
  auto file = TensorFile::open(outputs);
  ASSERT_TRUE(file) << messageOf(file);
  tfc_decoding_options how = plainDecoding();
  how.num_beams = 3;
  how.num_return_sequences = 2;
  how.length_penalty = 2;
  auto model = loadFake("decoder", weights);
  auto expected = generateBy(*model, padded, 8, how, noEos);
  ASSERT_TRUE(expected) << messageOf(expected);
  const Tensor *got = (*file)->find("sequences");
  ASSERT_TRUE(got && got->dtype == DType::I64);
  EXPECT_EQ(got->shape, (std::vector<int64_t>{4, 11}));
  EXPECT_EQ(std::memcmp(got->data, expected->front().ints.data(), got->bytes),
            0);
  const Tensor *scores = (*file)->find("sequences_scores");
  ASSERT_TRUE(scores && scores->dtype == DType::F32);
  EXPECT_EQ(scores->shape, std::vector<int64_t>{4});
  // What only the model can refuse.
  line[3] = "--return-sequences=4";
  ran = run("decoder", line);
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.text, "tfc-run: error: num_return_sequences: expected at most "
                      "num_beams, got 4\n");
}

TEST_F(Tool, RunsAnEncoderDecoder) {
  std::vector<NamedTensor> source = {
      integers("input_ids", DType::I64, 1, {7, 8, 9}),
      integers("attention_mask", DType::I64, 1, {1, 1, 0})};
  EncodedSource encoded{{1, 3, {7, 8, 9}, {1, 1, 0}, {}, {}}, {}};
  Padded typed = encoded.padded;
  typed.types = {-1, -1, -1};
  encoded.states = referenceState(weights, typed, false);
  writeTensors(inputs, source);
  Ran ran = run("translator");
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.text, "tfc-run: error: " + inputs +
                          ": input \"decoder_input_ids\": expected a tensor, "
                          "got none\n");
  ran = run("translator", {"--generate", "--max-new-tokens", "6", "--eos=30"});
  EXPECT_EQ(ran.status, 0) << ran.text;
  auto file = TensorFile::open(outputs);
  ASSERT_TRUE(file) << messageOf(file);
  const Tensor *got = (*file)->find("sequences");
  ASSERT_TRUE(got);
  std::vector<int64_t> tokens(got->elements());
  std::memcpy(tokens.data(), got->data, got->bytes);
  EXPECT_EQ(tokens, referenceGenerate(weights, {1, 1, {2}, {}, {}, {}}, {30}, 0,
                                      6, &encoded));
  source.push_back(integers("decoder_input_ids", DType::I64, 1, {2, 4}));
  source.push_back(integers("decoder_attention_mask", DType::I64, 1, {1, 1}));
  writeTensors(inputs, source);
  ran = run("translator");
  EXPECT_EQ(ran.status, 0) << ran.text;
  file = TensorFile::open(outputs);
  ASSERT_TRUE(file) << messageOf(file);
  EXPECT_TRUE((*file)->find("logits"));
  EXPECT_TRUE((*file)->find("encoder_last_hidden_state"));
}

TEST_F(Tool, RefusesBadInputWithNothingWritten) {
  std::string where = "tfc-run: error: " + inputs + ": input ";
  Ran ran = run("encoder");
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.text, "tfc-run: error: " + inputs +
                          ": cannot be opened: No such file or directory\n");
  writeTensors(inputs, {integers("input_ids", DType::I16, 1, {4}),
                        {"labels", DType::I64, {1}, std::vector<uint8_t>(8)}});
  ran = run("encoder");
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(
      ran.text,
      where +
          "\"input_ids\": expected dtype I32 or I64, or F32 of patches, got "
          "I16\n" +
          where +
          "\"labels\": expected shape [batch, length], got "
          "[1]\n");
  writeTensors(inputs, {integers("input_ids", DType::I64, 1, {4, 99})});
  ran = run("encoder");
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.text, where + "\"input_ids\": expected values from 0 to 31, "
                              "got 99 at [0, 1]\n");
  writeTensors(inputs, {integers("input_ids", DType::I64, 1, {4, 5})});
  EXPECT_EQ(run("other_version").status, 1);
  EXPECT_EQ(run("missing").status, 1);
  EXPECT_EQ(run("encoder", {"--program", "fast"}).status, 1);
  EXPECT_EQ(run("decoder", {"--generate", "--max-new-tokens", "15"}).status, 1);
  ran = run("failing");
  EXPECT_EQ(ran.status, 70);
  EXPECT_NE(ran.text.find("expected status 0, got 7"), std::string::npos);
  std::filesystem::resize_file(folder / "weights/model.safetensors", 100);
  EXPECT_EQ(run("encoder").status, 1);
  EXPECT_FALSE(wrote());
  std::filesystem::create_directory(outputs);
  writeTensors(folder / "weights/model.safetensors", weights.stored());
  ran = run("encoder");
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.text, "tfc-run: error: " + outputs +
                          ": expected a regular file or none\n");
}

TEST_F(Tool, RefusesToOverwriteWhatItReads) {
  writeTensors(inputs, {integers("input_ids", DType::I64, 1, {4, 5})});
  std::string library = folder / "model.so", packed = folder / "packed";
  std::string stored = folder / "weights/model.safetensors";
  std::filesystem::copy_file(fakeLibrary("encoder"), library);
  std::filesystem::create_hard_link(stored, folder / "hard");
  std::filesystem::create_symlink(library, folder / "link");
  struct Case {
    std::string outputs, what, path;
  };
  for (const Case &c : {Case{library, "the library", library},
                        Case{folder / "link", "the library", library},
                        Case{inputs, "the inputs", inputs},
                        Case{packed, "the packed weights", packed},
                        Case{folder / "hard", "a file of the weights", stored},
                        Case{stored, "a file of the weights", stored}}) {
    bool wasThere = std::filesystem::exists(c.outputs);
    Ran ran =
        runTool(TFC_RUN, {library, "--weights", folder / "weights", "--inputs",
                          inputs, "--outputs", c.outputs, "--packed", packed});
    EXPECT_EQ(ran.status, 1);
    EXPECT_EQ(ran.text, "tfc-run: error: " + c.outputs +
                            ": expected a file for the outputs alone, got " +
                            c.what + " (" + c.path + ")\n");
    EXPECT_EQ(std::filesystem::exists(c.outputs), wasThere);
  }
  Ran ran = run("encoder", {"--packed", packed});
  EXPECT_EQ(ran.status, 0) << ran.text;
  EXPECT_EQ(run("encoder", {"--packed", packed, "--share-packed"}).text, "");
}

TEST_F(Tool, WarnsOfPackedWeightsThatAreNotWritten) {
  writeTensors(inputs, {integers("input_ids", DType::I64, 1, {4, 5})});
  std::string packed = folder / "packed";
  // 4 blocks are more than the outputs and less than the packed weights.
  Ran ran = runShell("ulimit -f 4; trap '' XFSZ; " +
                     quoted(TFC_RUN, lineOf("encoder", {"--packed", packed})));
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.text, "tfc-run: warning: " + packed +
                          ": cannot be written: File too large\n");
  EXPECT_TRUE(wrote());
  EXPECT_FALSE(std::filesystem::exists(packed));
}

TEST_F(Tool, ReadsItsCommandLine) {
  Ran ran = runTool(TFC_RUN, {});
  EXPECT_EQ(ran.status, 2);
  EXPECT_EQ(ran.text.find("tfc-run: error: expected a compiled model, got none "
                          "(see tfc-run --help)\n"),
            0U);
  ran = runTool(TFC_RUN, {"--help"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.text.find("usage: tfc-run MODEL.so"), 0U);
  ran = runTool(TFC_RUN, {"--version"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.text, concat("tfc-run ", tfc_version(), ", ABI version 10\n"));
}

TEST_F(Tool, SaysWhichProgramIsInUse) {
  std::string versions =
      concat("tfc-run ", tfc_version(), ", ABI version 10\n");
  std::string model = "model fake, made by hand\n";
  std::string future = "program future: this machine lacks an unknown "
                       "instruction set\n";
  Ran ran = runTool(TFC_RUN, {fakeLibrary("encoder"), "--version"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.text, versions + model +
                          "program plain: runs on this machine\n"
                          "program one feature: in use on this machine\n" +
                          future);
  ran = run("encoder", {"--version", "--program", "plain"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.text, versions + model +
                          "program plain: in use on this machine\n"
                          "program one feature: runs on this machine\n" +
                          future);
  ran = runTool(TFC_RUN, {fakeLibrary("future"), "--version"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.text, "tfc-run: error: " + fakeLibrary("future") +
                          ": expected a program that this machine runs, got "
                          "future; the machine lacks an unknown instruction "
                          "set\n");
}

TEST_F(Tool, ExamplesRun) {
  Padded padded{1, 4, {7, 8, 9, 10}, {}, {}, {}};
  std::vector<int64_t> all = referenceGenerate(weights, padded, {3, 5}, 0, 5);
  std::string tokens;
  for (size_t i = 4; i < all.size(); ++i) {
    tokens += std::to_string(all[i]) + (i + 1 < all.size() ? " " : "\n");
  }
  for (const char *example : {HELLO_TERSE, HELLO_EXPLAINED}) {
    Ran ran = runTool(example, {fakeLibrary("decoder"), folder / "weights"});
    EXPECT_EQ(ran.status, 0) << ran.text;
    EXPECT_EQ(ran.text.find("last_hidden_state of fake: "), 0U) << ran.text;
    EXPECT_EQ(ran.text.substr(ran.text.find('\n') + 1), tokens);
    EXPECT_EQ(
        runTool(example, {fakeLibrary("encoder"), folder / "weights"}).status,
        0);
    EXPECT_EQ(runTool(example, {"none.so", "none"}).status, 1);
  }
}

TEST_F(Tool, TheExampleOfASessionRuns) {
  Ran ran =
      runTool(HELLO_SESSION, {fakeLibrary("decoder"), folder / "weights"});
  EXPECT_EQ(ran.status, 0) << ran.text;
  // The fork begins behind the first sequence's first token.
  EXPECT_EQ(ran.text.find("1: "), 0U) << ran.text;
  EXPECT_NE(ran.text.find(", best "), std::string::npos) << ran.text;
  EXPECT_NE(ran.text.find("\n2: "), std::string::npos) << ran.text;
  EXPECT_NE(ran.text.find("\n3: "), std::string::npos) << ran.text;
  EXPECT_NE(ran.text.find("\n0 sequences, 0 of many bytes"), std::string::npos)
      << ran.text;
  EXPECT_EQ(runTool(HELLO_SESSION, {fakeLibrary("encoder"), folder / "weights"})
                .status,
            1);
  ran = runTool(HELLO_TURNS, {fakeLibrary("decoder"), folder / "weights"});
  EXPECT_EQ(ran.status, 0) << ran.text;
  EXPECT_NE(ran.text.find("\nanswer 3: "), std::string::npos) << ran.text;
  EXPECT_NE(ran.text.find("\nnext turn: "), std::string::npos) << ran.text;
  EXPECT_NE(ran.text.find("\n0 bytes of cache"), std::string::npos) << ran.text;
}

} // namespace
} // namespace tfc::rt::test
