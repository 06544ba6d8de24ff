// A head: its steps, on the rows that an output asks for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/BuildHead.h"

#include "compiler/spec/Visit.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <cmath>

using namespace mlir;
using namespace tfc;

const spec::Head *tfc::findHead(const spec::ModelSpec &spec,
                                const std::string &name) {
  for (const spec::Head &head : spec.heads) {
    if (head.name == name) {
      return &head;
    }
  }
  return nullptr;
}

bool tfc::comesFrom(const spec::ModelSpec &spec, const std::string &value,
                    const std::string &stack) {
  if (const spec::Head *head = findHead(spec, value)) {
    return comesFrom(spec, head->from, stack);
  }
  return value == stack || value == stack + ".hidden" ||
         value == stack + ".all_hidden";
}

static transformer::Take toTake(spec::TakeStep::At at) {
  switch (at) {
  case spec::TakeStep::At::First:
    return transformer::Take::First;
  case spec::TakeStep::At::FirstVisible:
    return transformer::Take::FirstVisible;
  case spec::TakeStep::At::LastVisible:
    return transformer::Take::LastVisible;
  case spec::TakeStep::At::LastNonpad:
    return transformer::Take::LastNonpad;
  case spec::TakeStep::At::LastEos:
    return transformer::Take::LastEos;
  case spec::TakeStep::At::FirstEos:
    return transformer::Take::FirstEos;
  }
  llvm_unreachable("all takes are listed");
}

transformer::Take tfc::takeOf(const spec::ModelSpec &spec,
                              const std::string &value) {
  const spec::Head *head = findHead(spec, value);
  if (!head) {
    return transformer::Take::All;
  }
  for (const spec::HeadStep &step : head->steps) {
    using Found = std::optional<transformer::Take>;
    Found take = spec::visit(
        step,
        [](const spec::TakeStep &take) -> Found { return toTake(take.at); },
        [](const spec::PoolStep &pool) -> Found {
          return pool.besideFirst ? transformer::Take::FirstVisible
                                  : transformer::Take::LastVisible;
        },
        [](const spec::ActivationUnitStep &) -> Found {
          return transformer::Take::LastVisible;
        },
        [](const spec::ProbeStep &) -> Found {
          return transformer::Take::First;
        },
        [](const auto &) { return Found(); });
    if (take) {
      return *take;
    }
  }
  return takeOf(spec, head->from);
}

bool tfc::readsAllRows(const spec::ModelSpec &spec, const std::string &value) {
  const spec::Head *head = findHead(spec, value);
  if (!head) {
    return false;
  }
  for (const spec::HeadStep &step : head->steps) {
    if (std::holds_alternative<spec::PoolStep>(step) ||
        std::holds_alternative<spec::ActivationUnitStep>(step) ||
        std::holds_alternative<spec::ProbeStep>(step)) {
      return true;
    }
  }
  return readsAllRows(spec, head->from);
}

static transformer::Pooling toDialect(spec::PoolStep::How how) {
  switch (how) {
  case spec::PoolStep::How::Mean:
    return transformer::Pooling::Mean;
  case spec::PoolStep::How::Max:
    return transformer::Pooling::Max;
  case spec::PoolStep::How::MeanSqrtLen:
    return transformer::Pooling::MeanSqrtLen;
  }
  llvm_unreachable("all ways to pool are listed");
}

namespace {

/// Adds what each step makes of `x`.
struct StepBuilder {
  PathBuilder &path;
  std::string name; // of the head
  const WantedRows &wanted;
  Value x;

