// Reads the command line of tfc-run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/CommandLine.h"

#include <charconv>
#include <functional>
#include <map>
#include <set>

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
  --version             print the version and stop
  --help                print this and stop

Exit status: 0 ok, 1 bad input, 2 bad command line, 70 a fault of tfc.
)";

namespace {

std::optional<int64_t> parseInteger(const std::string &text) {
  int64_t value = 0;
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) {
    return std::nullopt;
  }
  return value;
}

class Reader {
public:
  CommandLine line;

  Reader() {
    auto text = [](std::string &target) {
      return [&target](const std::string &value) {
        target = value;
        return !value.empty();
      };
    };
    options = {
        {"--weights", {"a path", text(line.weights)}},
        {"--packed", {"a path", text(line.packed)}},
        {"--inputs", {"a path", text(line.inputs)}},
        {"--outputs", {"a path", text(line.outputs)}},
        {"--program", {"a name", text(line.program)}},
        {"--threads",
         {"an integer from 1 to 1024",
          [this](const std::string &value) { return readThreads(value); }}},
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

  void read(const std::vector<std::string> &arguments) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      const std::string &argument = arguments[i];
      if (argument.rfind("--", 0) != 0) {
        readLibrary(argument);
        continue;
      }
      size_t equals = argument.find('=');
      std::string name = argument.substr(0, equals);
      auto flag = flags.find(name);
      if (flag != flags.end() && equals == std::string::npos) {
        *flag->second = true;
        continue;
      }
      auto option = options.find(name);
      if (option == options.end()) {
        fault("expected an option of tfc-run, got " + argument);
        continue;
      }
      std::optional<std::string> value;
      if (equals != std::string::npos) {
        value = argument.substr(equals + 1);
      } else if (i + 1 < arguments.size()) {
        value = arguments[++i];
      }
      readValue(name, option->second, value);
    }
    if (!line.help && !line.version) {
      checkAll();
    }
  }

private:
  struct Option {
    const char *expected;
    std::function<bool(const std::string &)> read;
  };

  void fault(const std::string &text) { line.faults.push_back(text); }

  void readLibrary(const std::string &argument) {
    if (!line.library.empty()) {
      fault("expected one library, got " + line.library + " and " + argument);
    }
    line.library = argument;
  }

  void readValue(const std::string &name, const Option &option,
                 const std::optional<std::string> &value) {
    if (!seen.insert(name).second) {
      fault(name + ": expected once, got twice");
    } else if (!value || !option.read(*value)) {
      fault(name + ": expected " + option.expected + ", got " +
            (!value || value->empty() ? "nothing" : *value));
    }
  }

  bool readThreads(const std::string &value) {
    std::optional<int64_t> count = parseInteger(value);
    bool isGood = count && *count >= 1 && *count <= 1024;
    line.threads = isGood ? static_cast<uint32_t>(*count) : 0;
    return isGood;
  }

  bool readCount(const std::string &value) {
    std::optional<int64_t> count = parseInteger(value);
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
          parseInteger(value.substr(begin, end - begin));
      if (!id || *id < 0) {
        return false;
      }
      line.eos->push_back(*id);
      begin = end + 1;
    }
    return true;
  }

  void checkAll() {
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

  std::map<std::string, Option> options;
  std::map<std::string, bool *> flags;
  std::set<std::string> seen;
};

} // namespace

CommandLine readCommandLine(const std::vector<std::string> &arguments) {
  Reader reader;
  reader.read(arguments);
  return std::move(reader.line);
}

} // namespace tfc::run
