// What a library says of itself: verifiers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/LayerFunctions.h"
#include "dialect/PrecisionRules.h"
#include "dialect/TransformerDialect.h"

#include "dialect/CheckedAccess.h"

using namespace mlir;
using namespace tfc::transformer;

using EmitError = function_ref<InFlightDiagnostic()>;

/// A count that 31 bits hold.
static LogicalResult expectCount(EmitError emitError, StringRef name,
                                 int64_t least, int64_t got) {
  if (got >= least && got <= std::numeric_limits<int32_t>::max()) {
    return success();
  }
  return emitError() << "expected " << name << " in [" << least
                     << ", 2^31), got " << got;
}

static LogicalResult expectIds(EmitError emitError, StringRef name,
                               ArrayAttr values) {
  if (!values || llvm::all_of(values, [](Attribute id) {
        auto integer = dyn_cast<IntegerAttr>(id);
        return integer && integer.getType().isSignlessInteger(64);
      })) {
    return success();
  }
  return emitError() << "expected " << name
                     << " to be integers of 64 bits, got " << values;
}

static LogicalResult expectStrings(EmitError emitError, StringRef name,
                                   ArrayAttr values) {
  if (!values || llvm::all_of(values, llvm::IsaPred<StringAttr>)) {
    return success();
  }
  return emitError() << "expected " << name << " to be strings, got " << values;
}

LogicalResult OutputPortAttr::verify(EmitError emitError, StringRef, RowKind,
                                     Take, bool squeezed, bool, int64_t width) {
  // output_port_c1
  if (failed(expectCount(emitError, "width", 1, width))) {
    return failure();
  }
  // output_port_c2
  if (squeezed && width != 1) {
    return emitError() << "expected width 1 (the port is squeezed), got "
                       << width;
  }
  return success();
}

LogicalResult CacheLayoutAttr::verify(EmitError emitError, int64_t blockTokens,
                                      int64_t layers, int64_t blockBytes,
                                      int64_t layerBytes, int64_t queryRows,
                                      int64_t window, Storage,
                                      int64_t keyWidth) {
  // cache_layout_c1
  if (failed(expectCount(emitError, "block_tokens", 0, blockTokens)) ||
      failed(expectCount(emitError, "layers", 1, layers)) ||
      failed(expectCount(emitError, "query_rows", 1, queryRows)) ||
      failed(expectCount(emitError, "window", 0, window)) ||
      failed(expectCount(emitError, "key_width", 0, keyWidth))) {
    return failure();
  }
  // cache_layout_c2
  if (blockBytes < 1 || layerBytes < 0 || layerBytes > blockBytes / layers) {
    return emitError() << "expected block_bytes of at least 1 and layers times "
                          "layer_bytes, got "
                       << blockBytes << " for " << layers << " times "
                       << layerBytes;
  }
  return success();
}

LogicalResult RoleAttr::verify(EmitError emitError, RoleKind kind,
                               FlatSymbolRefAttr entry) {
  // role_c1
  bool isOfAnEntry = kind == RoleKind::WorkspaceBytes;
  if (isOfAnEntry == static_cast<bool>(entry)) {
    return success();
  }
  return emitError() << "expected " << (isOfAnEntry ? "an" : "no")
                     << " entry of the role " << stringifyRoleKind(kind)
                     << ", got " << (entry ? entry.getValue() : "none");
}

LogicalResult ProgramAttr::verify(EmitError emitError, StringRef name, int64_t,
                                  StringRef, int64_t packedBytes, Isa isa,
                                  int64_t entries, int64_t kernels,
                                  int64_t images) {
  // program_c1
  if (name.empty()) {
    return emitError() << "expected a name of the program, got none";
  }
  // program_c2
  if (packedBytes < 0) {
    return emitError() << "expected packed_bytes of at least 0, got "
                       << packedBytes;
  }
  // program_c4
  if (entries < 0 || entries > std::numeric_limits<int32_t>::max()) {
    return emitError() << "expected entries in [0, 2^31), got " << entries;
  }
  // program_c3
  int64_t most = isa == Isa::Cuda ? std::numeric_limits<int32_t>::max() : 0;
  for (int64_t count : {kernels, images}) {
    if (count < 0 || count > most) {
      return emitError() << "expected kernels and images in [0, " << most
                         << "] of a program of " << stringifyIsa(isa)
                         << ", got " << kernels << " and " << images;
    }
  }
  return success();
}

