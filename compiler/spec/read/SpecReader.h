// Inside of the spec reader: the parts of reading a tree into a ModelSpec, one
// function a part. They run on trees with faults too: what is faulty has been
// reported by checkFields, and is read as missing.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_READ_SPECREADER_H
#define TFC_COMPILER_SPEC_READ_SPECREADER_H

#include "compiler/spec/JsonTree.h"
#include "compiler/spec/ModelSpec.h"
#include "compiler/spec/write/WriteSpec.h"

#include <map>

namespace tfc::spec {

/// What is wrong, by the number in [TFC011].
enum Code {
  BadType = 4,
  BadKind = 10,
  BadHeadDim = 11,
  BadKvHeads = 12,
  BadRotary = 13,
  BadWindow = 14,
  BadBias = 15,
  BadCross = 16,
  NotCausal = 17,
  BadSelector = 18,
  TableTooSmall = 20,
  TwoPositions = 23,
  BadEmbedding = 24,
  BadBlock = 26,
  BadEps = 27,
  BadExperts = 29,
  BadLogits = 30,
  BadSplit = 31,
  BadFrom = 32,
  BadGeneration = 35,
  BadStep = 36,
  BadTake = 37,
  BadOutput = 38,
  BadToken = 40,
  NoStart = 41,
  BadNumber = 43,
  NoSource = 50,
  BadMapKey = 51,
  BadPattern = 52,
  BadIgnore = 55,
  BadSource = 58,
  Unsupported = 90,
};

class SpecReader {
public:
  SpecReader(const Json &root, Diagnostics &diagnostics)
      : root(root), diagnostics(diagnostics) {}

  ModelSpec model;
  KeptParts kept;

  /// All parts but the weights. True without errors.
  bool read();
  /// Adds an output of all hidden states of each stack, hidden_states or, of
  /// two, encoder_ and decoder_hidden_states, to a spec that has been read.
  /// False, with an error, where another output has its name.
  bool addHiddenStates();

private:
  /// What a head gives: the stack it begins at, its width, the parts of a
  /// split, the rows it takes.
  struct Result {
    std::string root;
    int64_t width = 0;
    std::vector<std::string> parts;
    std::optional<TakeStep::At> take;
    bool faulty = false; // it has its diagnostic
  };

  const Json &root;
  Diagnostics &diagnostics;
  std::map<std::string, Result> results;
  /// What layers that share a cache differ in, and where.
  struct CacheFault {
    Place place;
    std::string message;
  };
  /// The stack that is being read, its first self- and its first
  /// cross-attention, and the first attention with a cache unlike theirs.
  Stack *stack = nullptr;
  std::optional<Attention> firstAttention[2];
  std::optional<CacheFault> cacheFault;

  // ReadSpec.cpp
  void readDims();
  void readKind(const std::string &kind);
  void readShared();
  void readStack(Stack &target, const Json &json);
  void readPrecision();
  void readGroup(const Json *precision);

  // ReadEmbeddings.cpp
  void readEmbeddings(const Json &embeddings);
  void readTokenTable(const Json &token);
  void readTokenRows(const Json &token);
  void readScale(const Json &token);
  void readPosition(const Json &position);
  int64_t readPositionIds(const Json &position, Position &result);
  void readSinusoid(const Json &position, Position &result);
  void checkSinusoid(const Json &embeddings);
  // ReadAxes.cpp
  void readAxes(const Json &position, Position &result);
  void checkAxes(const Json &embeddings);
  void refuseKeys(const Json &json, std::initializer_list<const char *> keys,
                  const std::string &why);
  void readPositionBias(const Json *bias);
  void readSegment(const Json &segment);
  void readProjection(const Json &embeddings);

  // ReadRelative.cpp
  void readRelativeTable(const Json *json);
  void readRelativeTerms(const Json &attn, Attention &attention);
  void readZeroMemory(const Json &json, Attention &attention);
  void checkUses(const Json &json, const RelativeTerms &terms,
                 const Attention &attention);
  void checkRelative(const Json &json);

  // ReadLayers.cpp
  void readLayers(const Json &layers);
  void readRepeated(const Json &layers);
  void addRun(const Json &block, int64_t count);
  void addShared(const Json &layers, const Json &block, int64_t count);
  void addPeriods(const Json &blocks, int64_t repeat);
  std::vector<std::vector<size_t>> selectOverrides(const Json *overrides,
                                                   int64_t repeat);
  std::vector<bool> selectLayers(const Json &selector, int64_t repeat);
  std::vector<Sublayer> readBlock(const Json &block);
  std::vector<Sublayer> readSugar(const Json &block);
  std::optional<Sublayer> readSublayer(const std::string &name,
                                       const Json &sublayer,
                                       const std::string &placement,
                                       const Json *blockNorm);
  void checkParallel(const Json &block, const std::vector<Sublayer> &sublayers);
  void checkDecoderLayers(const Json &layers);
  void checkStack(const Json &json);
  void warnWithoutFinalNorm(const Json &json);

  // ReadAttention.cpp
  Attention readAttention(const std::string &name, const Json &attn);
  void readHeadSizes(const Json &attn, Attention &attention);
  void compareCaches(const Json &attn, const Attention &attention);
  double readPositive(const Json &number);

  // ReadMoe.cpp
  Moe readMoe(const Json &json);
  void readGate(const Json &json, Moe &moe);
  void readMixer(const Json &router, Moe &moe);
  void checkOnInput(const Json &router, const Moe &moe);
  double readOfSum(const Json &router, const char *key);
  void checkGroups(const Json &router, const Moe &moe);

