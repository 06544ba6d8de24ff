// The vocabulary of a spec as one table: which keys there are, what values they
// take, and which of them this tfc can compile. Checking and the JSON schema
// both come from it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_SPECFIELDS_H
#define TFC_COMPILER_SPEC_SPECFIELDS_H

#include "compiler/spec/JsonTree.h"

#include <map>

namespace tfc::spec {

struct Type;
using TypeRef = std::shared_ptr<const Type>;

/// A key of an object.
struct Field {
  enum class Support { Yes, No };

  std::string key;
  TypeRef type;
  bool required = false;
  /// No: the key is known, but only its neutral value can be compiled.
  Support support = Support::Yes;
  std::optional<Json> neutral;
  /// Read by someone else, later: a block, which overrides complete.
  bool deferred = false;
};

/// A word of a closed list, or an object chosen by such a word.
struct Choice {
  std::string word;
  bool supported = true;
  TypeRef object;
};

/// What a value may be. Types with a name are shared in the printed schema.
struct Type {
  enum class Kind {
    Any,
    Boolean,
    Integer,
    Number,
    String,
    Word,
    Array,
    Object,
    Map,    // any key, values of `element`
    OneOf,  // alternatives of different JSON types
    Tagged, // an object of the choice that its member `tag` names
  };

  Kind kind = Kind::Any;
  std::string name;
  int64_t min = 0, max = 0;    // Integer; Array, Map: how many
  std::vector<Choice> choices; // Word, Tagged
  std::vector<Field> fields;   // Object
  TypeRef element;             // Array, Map
  std::vector<TypeRef> alternatives;
  std::string tag;
  /// Word: other projects' words for the same things.
  std::map<std::string, std::string> meant;
  /// Of the diagnostic about a value outside the type, and the reason it gives.
  int code = 4;
  std::string why;
};

/// The largest number of layers, and the largest width of anything.
constexpr int64_t maxLayers = 4096;
constexpr int64_t maxWidth = int64_t(1) << 20;
/// The most frames that a row given by the caller has.
constexpr int64_t maxFrames = 64;
/// The largest number of experts of a layer, and of those that a row takes.
constexpr int64_t maxExperts = 4096;
/// Tokens of a convolution: more than registers hold rows.
constexpr int64_t maxKernel = 16;
constexpr int64_t maxPerToken = 64;
/// The widest head: attention keeps its sums of a row in straight code.
constexpr int64_t maxHeadDim = 2048;
/// The most blocks of a period.
constexpr int64_t maxPeriod = 64;
/// The most streams of rows: a layer has sums of all of them for each.
constexpr int64_t maxStreams = 16;
/// The most columns of a head that are rotated: every run of layers has its
/// own frequencies, and a hostile file many runs.
constexpr int64_t maxRotary = 8192;
/// Numbers of the table of angles that rotary embeddings of a grid have.
constexpr int64_t maxAngles = 1 << 24;
/// Of a table of distances: half its rows, and the farthest that it tells
/// apart.
constexpr int64_t maxSpan = 1 << 16;
/// The most axes of a grid of positions.
constexpr int64_t maxAxes = 4;
/// Positions of a block of block-sparse attention, and its random blocks.
constexpr int64_t maxSparse = 1 << 16;
/// Of attention by hashes: rounds, buckets of a factor and of all together,
/// the greatest seed, and numbers of the table that hashes are made with.
constexpr int64_t maxHashes = 1 << 10;
constexpr int64_t maxBuckets = 1 << 20;
constexpr int64_t maxSeed = (int64_t(1) << 32) - 1;
constexpr int64_t maxRotations = 1 << 24;
/// The most groups of a packed tensor: each is read by itself.
constexpr int64_t maxGroups = 1024;
/// The largest number of rows of a table, and of positions.
constexpr int64_t maxRows = int64_t(1) << 28;

/// A whole spec, and the block of a layer after its overrides.
const Type &specType();
const Type &blockType();

/// Checks a value against a type, all the way down: unknown keys (2), values of
/// another type or out of range (the type's code), required keys that are
/// missing (4), and what this tfc cannot compile (90).
void checkFields(const Json &value, const Type &type, Diagnostics &diagnostics);

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_SPECFIELDS_H
