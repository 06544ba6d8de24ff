// Keys that say which positions the cache of transformers keeps, whatever the
// masks of a model let a layer see.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/Config.h"

using namespace tfc;
using namespace tfc::huggingface;
using spec::Json;

void huggingface::expectLayerTypes(Config &config, std::string_view type) {
  const Json *types = config.value("layer_types");
  if (!types) {
    return;
  }
  if (!types->isArray()) {
    config.fault("layer_types", "expected a list with a type for each of the "
                                "layers, got " +
                                    spec::describe(*types));
  }
  for (const Json &each : types->items) {
    if (!each.isString(type)) {
      config.faultAt(each, "expected " + spec::inQuotes(type) + ", got " +
                               spec::describe(each));
    }
  }
}

void huggingface::refuseWindows(Config &config) {
  config.refuseContent("sliding_window",
                       "the layers of this model type see all positions");
  expectLayerTypes(config, "full_attention");
}
