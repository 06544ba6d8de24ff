// Reads the command line of tfc-bench.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/BenchCommandLine.h"

#include "runtime/tools/OptionReader.h"

namespace tfc::bench {

const char *const helpText =
    R"(usage: tfc-bench MODEL.so (--weights DIR | --packed FILE | --random) [options]

Measures a compiled model: time, and the share of what this machine can do at
most, which is measured between the repetitions. Of a GPU: also the time of its
kernels alone, by its own clock, and the bytes that it copies a second.

  MODEL.so              a library that tfc compile wrote
  --weights PATH        a Hugging Face folder, or a .safetensors file
  --packed FILE         packed weights, as in tfc-run
  --random              weights of no meaning, made up
  --workload W          may be given several times; instead of the defaults:
                        encode:LENGTHS   a forward pass, all outputs
                        prefill:LENGTHS  whole prompts, logits of the last token
                        decode:LENGTHS   a token a sequence, after LENGTHS
                                         earlier ones
                        generate:LENGTHS+NEW
                                         requests served together: whole prompts,
                                         then NEW tokens a sequence
                        LENGTHS is 4x128, or a list: 12,128,33; those of an
                        encoder-decoder are of its sources, and in prefill and
                        decode of what its decoder has, too
  --format F            table (default), json or csv
  --ops                 also the time of each op, of a device of each kernel,
                        from further repetitions (not of generate, which is many
                        steps)
  --trace FILE          what each worker does in a step, for Perfetto (likewise)
  --html FILE           a page with pictures: times beside what the machine
                        allows, memory, what each worker does; with --ops
  --inputs FILE         a .safetensors file with inputs, as in tfc-run, and
  --reference FILE      what another program gave for them: how well both agree
  --threads N           instead of one a CPU that this process may use
  --program NAME        instead of the best one for this machine; cpu, cuda: the
                        best one of those; cuda:1: on the device of that number
  --warmup N            runs before the first that counts (default 2)
  --repeats N           runs that count (default 20)
  --max-seconds S       stops a workload after this time, and 3 repetitions at
                        the least (default 20)
  --version             print the version and stop
  --print-completion bash|zsh|fish
                        print what completes this command line in that shell,
                        and stop
  --help                print this and stop

Exit status: 0 ok, 1 bad input, 2 bad command line, 70 a fault of tfc.
)";

namespace {

class Reader : public tools::OptionReader {
public:
  CommandLine line;

  Reader()
      : OptionReader("tfc-bench", helpText, line.library, line.completion,
                     line.faults) {
    options = {
        {"--weights", {"a path", readText(line.weights)}},
        {"--packed", {"a path", readText(line.packed)}},
        {"--trace", {"a path", readText(line.trace)}},
        {"--html", {"a path", readText(line.html)}},
        {"--inputs", {"a path", readText(line.inputs)}},
        {"--reference", {"a path", readText(line.reference)}},
        {"--program", {"a name", readText(line.program)}},
        {"--threads",
         {"an integer from 1 to 1024", readNumber(line.threads, 1, 1024)}},
        {"--warmup",
         {"an integer from 0 to 1000", readNumber(line.warmup, 0, 1000)}},
        {"--repeats",
         {"an integer from 1 to 100000", readNumber(line.repeats, 1, 100000)}},
        {"--max-seconds",
         {"a number of seconds", readNumber(line.maxSeconds, 0, 86400)}},
        {"--format",
         {"table, json or csv",
          [this](const std::string &value) { return readFormat(value); }}},
        {"--workload",
         {"a workload (decode:4x128)",
          [this](const std::string &value) { return readWorkload(value); },
          /*mayRepeat=*/true}},
    };
    flags = {{"--random", &line.random},
             {"--ops", &line.ops},
             {"--help", &line.help},
             {"--version", &line.version}};
  }

private:
  bool readFormat(const std::string &value) {
    static const std::map<std::string, Format> formats = {
        {"table", Format::Table}, {"json", Format::Json}, {"csv", Format::Csv}};
    auto found = formats.find(value);
    if (found != formats.end()) {
      line.format = found->second;
    }
    return found != formats.end();
  }

  bool readWorkload(const std::string &value) {
    std::optional<Workload> workload = parseWorkload(value);
    if (workload) {
      line.workloads.push_back(std::move(*workload));
    }
    return workload.has_value();
  }

  void checkAll() override {
    line.ops |= !line.html.empty();
    if (line.library.empty()) {
      fault("expected a compiled model, got none");
    }
    bool isGiven = seen.count("--weights") || seen.count("--packed");
    if (line.random == isGiven) {
      fault(std::string("expected either --random, or --weights or --packed, "
                        "got ") +
            (line.random ? "both" : "none"));
    }
    if (seen.count("--inputs") != seen.count("--reference")) {
      fault(std::string("expected --inputs and --reference together, got ") +
            (seen.count("--inputs") ? "--inputs" : "--reference") + " alone");
    }
    if (line.random && seen.count("--reference")) {
      fault("expected --weights or --packed with --reference (random weights "
            "agree with nothing), got --random");
    }
  }
};

} // namespace

CommandLine readCommandLine(const std::vector<std::string> &arguments) {
  Reader reader;
  reader.read(arguments);
  return std::move(reader.line);
}

} // namespace tfc::bench
