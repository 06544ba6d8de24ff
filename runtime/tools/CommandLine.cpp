// Reads the command line of tfc-run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/CommandLine.h"

#include "runtime/tools/OptionReader.h"

#include <algorithm>

namespace tfc::run {

const char *const helpText =
    R"(usage: tfc-run MODEL.so --weights DIR --text TEXT [options]
       tfc-run MODEL.so --weights DIR --inputs FILE --outputs FILE [options]

Answers texts with a compiled model, or runs it over a batch of token ids.

  MODEL.so              a library that tfc compile wrote
  --weights PATH        a Hugging Face folder, or a .safetensors or .gguf file;
                        may be repeated for more tensors of the same checkpoint
  --packed FILE         packed weights: read if the file exists, and then
                        --weights may be left out; otherwise written; that it
                        cannot be is a warning
  --share-packed        map that file instead of reading it: processes that do
                        so share its memory, and nobody may change it meanwhile
  --text TEXT           may be repeated; - reads texts from standard input, one
                        a line. Text on standard output: what a decoder writes
                        as it comes; the classes, spans or embeddings of others
  --pair TEXT           the second text of a pair (the context of a question);
                        as often as --text
  --tokenizer PATH      a tokenizer.json, or a folder with one or with its
                        vocabulary; without it DIR's
  --output-tokenizer PATH
                        for what is generated, if that has another vocabulary
  --truncate            cut texts that are longer than the model's positions
                        (of a pair the second one); otherwise they are an error
  --json                a line of JSON for each text
  --inputs FILE         safetensors: int32 or int64 tensors [batch, length],
                        input_ids and, where the model has them,
                        attention_mask, token_type_ids, position_ids,
                        decoder_input_ids, decoder_attention_mask; of
                        pictures float32 patches [batch, length, width]
  --outputs FILE        safetensors to write: the model's outputs (float32), or
                        with --generate sequences (int64) and, with beams,
                        sequences_scores (float32)
  --generate            generate, as Hugging Face's generate does
  --progress auto|always|never
                        what takes a second, on standard error: if that is a
                        terminal (auto)
  --threads N           instead of one a CPU that this process may use
  --program NAME        instead of the best one for this machine; cpu, cuda: the
                        best one of those; cuda:1: on the device of that number
  --self-test           run every program that this machine has (or that of
                        --program) over drawn token ids, with drawn weights or
                        those of --weights, compare it with the CPU's, and print
                        a line a case
  --silence SECONDS     with --self-test: end when a device gives no value for
                        so long (without it, wait)
  --version             print the version and stop; with MODEL.so also its
                        programs, and which one is in use on this machine
  --print-completion bash|zsh|fish
                        print what completes this command line in that shell,
                        and stop
  --help                print this and stop

With --generate, or --text and a model that generates:
  --max-new-tokens N    at most N tokens a row; must be given with --generate,
                        256 with --text
  --eos ID[,ID...]|none tokens that end a row
  --max-drafts N        guess up to N next tokens of a row by what its text has
                        said before, and take those that come: the same text in
                        fewer steps where it repeats itself; 0 (default): off
  --draft-library MODEL.so
                        a smaller model with the same vocabulary, whose likeliest
                        tokens are guessed instead (--max-drafts: 8)
  --draft-weights PATH  its weights, as --weights
  --beams N             beam search; 1: the likeliest token
  --early-stopping true|false|never
                        end it with N finished sequences; when the best one at
                        its length is no better; when none can become better
  --length-penalty X    scores are divided by the X-th power of the length
  --return-sequences N  of beams or draws: so many rows for every prompt
  --sample true|false   draw tokens
  --seed N              of the draws; equal seeds, equal texts
  --temperature X       logits are divided by X before a draw
  --top-k N             draw among the N likeliest tokens; 0: all
  --top-p X             among the likeliest with a probability of X together
  --min-p X             among those X times as likely as the likeliest
  --repetition-penalty X
                        logits of tokens that are there are divided by X
  --presence-penalty X  logits of new tokens that are there are X less
  --frequency-penalty X the same, as often as they are there
  --no-repeat-ngram N   n-grams of N tokens come once; 0: off
  --min-length N        no end before N tokens, prompt included
  --min-new-tokens N    no end before N new tokens
  --timestamp-begin ID  tokens from this one on are times, which come in pairs
                        and never go back, as Whisper has them; 0 (default): off
  --max-initial-timestamp N
                        the first time is at most N behind the first; -1: any
What is not given is the model's own.

Exit status: 0 ok, 1 bad input, 2 bad command line, 70 a fault of tfc.
)";

