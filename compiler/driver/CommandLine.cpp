// The command line of `tfc`: owns every option.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/CommandLine.h"

#include "compiler/driver/AttentionCommand.h"
#include "compiler/driver/Compile.h"
#include "compiler/driver/Completion.h"
#include "compiler/driver/DoctorCommand.h"
#include "compiler/driver/ExplainCommand.h"
#include "compiler/driver/Import.h"
#include "compiler/driver/Inspect.h"
#include "compiler/driver/InspectCosts.h"
#include "compiler/driver/PythonCommand.h"
#include "compiler/driver/QuantizeCommand.h"
#include "compiler/driver/ReadModel.h"
#include "compiler/driver/RunCommand.h"
#include "compiler/driver/RunWords.h"
#include "compiler/driver/StagesPage.h"
#include "compiler/driver/VerifyCommand.h"
#include "compiler/pipeline/Registration.h"
#include "compiler/pipeline/Road.h"
#include "runtime/src/files/Safetensors.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace {

using Text = cl::opt<std::string>;

/// All options. An object, so that nothing is registered before main runs.
struct CommandLine {
  cl::OptionCategory category{"tfc options"};

  cl::SubCommand importCommand{"import",
                               "make a spec of a Hugging Face directory"};
  cl::SubCommand compileCommand{
      "compile", "make a library of a spec or a Hugging Face directory"};
  cl::SubCommand runCommand{
      "run", "answer a text with the model of a Hugging Face directory"};
  cl::SubCommand specCommand{"spec", "check a spec; print its forms"};
  cl::SubCommand inspectCommand{"inspect", "what a model or a library holds"};
  cl::SubCommand verifyCommand{
      "verify", "compare a compiled model with the reference interpreter"};

  cl::SubCommand explainCommand{"explain",
                                "say of an op or a kernel where it comes from"};
  cl::SubCommand quantizeCommand{
      "quantize", "write a Hugging Face directory with matrices of integers"};
  cl::SubCommand doctorCommand{
      "doctor", "what of a model this machine runs, and whether it can"};

  cl::SubCommand attentionCommand{
      "attention", "write where a model looks: the probabilities of its "
                   "attentions"};
  // Those of the Python package, which reads their options.
  cl::SubCommand serveCommand{
      "serve", "answer requests over HTTP (needs the Python package)"};
  cl::SubCommand replayCommand{
      "replay", "compute a served answer again, by its receipt (needs the "
                "Python package)"};
  cl::SubCommand chatCommand{
      "chat", "talk with a model on the terminal (needs the Python package)"};
  cl::SubCommand compareCommand{
      "compare-batches", "whether answers depend on who else asks, of a model "
                         "or of any server (needs the Python package)"};
  cl::SubCommand transcribeCommand{
      "transcribe", "what is said in WAV files, and when (needs the Python "
                    "package)"};

  cl::opt<bool> force{"force",
                      cl::desc("replace a file that tfc did not write; an "
                               "input is never replaced"),
                      cl::sub(importCommand),
                      cl::sub(compileCommand),
                      cl::sub(specCommand),
                      cl::sub(inspectCommand),
                      cl::sub(attentionCommand),
                      cl::cat(category)};

  Text importDirectory{cl::Positional, cl::Optional, cl::desc("DIR"),
                       cl::sub(importCommand), cl::cat(category)};
  cl::opt<bool> list{
      "list", cl::desc("print the model types and classes that tfc imports"),
      cl::sub(importCommand), cl::cat(category)};
  Text importOutput{"o",
                    cl::desc("the spec to write; - is standard output"),
                    cl::value_desc("file"),
                    cl::init("-"),
                    cl::sub(importCommand),
                    cl::cat(category)};
  Text importTokenizer{
      "tokenizer",
      cl::desc("a tokenizer.json to write besides: the directory's own, or "
               "what its vocabulary stands for"),
      cl::value_desc("file"), cl::sub(importCommand), cl::cat(category)};
  Text importClass{
      "class",
      cl::desc("the class of transformers to read the directory as, in place "
               "of the one that config.json names"),
      cl::value_desc("name"), cl::sub(importCommand), cl::cat(category)};
  cl::opt<bool> strict{
      "strict",
      cl::desc("unknown config keys and unclaimed tensors are errors"),
      cl::sub(importCommand), cl::cat(category)};

