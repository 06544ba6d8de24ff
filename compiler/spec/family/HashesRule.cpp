// What layers of Reformer that hash queries see.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/family/Rules.h"

using namespace tfc;
using namespace tfc::family;
using spec::Json;

/// An integer that has no default: without it transformers does what depends on
/// more than a sequence.
static Json require(Config &config, std::string_view key,
                    const std::string &what) {
  if (const Json *value = config.value(key)) {
    return *value;
  }
  config.fault(key, "expected " + what + ", got " +
                        (config.isNull(key) ? "null" : "nothing"));
  return Json(int64_t(2));
}

std::optional<Json> family::hashesRule(Instantiator &made, const Json &hole) {
  Config &config = made.config;
  if (config.boolean("is_decoder", false)) {
    config.fault(
        "is_decoder",
        "expected false where attn_layers has \"lsh\" (a next token is "
        "hashed otherwise than a prompt is, which is not supported by "
        "this tfc), got true");
    return Json("none"); // nothing else is to be said of them
  }
  int64_t block =
      config.integer("lsh_attn_chunk_length", 64, 1, spec::maxSparse);
  int64_t multiple = block;
  std::optional<Json> near = made.member(hole, "near");
  if (near) {
    multiple =
        config.integer("local_attn_chunk_length", 64, 1, spec::maxSparse);
    if (multiple % block != 0) {
      config.fault("lsh_attn_chunk_length",
                   "expected a divisor of local_attn_chunk_length (" +
                       std::to_string(multiple) +
                       "; others, with which near blocks meet padding, are not "
                       "supported by this tfc), got " +
                       std::to_string(block));
      multiple = block;
    }
  }
  Json sparse = Json::object();
  sparse.set("kind", "lsh");
  sparse.set("block", block);
  sparse.set("before", config.integer("lsh_num_chunks_before", 1, 0, 1));
  sparse.set("after", config.integer("lsh_num_chunks_after", 0, 0, 1));
  sparse.set("hashes", config.integer("num_hashes", 1, 1, spec::maxHashes));
  sparse.set("buckets",
             require(config, "num_buckets",
                     "a number of buckets or a list of factors (transformers "
                     "chooses one by the first sequence that it sees)"));
  sparse.set("seed",
             require(config, "hash_seed",
                     "a seed where attn_layers has \"lsh\" (without one "
                     "transformers draws other rotations in each call)"));
  sparse.set("multiple", multiple);
  return sparse;
}
