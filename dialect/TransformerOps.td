// All ops of the dialect, by group.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
include "dialect/AttentionOps.td"
include "dialect/DescriptionAttrs.td"
include "dialect/EmbeddingOps.td"
include "dialect/ExpertOps.td"
include "dialect/LatentOps.td"
include "dialect/LayerOps.td"
include "dialect/NormOps.td"
include "dialect/ProjectionOps.td"
include "dialect/StepOps.td"
include "dialect/StructuredOps.td"
include "dialect/TargetAttr.td"
include "dialect/WeightOps.td"