  Text compileSpec{cl::Positional, cl::Required, cl::desc("SPEC|DIR"),
                   cl::sub(compileCommand), cl::cat(category)};
  Text compileOutput{
      "o",          cl::desc("the library to write"), cl::value_desc("file"),
      cl::Required, cl::sub(compileCommand),          cl::cat(category)};
  Text target{
      "target",
      cl::desc("what to compile for: cpu (this machine), cpu:x86-64-v3, "
               "cpu:x86-64-v4, cpu:x86-64-v4+bf16 and cpu:x86-64-v4+amx-bf16 "
               "(with --dtype bf16), cpu:x86-64-v3+avxvnni, "
               "cpu:x86-64-v4+vnni and cpu:x86-64-v4+amx-int8 (with --dtype "
               "int8 and int4), cpu:armv8-a (any 64-bit Arm; a library is of "
               "one kind of machine), cpu:armv8-a+dotprod and "
               "cpu:armv8-a+i8mm (with --dtype int8 "
               "and int4), cpu:rv64gcv (any 64-bit RISC-V with vectors), "
               "cpu:rv64gcv+zvl256b and cpu:rv64gcv+zvl512b (of registers that "
               "long), or LLVM's name of a CPU, as cpu:znver4 or "
               "cpu:neoverse-n1, which is its level with the tile sizes that "
               "are fast there (cpu:apple-m1: for macOS); cuda, which is "
               "cuda:sm_80, or a later architecture of NVIDIA's GPUs; "
               "several, with "
               "commas between, are as many programs of the library, "
               "of which the runtime takes the best that the machine "
               "runs. Without it, both levels with --opt full, that of "
               "this machine fast here; this machine's with none"),
      cl::value_desc("names"),
      cl::sub(compileCommand),
      cl::sub(runCommand),
      cl::sub(doctorCommand),
      cl::sub(explainCommand),
      cl::sub(inspectCommand),
      cl::sub(verifyCommand),
      cl::cat(category)};
  Text opt{"opt",
           cl::desc("how far to go: full (default), packed, tiled, vectors; "
                    "none, plain loops"),
           cl::value_desc("full|none"),
           cl::init("full"),
           cl::sub(compileCommand),
           cl::sub(runCommand),
           cl::sub(doctorCommand),
           cl::sub(explainCommand),
           cl::sub(inspectCommand),
           cl::sub(verifyCommand),
           cl::cat(category)};
  Text dtype{"dtype",
             cl::desc("what matrices are kept in: f32, f16 or bf16, rounded "
                      "where the checkpoint has more bits; without it as "
                      "the spec says, which is as stored after tfc import. "
                      "With bf16 products multiply it where the machine is "
                      "fast at it; with int8 they multiply integers, a scale "
                      "for each row of a matrix and for each token's, and "
                      "tables are bf16; with int4 the matrices have four bits, "
                      "a scale for each --group of a row, and heads are int8; "
                      "other arithmetic is f32 always"),
             cl::value_desc("f32|f16|bf16|int8|int4"),
             cl::sub(compileCommand),
             cl::sub(verifyCommand),
             cl::sub(runCommand),
             cl::sub(doctorCommand),
             cl::sub(explainCommand),
             cl::sub(inspectCommand),
             cl::cat(category)};
  cl::opt<int> group{
      "group",
      cl::desc(
          "with --dtype int8 or int4, columns of a row of a matrix that have "
          "a scale: 32, which is nearest, 64 or 128; without it as the spec "
          "says, or 32 with int4, all of a row with int8. With int4 a matrix "
          "whose columns they do not divide is int8"),
      cl::value_desc("32|64|128"),
      cl::sub(compileCommand),
      cl::sub(verifyCommand),
      cl::sub(runCommand),
      cl::sub(doctorCommand),
      cl::sub(explainCommand),
      cl::sub(inspectCommand),
      cl::sub(quantizeCommand),
      cl::cat(category)};
  Text cache{"cache",
             cl::desc("what a decoder's keys and values are kept in from step "
                      "to step: f32, f16 or bf16, to which they are rounded, "
                      "or int8, bytes with a scale for each head and token; "
                      "without it as the spec says, which is f32 unless it "
                      "says otherwise, or bf16 with --dtype bf16, int8 and "
                      "int4"),
             cl::value_desc("f32|f16|bf16|int8"),
             cl::sub(compileCommand),
             cl::sub(verifyCommand),
             cl::sub(runCommand),
             cl::sub(doctorCommand),
             cl::sub(explainCommand),
             cl::sub(inspectCommand),
             cl::cat(category)};
  Text stopAfter{"stop-after",
                 cl::desc("write the IR after a stage: model, fused, linalg, "
                          "tiled and vector (--opt full), buffer, kernel and "
                          "image (cuda), llvm; of "
                          "several targets that of the most demanding"),
                 cl::value_desc("stage"), cl::sub(compileCommand),
                 cl::cat(category)};
  cl::opt<bool> emulate{
      "emulate",
      cl::desc(
          "programs that this machine cannot run get the instructions of "
          "x86-64-v3 (on Arm, armv8-a) instead of their own, slowly and to "
          "the same bits: "
          "to test them. Their names end in -emulated"),
      cl::sub(compileCommand), cl::sub(verifyCommand), cl::cat(category)};
  Text progress{"progress",
                cl::desc("phases that take a second, on standard error: auto "
                         "(default; if that is a terminal), always or never"),
                cl::value_desc("auto|always|never"),
                cl::init("auto"),
                cl::sub(compileCommand),
                cl::sub(runCommand),
                cl::cat(category)};
  cl::opt<bool> taps{"taps",
                     cl::desc("report the value of every op to the host"),
                     cl::sub(compileCommand), cl::cat(category)};
  cl::opt<bool> hiddenStates{
      "hidden-states",
      cl::desc("give what every layer reads and the last hidden state as an "
               "output, too (hidden_states, or encoder_ and "
               "decoder_hidden_states), as \"encoder.all_hidden\" does in a "
               "spec; it is computed where it is asked for"),
      cl::sub(compileCommand), cl::cat(category)};
  cl::opt<int> ranks{
      "ranks",
      cl::desc("make a library that so many processes, or threads, run "
               "together, each with a part of every matrix of the layers; a "
               "program lends the sum over them (tfc_model_options.reduce)"),
      cl::value_desc("n"),
      cl::init(1),
      cl::sub(compileCommand),
      cl::cat(category)};
  Text emit{"emit",
            cl::desc("what to write: library (default), a shared one, or "
                     "archive, a static one to be linked into a program, which "
                     "loads the model by its symbol"),
            cl::value_desc("library|archive"),
            cl::init("library"),
            cl::sub(compileCommand),
            cl::cat(category)};
  Text symbol{"symbol",
              cl::desc("with --emit=archive, the name of the function that "
                       "stands for the model in a program; without it, "
                       "tfc_model_ and the model's name"),
              cl::value_desc("name"), cl::sub(compileCommand),
              cl::cat(category)};
  cl::opt<bool> deterministic{
      "deterministic",
      cl::desc("on devices, too, a row has the same bits alone and beside "
               "others, however many: products of 16 bits are slower where "
               "there are more than 64. Programs of CPUs are so always"),
      cl::sub(compileCommand), cl::cat(category)};
  Text sanitize{
      "sanitize",
      cl::desc("address: every load and store is checked by a runtime that is "
               "built with AddressSanitizer, and buffers have red zones; slow, "
               "to find faults of tfc"),
      cl::value_desc("address"), cl::sub(compileCommand), cl::cat(category)};
  Text runAfter{"run-after",
                cl::desc("run more passes after a stage, as stage:pipeline"),
                cl::Hidden,
                cl::sub(compileCommand),
                cl::sub(verifyCommand),
                cl::cat(category)};
  Text leaveOut{"leave-out",
                cl::desc("passes that do not run, as name#number, with commas "
                         "between; name#number:plain runs it with the "
                         "defaults of its options"),
                cl::Hidden,
                cl::sub(compileCommand),
                cl::sub(verifyCommand),
                cl::cat(category)};
  Text stopBefore{"stop-before",
                  cl::desc("write the IR before a pass, as name#number"),
                  cl::Hidden, cl::sub(compileCommand), cl::cat(category)};
  cl::opt<bool> listPasses{
      "list-passes",
      cl::desc("write the names of the passes, in order, instead of a library"),
      cl::Hidden, cl::sub(compileCommand), cl::cat(category)};