namespace {

class Reader : public tools::OptionReader {
public:
  CommandLine line;

  Reader()
      : OptionReader("tfc-run", helpText, line.library, line.completion,
                     line.faults) {
    options = {
        {"--weights",
         {"a path",
          [this](const std::string &value) { return readWeights(value); },
          true}},
        {"--packed", {"a path", readText(line.packed)}},
        {"--inputs", {"a path", readText(line.inputs)}},
        {"--outputs", {"a path", readText(line.outputs)}},
        {"--program", {"a name", readText(line.program)}},
        {"--text", {"a text", addText(line.texts), true}},
        {"--pair", {"a text", addText(line.pairs), true}},
        {"--tokenizer", {"a path", readText(line.tokenizer)}},
        {"--output-tokenizer", {"a path", readText(line.outputTokenizer)}},
        {"--threads",
         {"an integer from 1 to 1024", readNumber(line.threads, 1, 1024)}},
        {"--silence",
         {"a number of seconds", readNumber(line.silenceSeconds, 0, 86400)}},
        {"--progress",
         {"auto, always or never",
          [this](const std::string &value) {
            return tools::parseProgress(value, line.progress);
          }}},
        {"--max-new-tokens",
         {"an integer from 1 on",
          [this](const std::string &value) { return readCount(value); }}},
        {"--eos",
         {"token ids or none",
          [this](const std::string &value) { return readEos(value); }}},
    };
    flags = {
        {"--generate", &line.generate}, {"--share-packed", &line.sharePacked},
        {"--json", &line.json},         {"--truncate", &line.truncate},
        {"--help", &line.help},         {"--version", &line.version},
        {"--self-test", &line.selfTest}};
    for (const auto &[name, option] : options) {
      common.insert(name);
    }
    common.erase("--max-new-tokens");
    common.erase("--eos");
    addDecoding();
  }

private:
  using Decoding = tfc_decoding_options;

  /// An option that sets a member of tfc_decoding_options.
  template <typename T>
  void add(const char *name, const char *expected, T Decoding::*member,
           double least, double most) {
    options[name] = {expected, [=](const std::string &value) {
                       T number = 0;
                       if (!readNumber(number, least, most)(value)) {
                         return false;
                       }
                       line.decoding.emplace_back(
                           [=](Decoding &to) { to.*member = number; });
                       return true;
                     }};
  }

  /// The same, whose words stand for 0, 1, ...
  void add(const char *name, const char *expected, uint32_t Decoding::*member,
           const std::vector<std::string> &words) {
    options[name] = {expected, [=](const std::string &value) {
                       auto found =
                           std::find(words.begin(), words.end(), value);
                       if (found == words.end()) {
                         return false;
                       }
                       auto number =
                           static_cast<uint32_t>(found - words.begin());
                       line.decoding.emplace_back(
                           [=](Decoding &to) { to.*member = number; });
                       return true;
                     }};
  }

  void addDecoding() {
    constexpr double most = 2147483647, least = 1e-6, huge = 1e6;
    const char *fromZero = "an integer from 0 on";
    const char *share = "a number from 0 to 1";
    const char *positive = "a number above 0";
    options["--draft-library"] = {"a path", readText(line.draftLibrary)};
    options["--draft-weights"] = {"a path", readText(line.draftWeights)};
    options["--max-drafts"] = {"an integer from 0 to 64",
                               readNumber(line.maxDrafts, 0, 64)};
    add("--beams", "an integer from 1 to 1024", &Decoding::num_beams, 1, 1024);
    add("--return-sequences", "an integer from 1 on",
        &Decoding::num_return_sequences, 1, most);
    add("--early-stopping", "true, false or never", &Decoding::early_stopping,
        {"false", "true", "never"});
    add("--sample", "true or false", &Decoding::do_sample, {"false", "true"});
    add("--length-penalty", "a number", &Decoding::length_penalty, -huge, huge);
    add("--seed", fromZero, &Decoding::seed, 0, 9e18);
    add("--temperature", positive, &Decoding::temperature, least, huge);
    add("--top-k", fromZero, &Decoding::top_k, 0, most);
    add("--top-p", share, &Decoding::top_p, 0, 1);
    add("--min-p", share, &Decoding::min_p, 0, 1);
    add("--repetition-penalty", positive, &Decoding::repetition_penalty, least,
        huge);
    add("--presence-penalty", "a number", &Decoding::presence_penalty, -huge,
        huge);
    add("--frequency-penalty", "a number", &Decoding::frequency_penalty, -huge,
        huge);
    add("--no-repeat-ngram", fromZero, &Decoding::no_repeat_ngram, 0, most);
    add("--min-length", fromZero, &Decoding::min_length, 0, most);
    add("--min-new-tokens", fromZero, &Decoding::min_new_tokens, 0, most);
    add("--timestamp-begin", fromZero, &Decoding::timestamp_begin, 0, most);
    add("--max-initial-timestamp", "an integer from -1 on",
        &Decoding::max_initial_timestamp, -1, most);
  }