  // ReadRecurrent.cpp
  void readStateful(const std::string &name, const Json &json,
                    Sublayer &result);
  Recurrent readRecurrent(const Json &json);
  Recurrent readSelective(const Json &json); // Mamba's
  void readScales(const Json &json, Recurrent::Scales &scales);

  // ReadLayerInputs.cpp
  void readLayerInputs(const Json *json);
  LayerInput readLayerInput(const Json &json);
  Ngram readNgram(const Json &json, const Sublayer &sublayer);
  /// Every layer that has the keys of another has one before it.
  void checkSharedKeys(const Json &json);
  void checkLayerInputs(const Json &json);

  // ReadStreams.cpp
  void readStreams(const Json *json);
  void checkStreams(const Json &json);
  void checkTargets(const Json &json);
  LowRank readLowRank(const Json &json);
  void readPostScale(const Json &json, Sublayer &sublayer);
  void readSparsity(const Json &json, Ffn &ffn);

  // ReadLatent.cpp
  Attention readLatentAttention(const Json &attn, const Json &json);
  void checkLatentWidths(const Json &attn, const Json &json,
                         const Attention &attention);
  void checkLatent(const Json &attn);

  // ReadScores.cpp
  void readScores(const Json &attn, Attention &attention);
  void readSparse(const Json &attn, Attention &attention);
  void readHashes(const Json &attn, const Json &json, Sparse sparse,
                  Attention &attention);
  void readSlopes(const Json &slopes, Attention &attention);

  // ReadAttention.cpp
  void readBiases(const Json &attn, Attention &attention);
  void readOutputGate(const Json &attn, Attention &attention);
  void checkCausal(const Json &attn, bool causal);
  void checkCross(const Json &attn);
  void readWindow(const Json &attn, Attention &attention);
  void readQkNorm(const Json &attn, Attention &attention);
  void readValues(const Json &attn, Attention &attention);
  void readRotary(const Json &attn, Attention &attention);
  void readLongrope(const Json &json, Rotary &rotary);
  bool readScaling(const Json &json, Rotary &rotary);
  bool readGrid(const Json &json, const Json &whole, Rotary &rotary);
  double readMscale(const Json &scaling, const char *key);

  // ReadAdaptive.cpp
  std::optional<Pieces> readPieces(const Json &json, int64_t rows,
                                   int64_t width, Code code);
  void readAdaptive(const Json &embeddings);
  void readConvs(const Json &patches, const Json *token);
  void readPatches(const Json &embeddings);
  HeadStep readAdaptiveLogits(const std::string &path, const Json &step,
                              Result &result);

  // ReadHeads.cpp
  void readHeads();
  void readHead(const std::string &name, const Json &head);
  std::string readStepPath(const Head &head, const Json &step);
  std::optional<HeadStep> readStep(const Head &head, const Json &step,
                                   Result &result);
  ScaleStep readScaleStep(const Json &step);
  HeadStep readTake(const Head &head, const Json &step, Result &result);
  void takeRows(const Head &head, const Json &step, TakeStep::At at,
                Result &result);
  HeadStep readLogits(const std::string &path, const Json &step,
                      Result &result);
  void readTied(const Json &step, LogitsStep &logits, int64_t inputWidth);
  HeadStep readSplit(const Json &step, Result &result);

  // ReadPooling.cpp
  std::optional<HeadStep> readPooling(const Head &head, const Json &step,
                                      Result &result);
  TruncateStep readTruncate(const Json &step, Result &result);
  HeadStep readActivationUnit(const Head &head, const Json &step,
                              Result &result);
  HeadStep readProbe(const Head &head, const Json &step, Result &result);

  // ReadOutputs.cpp
  void readOutputs();
  void readOutput(const std::string &name, const Json &value);
  void checkPairOutputs(const Json &outputs);

  // ReadGeneration.cpp
  void readTokens();
  std::vector<int64_t> readIds(const Json *ids);
  void readGeneration();
  void checkGenerationHead(const Json &generation);
  void readLengths(const Json &given, Generation &result);
  void readSearch(const Json &given, Generation &result);
  void readSampling(const Json &given, Generation &result);
  void readForced(const Json &given, Generation &result);
  int64_t tokenRows() const;

  // Shared.
  std::optional<Norm> readNorm(const Json *norm) {
    return readNorm(norm, model.hidden);
  }
  /// Of rows of `width` columns; 0 where that is faulty, which others say.
  std::optional<Norm> readNorm(const Json *norm, int64_t width);
  bool isIdentifier(const Json *name, Code code);
  void error(const Place &place, Code code, std::string message) {
    report(diagnostics, place, code, std::move(message));
  }
  /// The stacks there are: what comes before heads in lists of names.
  std::vector<std::string> stackNames() const;
  bool isStack(const std::string &name) const {
    return (name == "encoder" && model.encoder) ||
           (name == "decoder" && model.decoder);
  }
};

/// The items of an array, the members of an object; none without a value.
const std::vector<Json> &itemsOf(const Json *array);
const std::vector<Member> &membersOf(const Json *object);
/// The integer member in [1, 2^28] of an object, if there is one.
std::optional<int64_t> sizeOf(const Json &object, std::string_view key);
bool flagOf(const Json &object, std::string_view key, bool fallback);
std::string wordOf(const Json &object, std::string_view key,
                   const char *fallback);
Activation activationOf(const Json &object, std::string_view key);
const char *nameOf(Activation activation);

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_READ_SPECREADER_H