  Text runDirectory{cl::Positional, cl::Required, cl::desc("DIR"),
                    cl::sub(runCommand), cl::cat(category)};
  Text runText{cl::Positional, cl::desc("[TEXT] [options of tfc-run]"),
               cl::sub(runCommand), cl::cat(category)};
  Text runDraft{"draft",
                cl::desc("the folder of a smaller model with the same "
                         "vocabulary: a token that it guesses right costs no "
                         "step, and the text is the same (--max-drafts: 8)"),
                cl::value_desc("directory"), cl::sub(runCommand),
                cl::cat(category)};
  cl::opt<bool> verbose{
      "v", cl::desc("print every step as the command that does the same"),
      cl::sub(runCommand), cl::cat(category)};

  Text specPath{cl::Positional, cl::desc("[SPEC]"), cl::sub(specCommand),
                cl::cat(category)};
  Text specOutput{"o",
                  cl::desc("the file to write; - is standard output"),
                  cl::value_desc("file"),
                  cl::init("-"),
                  cl::sub(specCommand),
                  cl::cat(category)};
  cl::opt<bool> canonical{"canonical", cl::desc("print the canonical form"),
                          cl::sub(specCommand), cl::cat(category)};
  cl::opt<bool> schema{"schema", cl::desc("print the JSON schema of specs"),
                       cl::sub(specCommand), cl::cat(category)};

