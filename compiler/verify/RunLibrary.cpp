// A compiled library as the runtime runs it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/verify/RunLibrary.h"

#include <list>

using namespace tfc;

rt::Result<std::unique_ptr<RunningLibrary>>
RunningLibrary::load(const std::string &library, const std::string &weights) {
  std::unique_ptr<RunningLibrary> running(new RunningLibrary());
  rt::LoadOptions options;
  options.libraryPath = library;
  options.weightsPath = weights;
  options.tap = [taps = &running->taps](const rt::TappedValue &value) {
    taps->push_back({value.id, value.layer, value.rows, value.width,
                     std::vector<float>(
                         value.data, value.data + value.rows * value.width)});
    return false;
  };
  auto model = rt::Model::load(options);
  if (!model) {
    return std::move(model.error());
  }
  running->model = std::move(*model);
  return running;
}

rt::Result<std::vector<rt::OutputTensor>>
RunningLibrary::forward(llvm::ArrayRef<EntryInfo> entries,
                        llvm::ArrayRef<PaddedBatch> batches) {
  std::vector<std::string> masks;
  std::vector<tfc_tensor> tensors;
  std::list<std::vector<float>> given;
  for (const EntryInfo &info : entries) {
    masks.push_back(info.maskName());
  }
  auto add = [&](const std::string &name, const PaddedBatch &batch,
                 const std::vector<int32_t> &values) {
    tensors.push_back({name.c_str(),
                       TFC_I32,
                       2,
                       {batch.batch, batch.length, 0},
                       values.data()});
  };
  for (const auto &[mask, batch] : llvm::zip(masks, batches)) {
    for (const auto &[name, values] : batch.inputs) {
      add(name, batch, values);
    }
    for (const auto &[name, rows] : batch.given) {
      // Every one was a float.
      given.emplace_back(rows.data.begin(), rows.data.end());
      tensors.push_back({name.c_str(),
                         TFC_F32,
                         3,
                         {batch.batch, rows.rows / batch.batch, rows.cols},
                         given.back().data()});
    }
    add(mask, batch, batch.mask);
  }
  return rt::runForward(*model, tensors.data(),
                        static_cast<uint32_t>(tensors.size()), {});
}

static rt::Status open(const rt::Model &model,
                       const rt::SessionOptions &options,
                       std::unique_ptr<rt::Session> &session) {
  auto opened = rt::Session::create(model, options);
  if (!opened) {
    return std::move(opened.error());
  }
  session = std::move(*opened);
  return {};
}

rt::Status RunningLibrary::openSession(bool readsLogits) {
  rt::SessionOptions options;
  finder.reset();
  if (readsLogits) {
    // Whoever may change logits gets them.
    options.logits.change = [](void *, uint64_t, float *, int64_t) {};
  }
  rt::Status status = open(*model, options, session);
  return status && readsLogits && model->givesGreatest()
             ? open(*model, {}, finder)
             : status;
}

rt::Result<uint64_t>
RunningLibrary::addPrompt(const std::vector<int64_t> &prompt,
                          int64_t newTokens) {
  auto addTo = [&](rt::Session &one) {
    return one.add({prompt.data(), static_cast<int64_t>(prompt.size())}, {},
                   newTokens, {std::vector<int64_t>()});
  };
  if (finder) {
    auto added = addTo(*finder);
    if (!added) {
      return added;
    }
  }
  return addTo(*session);
}

rt::Result<llvm::ArrayRef<tfc_new_token>> RunningLibrary::step() {
  rt::Status status = session->step();
  if (status && finder) {
    status = finder->step();
  }
  if (!status) {
    return std::move(status.error());
  }
  return llvm::ArrayRef<tfc_new_token>(session->newTokens());
}

CompiledTap RunningLibrary::logits() const {
  const tfc_port_v0 &port =
      model->generateEntry()->outputs[model->logitsPort()];
  auto rows = static_cast<int64_t>(session->newTokens().size());
  const float *data = session->logits();
  return {"logits", -1, rows, port.width,
          std::vector<float>(data, data + rows * port.width)};
}

llvm::ArrayRef<tfc_new_token> RunningLibrary::found() const {
  return finder ? llvm::ArrayRef<tfc_new_token>(finder->newTokens())
                : llvm::ArrayRef<tfc_new_token>();
}