  Value operator()(const spec::PoolStep &pool) {
    ImplicitLocOpBuilder b(wanted.loc, path.getBuilder());
    Value y = transformer::PoolRowsOp::create(
        b, toDialect(pool.how), x, wanted.rows, wanted.batch,
        pool.skip > 0 ? b.getI64IntegerAttr(pool.skip) : IntegerAttr());
    if (!pool.besideFirst) {
      return y;
    }
    // The rows that say which sequence is meant are the first ones, then.
    Value first = transformer::GatherRowsOp::create(b, x, wanted.rows);
    return transformer::JoinColumnsOp::create(b, ValueRange{first, y});
  }
  /// The network's layers see each row beside the one that asks.
  Value operator()(const spec::ActivationUnitStep &unit) {
    OpBuilder &b = path.getBuilder();
    auto query = unit.first ? transformer::QueryPlace::First
                            : transformer::QueryPlace::Last;
    Value y = transformer::PairRowsOp::create(b, path.loc(unit.path + ".pairs"),
                                              query, x, wanted.batch);
    for (size_t layer = 0; layer <= unit.hidden.size(); ++layer) {
      std::string name = unit.path + "." + std::to_string(layer);
      y = path.linear(y, name, /*bias=*/true);
      if (layer < unit.hidden.size()) {
        y = path.activation(y, unit.act, name);
      }
    }
    return transformer::WeighRowsOp::create(b, path.loc(unit.path), query, x, y,
                                            wanted.rows, wanted.batch);
  }
  /// Each row asks with the probe, whatever it is itself; the first one's
  /// answer is kept. That is one more attention of the stack's kind.
  Value operator()(const spec::ProbeStep &probe) {
    ImplicitLocOpBuilder b(path.loc(probe.path), path.getBuilder());
    auto linear = [&](Value rows, const char *part) {
      return path.linear(rows, probe.path + part, /*bias=*/true);
    };
    // Row 0 is that of every position.
    Value asking = transformer::EmbeddingOp::create(
        b, wanted.positions, path.weight(probe.path + ".probe.weight"),
        /*given=*/Value(), /*offset=*/0, /*optional=*/false,
        /*first=*/IntegerAttr(), b.getI64IntegerAttr(0),
        /*every=*/IntegerAttr());
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value y = transformer::AttentionOp::create(
        b, linear(asking, ".q"), linear(x, ".k"), linear(x, ".v"),
        wanted.caches.front(), zero, wanted.batch, /*bias=*/Value(),
        /*left=*/Value(), /*right=*/Value(), /*scale_factor=*/Value(),
        /*sinks=*/Value(), /*relative_keys=*/Value(),
        /*relative_queries=*/Value(), /*relative_values=*/Value(),
        /*query_bias=*/Value(), /*relative_bias=*/Value(), /*segments=*/Value(),
        /*segment_bias=*/Value(), /*types=*/Value(), /*unseen=*/Value(),
        transformer::Mask::Bidirectional, probe.numHeads,
        APFloat(1 / std::sqrt(double(probe.headDim))),
        /*scale_by_inverse_layer=*/false, /*cap=*/FloatAttr(),
        /*slopes=*/DenseF64ArrayAttr(), /*log_base=*/FloatAttr(),
        /*span=*/IntegerAttr(), /*max_distance=*/IntegerAttr(), /*odd=*/false,
        /*rounded_slopes=*/false, /*sparse_block=*/IntegerAttr(),
        /*random_blocks=*/IntegerAttr(), /*blocks_before=*/IntegerAttr(),
        /*blocks_after=*/IntegerAttr(), /*factors=*/TypeAttr());
    y = transformer::GatherRowsOp::create(b, y, wanted.rows);
    y = linear(y, ".o");
    Value z = path.norm(y, probe.norm, probe.path + ".norm");
    z = path.activation(linear(z, ".up"), probe.act, probe.path + ".act");
    return transformer::AddOp::create(b, y, linear(z, ".down"));
  }
  Value operator()(const spec::DenseStep &dense) {
    Value y = path.linear(x, dense.path, dense.bias);
    return path.activation(y, dense.act, dense.path);
  }
  Value operator()(const spec::NormStep &norm) {
    return path.norm(x, norm.norm, norm.path);
  }
  Value operator()(const spec::LogitsStep &logits) {
    Value weight = path.weight(logits.weight);
    Value bias = logits.bias ? path.weight(logits.path + ".bias") : Value();
    return transformer::LinearOp::create(
        path.getBuilder(), path.loc(logits.path), x, weight, bias);
  }
  Value operator()(const spec::AdaptiveLogitsStep &logits) {
    OpBuilder &b = path.getBuilder();
    auto product = [&](Value rows, const std::string &name,
                       const std::string &matrix) -> Value {
      Value weight = path.weight(matrix);
      Value bias = logits.bias ? path.weight(name + ".bias") : Value();
      return transformer::LinearOp::create(b, path.loc(name), rows, weight,
                                           bias);
    };
    Value first, gates;
    SmallVector<Value> clusters;
    for (auto [number, matrix] : llvm::enumerate(logits.weights)) {
      std::string end = "." + std::to_string(number);
      Value rows = x;
      if (logits.pieces.isProjected()) {
        rows = path.linear(x, logits.path + ".projection" + end,
                           /*bias=*/false);
      }
      Value own = product(rows, logits.path + end, matrix);
      if (number > 0) {
        clusters.push_back(own);
        continue;
      }
      first = own;
      if (logits.weights.size() > 1) {
        std::string name = logits.path + ".clusters";
        gates = product(rows, name, name + ".weight");
      }
    }
    return transformer::LogSoftmaxOp::create(b, path.loc(logits.path), first,
                                             gates, clusters);
  }
  Value operator()(const spec::ActStep &act) {
    return path.activation(x, act.act, name);
  }
  Value operator()(const spec::ScaleStep &scale) {
    return path.scale(x, scale.factor, name + ".scale");
  }
  Value operator()(const spec::TruncateStep &truncate) {
    return transformer::SliceColumnsOp::create(
        path.getBuilder(), path.loc(name), x, 0, truncate.width,
        /*layer=*/Value());
  }
  Value operator()(const spec::L2NormalizeStep &normalize) {
    return transformer::L2NormalizeOp::create(path.getBuilder(),
                                              path.loc(name + ".l2_normalize"),
                                              x, APFloat(normalize.eps));
  }
  // Takes are the rows that the output asks for; splits are its columns.
  Value operator()(const spec::TakeStep &) { return x; }
  Value operator()(const spec::SplitStep &) { return x; }
};

} // namespace

Value tfc::buildHead(PathBuilder &path, const spec::ModelSpec &spec,
                     const spec::Head &head, Value x,
                     const WantedRows &wanted) {
  if (const spec::Head *before = findHead(spec, head.from)) {
    x = buildHead(path, spec, *before, x, wanted);
  }
  StepBuilder builder{path, "heads." + head.name, wanted, x};
  for (const spec::HeadStep &step : head.steps) {
    builder.x = std::visit(builder, step);
  }
  return builder.x;
}