  Text inspectPath{cl::Positional, cl::Required, cl::desc("FILE"),
                   cl::sub(inspectCommand), cl::cat(category)};
  Text step{"step",
            cl::desc("what each op of a spec costs in a step: prefill:BxN, N "
                     "new tokens of each of B sequences, or decode:BxN, the "
                     "next of each, its N-th"),
            cl::value_desc("kind:BxN"),
            cl::sub(inspectCommand),
            cl::sub(explainCommand),
            cl::cat(category)};
  Text machine{"machine",
               cl::desc("whose peaks set the time of --step: a100, h100, "
                        "h200, l40s or rtx4090 by their data sheets, or cpu "
                        "(default), this machine, measured"),
               cl::value_desc("name"),
               cl::sub(inspectCommand),
               cl::sub(explainCommand),
               cl::cat(category)};
  cl::opt<bool> stages{
      "stages",
      cl::desc("with --html, of a spec or a directory: the page has the IR of "
               "every stage, side by side by what it comes from"),
      cl::sub(inspectCommand), cl::cat(category)};
  Text inspectHtml{"html", cl::desc("a page with pictures to write besides"),
                   cl::value_desc("file"), cl::sub(inspectCommand),
                   cl::cat(category)};

  Text explainPath{cl::Positional, cl::Required, cl::desc("SPEC|DIR"),
                   cl::sub(explainCommand), cl::cat(category)};
  Text explainOp{"op",
                 cl::desc("a path of the spec, as decoder.layers.attn.q: where "
                          "it is written, what became of it at each stage and "
                          "by which passes, its tile and those not taken, its "
                          "cost, its functions"),
                 cl::value_desc("path"), cl::sub(explainCommand),
                 cl::cat(category)};
  Text explainKernel{"kernel",
                     cl::desc("the same of a function of the program, or of a "
                              "device's kernel: its name, as tfc-bench, perf "
                              "or a profiler has it, or a part of it"),
                     cl::value_desc("name"), cl::sub(explainCommand),
                     cl::cat(category)};
  Text measured{"measured",
                cl::desc("times of ops beside their costs: what tfc-bench "
                         "--ops --format json printed"),
                cl::value_desc("file"), cl::sub(explainCommand),
                cl::cat(category)};