LogicalResult GenerationAttr::verify(
    EmitError emitError, int64_t, int64_t, int64_t, int64_t, int64_t,
    int64_t numBeams, EarlyStopping, bool, int64_t topK, FloatAttr temperature,
    FloatAttr topP, FloatAttr minP, FloatAttr lengthPenalty,
    FloatAttr repetitionPenalty, ArrayAttr suppress, ArrayAttr beginSuppress) {
  // generation_c1
  for (FloatAttr number :
       {temperature, topP, minP, lengthPenalty, repetitionPenalty}) {
    if (!number.getType().isF64()) {
      return emitError() << "expected numbers of type f64, got " << number;
    }
  }
  // generation_c2
  if (failed(expectCount(emitError, "num_beams", 0, numBeams)) ||
      failed(expectCount(emitError, "top_k", 0, topK))) {
    return failure();
  }
  // generation_c3
  return failure(failed(expectIds(emitError, "suppress", suppress)) ||
                 failed(expectIds(emitError, "begin_suppress", beginSuppress)));
}

LogicalResult ModelAttr::verify(EmitError emitError, StringRef, ModelKind,
                                StringRef, int64_t maxPositions, int64_t,
                                int64_t, int64_t, ArrayAttr eos,
                                ArrayAttr prefixes, ArrayAttr aliases,
                                GenerationAttr) {
  // model_c1
  if (maxPositions < 0) {
    return emitError() << "expected max_positions of at least 0, got "
                       << maxPositions;
  }
  // model_c2
  if (failed(expectIds(emitError, "eos", eos))) {
    return failure();
  }
  // model_c3
  if (failed(expectStrings(emitError, "prefixes", prefixes)) ||
      failed(expectStrings(emitError, "aliases", aliases))) {
    return failure();
  }
  if (aliases && aliases.size() % 2 != 0) {
    return emitError() << "expected aliases in pairs, got " << aliases.size()
                       << " strings";
  }
  return success();
}

//===-- where they stand --------------------------------------------------===//

namespace {
/// A discardable attribute of the dialect: its name and what it must be.
struct Place {
  StringRef name;
  bool (*isRight)(Attribute);
  StringRef expected;
};
} // namespace

template <typename T> static bool is(Attribute attribute) {
  return isa<T>(attribute);
}

template <typename T> static bool isArrayOf(Attribute attribute) {
  auto array = dyn_cast<ArrayAttr>(attribute);
  return array && llvm::all_of(array, llvm::IsaPred<T>);
}

static LogicalResult verifyPlace(Operation *op, NamedAttribute attribute,
                                 ArrayRef<Place> places) {
  for (const Place &place : places) {
    if (attribute.getName() == place.name &&
        !place.isRight(attribute.getValue())) {
      return op->emitOpError()
             << "expected '" << place.name << "' to be " << place.expected
             << ", got " << attribute.getValue();
    }
  }
  return success();
}

LogicalResult
TransformerDialect::verifyOperationAttribute(Operation *op,
                                             NamedAttribute attribute) {
  static const Place places[] = {
      {kModelAttrName, is<ModelAttr>, "a #transformer.model"},
      {kProgramsAttrName, isArrayOf<ProgramAttr>,
       "an array of #transformer.program"},
      {kQueryAttrName, is<StringAttr>, "a string"},
      {kTargetAttrName, is<TargetAttr>, "a #transformer.target"},
      {kStrategyAttrName, is<StrategyAttr>, "a #transformer.strategy"},
      {kCacheAttrName, is<CacheLayoutAttr>, "a #transformer.cache_layout"},
      {kCrossCacheAttrName, is<CacheLayoutAttr>, "a #transformer.cache_layout"},
      {kStateAttrName, is<CacheLayoutAttr>, "a #transformer.cache_layout"},
      {kInputsAttrName, isArrayOf<InputAttr>, "an array of #transformer.input"},
      {kOutputsAttrName, isArrayOf<OutputPortAttr>,
       "an array of #transformer.output_port"},
      {kPackedBytesAttrName, is<IntegerAttr>, "an integer"},
      {kRanksAttrName, is<IntegerAttr>, "an integer"},
      {kLayersOfAttrName, is<FlatSymbolRefAttr>, "the symbol of an entry"},
      {kRoleAttrName, is<RoleAttr>, "a #transformer.role"},
      {kPrepareAttrName, is<UnitAttr>, "a unit"},
      {kKeptWideAttrName, is<UnitAttr>, "a unit"},
      {kCheckedAttrName, is<UnitAttr>, "a unit"},
      {kKeptByteAttrName, is<UnitAttr>, "a unit"},
  };
  if (attribute.getName() == kRoleAttrName && !isa<FunctionOpInterface>(op)) {
    return op->emitOpError()
           << "expected '" << kRoleAttrName << "' on functions alone";
  }
  return verifyPlace(op, attribute, places);
}

LogicalResult
TransformerDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                             NamedAttribute attribute) {
  static const Place places[] = {
      {kInputAttrName, is<InputAttr>, "a #transformer.input"},
      {kOutputAttrName, is<OutputPortAttr>, "a #transformer.output_port"}};
  return verifyPlace(op, attribute, places);
}