  /// Texts may be empty.
  static Read addText(std::vector<std::string> &to) {
    return [&to](const std::string &value) {
      to.push_back(value);
      return true;
    };
  }

  /// The tokenizer and such are those of the first.
  bool readWeights(const std::string &value) {
    if (line.weights.empty()) {
      line.weights = value;
    } else {
      line.moreWeights.push_back(value);
    }
    return !value.empty();
  }

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
    if (line.selfTest) {
      checkSelfTest();
      return;
    }
    if (seen.count("--silence")) {
      fault("--silence: expected with --self-test only");
    }
    bool isText = seen.count("--text") != 0;
    for (const char *name : {"--weights", "--inputs", "--outputs"}) {
      bool isWeights = name == std::string("--weights");
      bool isNeeded = isWeights ? line.packed.empty() : !isText;
      if (!seen.count(name) && isNeeded) {
        fault(std::string(name) + ": expected a path, got nothing");
      }
      if (seen.count(name) && !isWeights && isText) {
        fault(std::string(name) + ": expected without --text only");
      }
    }
    checkText(isText);
    if (line.generate && !seen.count("--max-new-tokens")) {
      fault("--max-new-tokens: expected with --generate, got nothing");
    }
    if (line.draftLibrary.empty() != line.draftWeights.empty()) {
      fault("--draft-library: expected with --draft-weights, got one of them");
    }
    if (line.sharePacked && line.packed.empty()) {
      fault("--share-packed: expected with --packed only");
    }
    for (const std::string &name : seen) {
      if (!line.generate && !isText && !common.count(name)) {
        fault(name + ": expected with --generate only");
      }
    }
  }

  /// It draws its inputs, and writes nothing.
  void checkSelfTest() {
    for (const char *name :
         {"--generate", "--share-packed", "--json", "--truncate"}) {
      if (*flags.at(name)) {
        fault(std::string(name) + ": expected without --self-test only");
      }
    }
    for (const std::string &name : seen) {
      if (name != "--weights" && name != "--program" && name != "--threads" &&
          name != "--self-test" && name != "--silence") {
        fault(name + ": expected without --self-test only");
      }
    }
  }

  /// What belongs to texts, and what a text needs.
  void checkText(bool isText) {
    for (const char *name : {"--pair", "--tokenizer", "--output-tokenizer"}) {
      if (!isText && seen.count(name)) {
        fault(std::string(name) + ": expected with --text only");
      }
    }
    if (!isText && (line.json || line.truncate)) {
      fault(std::string(line.json ? "--json" : "--truncate") +
            ": expected with --text only");
    }
    if (!isText) {
      return;
    }
    if (!line.pairs.empty() && line.pairs.size() != line.texts.size()) {
      fault("--pair: expected as often as --text, got " +
            std::to_string(line.pairs.size()) + " and " +
            std::to_string(line.texts.size()));
    }
    if (line.tokenizer.empty() && line.weights.empty()) {
      fault("--tokenizer: expected a path (there is no folder of weights to "
            "find one in), got nothing");
    }
  }

  std::set<std::string> common; // options that --generate does not need
};

} // namespace

tools::CompletedProgram describeCommandLine() { return Reader().describe(); }

CommandLine readCommandLine(const std::vector<std::string> &arguments) {
  Reader reader;
  reader.read(arguments);
  return std::move(reader.line);
}

} // namespace tfc::run