  Text attentionSpec{cl::Positional, cl::Required, cl::desc("SPEC|DIR"),
                     cl::sub(attentionCommand), cl::cat(category)};
  Text attentionInputs{"inputs",
                       cl::desc("token ids of one sequence"),
                       cl::value_desc("file"),
                       cl::Required,
                       cl::sub(attentionCommand),
                       cl::cat(category)};
  Text attentionOutput{"o",
                       cl::desc("the safetensors to write"),
                       cl::value_desc("file"),
                       cl::Required,
                       cl::sub(attentionCommand),
                       cl::cat(category)};

  Text verifySpec{cl::Positional, cl::Required, cl::desc("SPEC|DIR"),
                  cl::sub(verifyCommand), cl::cat(category)};
  Text verifyWeights{"weights",
                     cl::desc("the model's safetensors; without it DIR's"),
                     cl::value_desc("dir"),
                     cl::sub(verifyCommand),
                     cl::sub(attentionCommand),
                     cl::sub(doctorCommand),
                     cl::cat(category)};
  Text verifyInputs{"inputs", cl::desc("token ids to run; without it, random"),
                    cl::value_desc("file"), cl::sub(verifyCommand),
                    cl::cat(category)};
  cl::opt<unsigned> seed{"seed",
                         cl::desc("of the random token ids"),
                         cl::value_desc("number"),
                         cl::init(1),
                         cl::sub(verifyCommand),
                         cl::cat(category)};

  Text quantizeDirectory{cl::Positional, cl::Required, cl::desc("DIR"),
                         cl::sub(quantizeCommand), cl::cat(category)};
  Text quantizeOutput{"o",
                      cl::desc("the folder to write, which is made"),
                      cl::value_desc("dir"),
                      cl::Required,
                      cl::sub(quantizeCommand),
                      cl::cat(category)};
  Text quantizeDtype{
      "dtype",
      cl::desc("what matrices become: int8, with a scale a row, or int4, with "
               "a scale for each --group of a row"),
      cl::value_desc("int8|int4"), cl::sub(quantizeCommand), cl::cat(category)};
  Text calibrate{"calibrate",
                 cl::desc("texts, one a line, such as the model will read: "
                          "what it multiplies then decides how it is "
                          "quantised. Without them, tokens that it generates, "
                          "or random ones"),
                 cl::value_desc("file"), cl::sub(quantizeCommand),
                 cl::cat(category)};
  cl::opt<bool> accept{
      "accept",
      cl::desc("write a folder of int4 also where its outputs are less than "
               "15 dB from the exact ones"),
      cl::sub(quantizeCommand), cl::cat(category)};
  cl::opt<double> minSnr{
      "min-snr",
      cl::desc("how far outputs may be from the exact ones on those texts, as "
               "signal to noise: kinds of matrices stay in 16 bits, the worst "
               "first, until it holds"),
      cl::value_desc("dB"), cl::sub(quantizeCommand), cl::cat(category)};
  Text doctorPath{cl::Positional, cl::Required, cl::desc("DIR|LIBRARY"),
                  cl::sub(doctorCommand), cl::cat(category)};
  cl::opt<bool> noSelfTest{
      "no-self-test",
      cl::desc("do not run the library's programs beside each other"),
      cl::sub(doctorCommand), cl::cat(category)};

  Text completion{"print-completion",
                  cl::desc("print what completes tfc's command line in that "
                           "shell"),
                  cl::value_desc("bash|zsh|fish"),
                  cl::sub(cl::SubCommand::getTopLevel()), cl::cat(category)};
  Text printStages{"print-stages", cl::desc("print the stage table: md"),
                   cl::value_desc("form"),
                   cl::sub(cl::SubCommand::getTopLevel()), cl::cat(category)};

  /// The top level and its commands.
  std::vector<cl::SubCommand *> commands() {
    return {&cl::SubCommand::getTopLevel(),
            &importCommand,
            &compileCommand,
            &runCommand,
            &specCommand,
            &inspectCommand,
            &verifyCommand,
            &quantizeCommand,
            &doctorCommand,
            &explainCommand,
            &attentionCommand,
            &serveCommand,
            &replayCommand,
            &chatCommand,
            &compareCommand,
            &transcribeCommand};
  }

