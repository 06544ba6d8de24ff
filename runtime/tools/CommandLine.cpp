// Reads the command line of tfc-run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/CommandLine.h"

#include "runtime/tools/OptionReader.h"

namespace tfc::run {

const char *const helpText =
    R"(usage: tfc-run MODEL.so --weights DIR --inputs FILE --outputs FILE [options]

Runs a compiled model once over a batch, or generates with it.

  MODEL.so              a library that tfc compile wrote
  --weights PATH        a Hugging Face folder, or a .safetensors file
  --packed FILE         packed weights: mapped if the file exists, and then
                        --weights may be left out; otherwise written
  --inputs FILE         safetensors: int32 or int64 tensors [batch, length],
                        input_ids and, where the model has them,
                        attention_mask, token_type_ids, position_ids
  --outputs FILE        safetensors to write: the model's outputs (float32), or
                        sequences (int64) with --generate
  --generate            generate greedily, as Hugging Face's generate does
  --max-new-tokens N    with --generate: at most N tokens a row
  --eos ID[,ID...]|none with --generate: tokens that end a row, instead of the
                        model's
  --threads N           instead of one a CPU that this process may use
  --program NAME        instead of the best one for this machine
  --version             print the version and stop; with MODEL.so also its
                        programs, and which one is in use on this machine
  --help                print this and stop

Exit status: 0 ok, 1 bad input, 2 bad command line, 70 a fault of tfc.
)";

namespace {

class Reader : public tools::OptionReader {
public:
  CommandLine line;

  Reader() : OptionReader("tfc-run", line.library, line.faults) {
    options = {
        {"--weights", {"a path", readText(line.weights)}},
        {"--packed", {"a path", readText(line.packed)}},
        {"--inputs", {"a path", readText(line.inputs)}},
        {"--outputs", {"a path", readText(line.outputs)}},
        {"--program", {"a name", readText(line.program)}},
        {"--threads",
         {"an integer from 1 to 1024", readNumber(line.threads, 1, 1024)}},
        {"--max-new-tokens",
         {"an integer from 1 on",
          [this](const std::string &value) { return readCount(value); }}},
        {"--eos",
         {"token ids or none",
          [this](const std::string &value) { return readEos(value); }}},
    };
    flags = {{"--generate", &line.generate},
             {"--help", &line.help},
             {"--version", &line.version}};
  }

private:
  bool readCount(const std::string &value) {
    std::optional<int64_t> count = tools::parseNumber<int64_t>(value);
    line.maxNewTokens = count.value_or(0);
    return line.maxNewTokens >= 1;
  }

  bool readEos(const std::string &value) {
    line.eos.emplace();
    if (value == "none") {
      return true;
    }
    for (size_t begin = 0; begin <= value.size();) {
      size_t end = std::min(value.find(',', begin), value.size());
      std::optional<int64_t> id =
          tools::parseNumber<int64_t>(value.substr(begin, end - begin));
      if (!id || *id < 0) {
        return false;
      }
      line.eos->push_back(*id);
      begin = end + 1;
    }
    return true;
  }

  void checkAll() override {
    if (line.library.empty()) {
      fault("expected a compiled model, got none");
    }
    for (const char *name : {"--weights", "--inputs", "--outputs"}) {
      bool isPacked = name == std::string("--weights") && !line.packed.empty();
      if (!seen.count(name) && !isPacked) {
        fault(std::string(name) + ": expected a path, got nothing");
      }
    }
    if (line.generate && !seen.count("--max-new-tokens")) {
      fault("--max-new-tokens: expected with --generate, got nothing");
    }
    for (const char *name : {"--max-new-tokens", "--eos"}) {
      if (!line.generate && seen.count(name)) {
        fault(std::string(name) + ": expected with --generate only");
      }
    }
  }
};

} // namespace

CommandLine readCommandLine(const std::vector<std::string> &arguments) {
  Reader reader;
  reader.read(arguments);
  return std::move(reader.line);
}

} // namespace tfc::run
