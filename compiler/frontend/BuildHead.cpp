// A head: its steps, on the rows that an output asks for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/BuildHead.h"

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
    if (auto *take = std::get_if<spec::TakeStep>(&step)) {
      return toTake(take->at);
    }
    if (std::holds_alternative<spec::PoolStep>(step)) {
      return transformer::Take::LastVisible;
    }
  }
  return takeOf(spec, head->from);
}

const spec::PoolStep *tfc::findPool(const spec::ModelSpec &spec,
                                    const std::string &value) {
  const spec::Head *head = findHead(spec, value);
  if (!head) {
    return nullptr;
  }
  for (const spec::HeadStep &step : head->steps) {
    if (auto *pool = std::get_if<spec::PoolStep>(&step)) {
      return pool;
    }
  }
  return findPool(spec, head->from);
}

transformer::Pooling tfc::toDialect(spec::PoolStep::How how) {
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

Value tfc::buildHead(PathBuilder &path, const spec::ModelSpec &spec,
                     const spec::Head &head, Value x,
                     llvm::function_ref<Value(Value)> pool) {
  if (const spec::Head *before = findHead(spec, head.from)) {
    x = buildHead(path, spec, *before, x, pool);
  }
  std::string name = "heads." + head.name;
  for (const spec::HeadStep &step : head.steps) {
    if (std::holds_alternative<spec::PoolStep>(step)) {
      x = pool(x);
    } else if (auto *dense = std::get_if<spec::DenseStep>(&step)) {
      x = path.linear(x, dense->path, dense->bias);
      x = path.activation(x, dense->act, dense->path);
    } else if (auto *norm = std::get_if<spec::NormStep>(&step)) {
      x = path.norm(x, norm->norm, norm->path);
    } else if (auto *logits = std::get_if<spec::LogitsStep>(&step)) {
      Value weight = path.weight(logits->weight);
      Value bias = logits->bias ? path.weight(logits->path + ".bias") : Value();
      x = transformer::LinearOp::create(
          path.getBuilder(), path.loc(logits->path), x, weight, bias);
    } else if (auto *act = std::get_if<spec::ActStep>(&step)) {
      x = path.activation(x, act->act, name);
    } else if (auto *scale = std::get_if<spec::ScaleStep>(&step)) {
      x = path.scale(x, scale->factor, name + ".scale");
    } else if (auto *truncate = std::get_if<spec::TruncateStep>(&step)) {
      x = transformer::SliceColumnsOp::create(path.getBuilder(), path.loc(name),
                                              x, 0, truncate->width);
    } else if (auto *normalize = std::get_if<spec::L2NormalizeStep>(&step)) {
      x = transformer::L2NormalizeOp::create(path.getBuilder(),
                                             path.loc(name + ".l2_normalize"),
                                             x, APFloat(normalize->eps));
    }
    // Takes are the rows that the output asks for; splits are its columns.
  }
  return x;
}