  int fail(const Twine &message) {
    errs() << "tfc: error: " << message << '\n';
    return tfc::kBadCommandLine;
  }
  /// `forwarded`: options of tfc-run in `tfc run`.
  int run(const std::vector<std::string> &forwarded);

private:
  tfc::CompileOptions compileOptions() const;
  int readProgress(tfc::tools::ShowProgress &to);
  int readWeights(const std::string &model, std::string &to);
  int runRunCommand(const std::vector<std::string> &forwarded);
  int runTopLevel();
  int runImportCommand();
  int runSpecCommand();
  int runInspectCommand();
};

} // namespace

int CommandLine::runImportCommand() {
  if (list) {
    return tfc::runListFamilies(importOutput, force);
  }
  if (importDirectory.empty()) {
    return fail("expected a directory, as in `tfc import DIR` (or --list)");
  }
  return tfc::runImport(importDirectory, {strict, importClass},
                        {importOutput, importTokenizer, force});
}

int CommandLine::runSpecCommand() {
  if (schema) {
    return tfc::runSchema(specOutput, force);
  }
  if (specPath.empty()) {
    return fail("expected a spec, as in `tfc spec model.json` (or --schema)");
  }
  return tfc::runSpec(specPath, canonical, specOutput, force);
}

int CommandLine::runInspectCommand() {
  if (stages) {
    return step.getNumOccurrences() + machine.getNumOccurrences() != 0 ||
                   inspectHtml.empty()
               ? fail("expected --stages with --html and without --step and "
                      "--machine, got another line")
               : tfc::runInspectStages(inspectPath, compileOptions(),
                                       inspectHtml);
  }
  if (target.getNumOccurrences() + opt.getNumOccurrences() != 0) {
    return fail("expected --stages with --target and --opt (as in `tfc inspect "
                "model.json --stages --html stages.html`)");
  }
  if (step.getNumOccurrences() != 0) {
    if (!inspectHtml.empty()) {
      return fail("expected --html without --step (a page with pictures shows "
                  "the spec), got both");
    }
    return tfc::runInspectCosts(inspectPath,
                                {step, machine, dtype, cache, group});
  }
  if (machine.getNumOccurrences() + dtype.getNumOccurrences() +
          cache.getNumOccurrences() + group.getNumOccurrences() !=
      0) {
    return fail("expected --step with --machine, --dtype, --group and --cache "
                "(as in "
                "`tfc inspect model.json --step prefill:1x512`)");
  }
  return tfc::runInspect(inspectPath, inspectHtml, force);
}

/// Options of other commands have their defaults.
tfc::CompileOptions CommandLine::compileOptions() const {
  tfc::CompileOptions options;
  options.target = target;
  options.opt = opt;
  options.dtype = dtype;
  options.group = group;
  options.cache = cache;
  options.stopAfter = stopAfter;
  options.runAfter = runAfter;
  options.sanitize = sanitize;
  options.leaveOut = leaveOut;
  options.stopBefore = stopBefore;
  options.listPasses = listPasses;
  options.taps = taps;
  options.hiddenStates = hiddenStates;
  options.ranks = ranks;
  options.emit = emit;
  options.symbol = symbol;
  options.deterministic = deterministic;
  options.emulate = emulate;
  options.force = force;
  return options;
}

int CommandLine::readProgress(tfc::tools::ShowProgress &to) {
  return tfc::tools::parseProgress(progress, to)
             ? tfc::kOk
             : fail("expected --progress auto, always or never, got " +
                    progress);
}

/// A folder has weights of its own, a spec has none.
int CommandLine::readWeights(const std::string &model, std::string &to) {
  to = verifyWeights;
  if (verifyWeights.getNumOccurrences() == 0 && tfc::rt::isCheckpoint(model)) {
    to = model;
  }
  return to.empty() ? fail("expected --weights with the model's safetensors (" +
                           model + " is no folder that has them), got none")
                    : tfc::kOk;
}

int CommandLine::runRunCommand(const std::vector<std::string> &forwarded) {
  tfc::RunOptions options;
  options.compile = compileOptions();
  if (int code = readProgress(options.compile.progress)) {
    return code;
  }
  if (runText.getNumOccurrences() != 0) {
    options.text = runText;
  }
  if (progress.getNumOccurrences() != 0) {
    options.forwarded.push_back("--progress=" + progress);
  }
  options.forwarded.insert(options.forwarded.end(), forwarded.begin(),
                           forwarded.end());
  options.draft = runDraft;
  options.isVerbose = verbose;
  return tfc::runRun(runDirectory, std::move(options));
}

int CommandLine::runTopLevel() {
  if (completion.getNumOccurrences() != 0) {
    std::optional<std::string> script =
        tfc::printCompletion(commands(), completion);
    outs() << script.value_or("");
    return script ? tfc::kOk
                  : fail("expected --print-completion=bash, zsh or fish, got " +
                         completion);
  }
  if (printStages == "md") {
    tfc::printStages(outs());
    return tfc::kOk;
  }
  if (!printStages.empty()) {
    return fail("expected --print-stages=md, got " + printStages);
  }
  return fail(
      "expected a command: import, compile, run, spec, inspect, "
      "verify, quantize, doctor, explain or attention (see tfc --help)");
}

int CommandLine::run(const std::vector<std::string> &forwarded) {
  if (importCommand) {
    return runImportCommand();
  }
  if (compileCommand) {
    tfc::CompileOptions options = compileOptions();
    int code = readProgress(options.progress);
    return code ? code : tfc::runCompile(compileSpec, options, compileOutput);
  }
  if (runCommand) {
    return runRunCommand(forwarded);
  }
  if (specCommand) {
    return runSpecCommand();
  }
  if (inspectCommand) {
    return runInspectCommand();
  }
  if (doctorCommand) {
    return tfc::runDoctor(doctorPath,
                          {compileOptions(), verifyWeights, noSelfTest});
  }
  if (explainCommand) {
    return tfc::runExplain(
        explainPath,
        {compileOptions(), explainOp, explainKernel, step, machine, measured});
  }
  if (attentionCommand) {
    std::string weights;
    int code = readWeights(attentionSpec, weights);
    return code ? code
                : tfc::runAttention(attentionSpec,
                                    {weights, attentionInputs, attentionOutput},
                                    force);
  }
  if (quantizeCommand) {
    tfc::QuantizeOptions options{quantizeDtype, calibrate, quantizeOutput, {},
                                 group,         accept};
    if (minSnr.getNumOccurrences() != 0) {
      options.minSnr = minSnr;
    }
    return tfc::runQuantize(quantizeDirectory, options);
  }
  if (verifyCommand) {
    tfc::VerifyOptions options;
    if (int code = readWeights(verifySpec, options.weights)) {
      return code;
    }
    options.inputs = verifyInputs;
    options.seed = seed;
    return tfc::runVerify(verifySpec, compileOptions(), options);
  }
  return runTopLevel();
}

int tfc::runTfc(int argc, char **argv) {
  StringRef command = argc > 1 ? argv[1] : "";
  if (command == "serve" || command == "replay" || command == "chat" ||
      command == "compare-batches" || command == "transcribe") {
    return runPython({argv + 1, argv + argc});
  }
  registerTfcPasses();
  CommandLine line;
  for (cl::SubCommand *command : line.commands()) {
    cl::HideUnrelatedOptions(line.category, *command);
  }
  cl::SetVersionPrinter([](raw_ostream &os) { os << "tfc " TFC_VERSION "\n"; });
  std::string message;
  raw_string_ostream stream(message);
  tfc::RunWords words;
  std::vector<const char *> own(argv, argv + argc);
  if (command == "run") {
    words = splitRunWords({argv + 2, argv + argc}, line.runCommand);
    if (words.fault) {
      return line.fail(*words.fault);
    }
    own.resize(2);
    for (const std::string &word : words.own) {
      own.push_back(word.c_str());
    }
  }
  if (!cl::ParseCommandLineOptions(
          static_cast<int>(own.size()), own.data(),
          "tfc: compiles transformer models to shared libraries\n", &stream)) {
    errs() << message;
    return kBadCommandLine;
  }
  return line.run(words.forwarded);
}
