// Texts that wait to be encoded: those of several jobs go into one pass.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/serve/EncodeQueue.h"

#include "runtime/src/step/Inputs.h"

#include <algorithm>

namespace tfc::rt {

uint64_t TextBatch::numTokens() const {
  uint64_t sum = 0;
  for (const std::vector<int64_t> &text : texts) {
    sum += text.size();
  }
  return sum;
}

int64_t TextBatch::longest() const {
  size_t most = 0;
  for (const std::vector<int64_t> &text : texts) {
    most = std::max(most, text.size());
  }
  return static_cast<int64_t>(most);
}

namespace {

/// A batch padded on the right, as tensors.
class PaddedTexts {
public:
  PaddedTexts(const Model &model, const TextBatch &batch)
      : rows(static_cast<int64_t>(batch.texts.size())),
        length(batch.longest()) {
    int64_t pad = std::max<int64_t>(0, model.table().pad);
    fill(batch.texts, pad, ids);
    std::vector<std::vector<int64_t>> ones;
    for (size_t i = 0; i < batch.texts.size(); ++i) {
      size_t size = batch.texts[i].size();
      size_t numUnseen =
          batch.unseen.empty() ? 0 : static_cast<size_t>(batch.unseen[i]);
      ones.emplace_back(size - numUnseen, 1);
      if (!batch.unseen.empty()) {
        unseen.push_back({static_cast<int64_t>(size - numUnseen),
                          static_cast<int64_t>(numUnseen)});
      }
    }
    fill(ones, 0, mask);
    add("input_ids", ids);
    add("attention_mask", mask);
    if (!batch.types.empty()) {
      fill(batch.types, 0, types);
      add("token_type_ids", types);
    }
  }
  PaddedTexts(const PaddedTexts &) = delete;
  PaddedTexts &operator=(const PaddedTexts &) = delete;

  const tfc_tensor *data() const { return tensors.data(); }
  uint32_t size() const { return static_cast<uint32_t>(tensors.size()); }

  std::vector<InputBatch::Unseen> unseen;

private:
  void fill(const std::vector<std::vector<int64_t>> &lists, int64_t value,
            std::vector<int64_t> &to) const {
    to.assign(static_cast<size_t>(rows * length), value);
    for (size_t row = 0; row < lists.size(); ++row) {
      std::copy(lists[row].begin(), lists[row].end(),
                to.begin() + static_cast<int64_t>(row) * length);
    }
  }
  void add(const char *name, const std::vector<int64_t> &values) {
    tensors.push_back({name, TFC_I64, 2, {rows, length, 0}, values.data()});
  }

  int64_t rows, length;
  std::vector<int64_t> ids, mask, types;
  std::vector<tfc_tensor> tensors;
};

bool hasOutput(const tfc_entry_v0 *entry, const std::string &name) {
  for (uint32_t p = 0; entry && p < entry->n_outputs; ++p) {
    if (name == entry->outputs[p].name) {
      return true;
    }
  }
  return false;
}

/// The next texts of a job, or all that go into a pass.
struct Part {
  EncodeJob *job;
  size_t first, count;
};

/// Values of a row, of one token where there is one a token.
int64_t widthOf(const OutputTensor &tensor) {
  int64_t width = 1;
  for (size_t d = tensor.isPerToken ? 2 : 1; d < tensor.shape.size(); ++d) {
    width *= tensor.shape[d];
  }
  return width;
}

/// Copies `count` rows of a result, as far as the columns of both go.
template <typename T>
void copyRows(const OutputTensor &from, int64_t firstFrom,
              const std::vector<T> &values, int64_t firstTo, int64_t count,
              OutputTensor &to, std::vector<T> &out) {
  int64_t width = widthOf(from);
  int64_t read = from.isPerToken ? from.shape[1] : 1;
  int64_t written = from.isPerToken ? to.shape[1] : 1;
  int64_t size = std::min(read, written) * width;
  for (int64_t row = 0; row < count && !values.empty(); ++row) {
    std::copy_n(values.begin() + (firstFrom + row) * read * width, size,
                out.begin() + (firstTo + row) * written * width);
  }
}

/// A job's results before any is there.
void makeResults(const std::vector<OutputTensor> &like, EncodeJob &job) {
  for (const OutputTensor &from : like) {
    OutputTensor &made = job.results.emplace_back();
    made.name = from.name;
    made.dtype = from.dtype;
    made.shape = from.shape;
    made.isPerToken = from.isPerToken;
    made.shape[0] = static_cast<int64_t>(job.batch.texts.size());
    if (made.isPerToken) {
      made.shape[1] = job.batch.longest();
    }
    size_t size = 1;
    for (int64_t extent : made.shape) {
      size *= static_cast<size_t>(extent);
    }
    made.floats.resize(from.floats.empty() ? 0 : size);
    made.ints.resize(from.ints.empty() ? 0 : size);
  }
}

void keepResults(const std::vector<OutputTensor> &results, const Part &part,
                 int64_t row) {
  EncodeJob &job = *part.job;
  if (job.results.empty()) {
    makeResults(results, job);
  }
  auto first = static_cast<int64_t>(part.first);
  auto count = static_cast<int64_t>(part.count);
  for (size_t p = 0; p < results.size(); ++p) {
    OutputTensor &to = job.results[p];
    copyRows(results[p], row, results[p].floats, first, count, to, to.floats);
    copyRows(results[p], row, results[p].ints, first, count, to, to.ints);
  }
  job.numDone += part.count;
}

/// Which texts go: of the first job, and of those that want the same.
std::vector<Part> chooseParts(const std::vector<EncodeJob *> &jobs,
                              uint64_t maxTokens) {
  std::vector<Part> parts;
  const TextBatch &lead = jobs.front()->batch;
  uint64_t left = maxTokens;
  for (EncodeJob *job : jobs) {
    if (job->batch.outputs != lead.outputs ||
        job->batch.types.empty() != lead.types.empty() ||
        job->batch.unseen.empty() != lead.unseen.empty()) {
      continue;
    }
    Part part{job, job->numBegun, 0};
    const auto &texts = job->batch.texts;
    for (size_t i = part.first; i < texts.size(); ++i) {
      bool isFirst = parts.empty() && part.count == 0;
      if (texts[i].size() > left && !isFirst) {
        break;
      }
      left -= std::min<uint64_t>(left, texts[i].size());
      ++part.count;
    }
    bool isFull = part.first + part.count != texts.size();
    if (part.count != 0) {
      parts.push_back(part);
    }
    if (isFull) {
      break; // none overtakes another
    }
  }
  return parts;
}

Result<std::vector<OutputTensor>> runParts(const Model &model,
                                           const std::vector<Part> &parts,
                                           const StopRequest &stop) {
  TextBatch batch;
  for (const Part &part : parts) {
    const TextBatch &from = part.job->batch;
    for (size_t i = part.first; i < part.first + part.count; ++i) {
      batch.texts.push_back(from.texts[i]);
      if (!from.types.empty()) {
        batch.types.push_back(from.types[i]);
      }
      if (!from.unseen.empty()) {
        batch.unseen.push_back(from.unseen[i]);
      }
    }
  }
  PaddedTexts padded(model, batch);
  auto results = runForward(model, padded.data(), padded.size(),
                            parts.front().job->batch.outputs, stop,
                            /*headRows=*/{}, std::move(padded.unseen));
  for (size_t p = 0; results && p < results->size(); ++p) {
    const OutputTensor &output = (*results)[p];
    if (output.shape[0] != static_cast<int64_t>(batch.texts.size()) ||
        (output.isPerToken && output.shape[1] != batch.longest())) {
      return makeError(Code::Unsupported, "output ", quoteName(output.name),
                       ": expected a row a text or a token, got shape ",
                       shapeText(output.shape));
    }
  }
  return results;
}

/// Whether it is nobody's fault.
bool isCommon(const Error &error) {
  return error.code == Code::Cancelled || error.code == Code::Internal;
}

} // namespace

Status checkTexts(const Model &model, const TextBatch &batch) {
  Faults faults;
  for (size_t i = 0; i < batch.texts.size(); ++i) {
    size_t size = batch.texts[i].size();
    if (size == 0) {
      faults.add(makeError(Code::InvalidArgument, "text ", i,
                           ": expected at least 1 token, got none"));
    } else if (!batch.types.empty() && batch.types[i].size() != size) {
      faults.add(makeError(Code::InvalidArgument, "type_ids of text ", i,
                           ": expected ", size, " (its tokens), got ",
                           batch.types[i].size()));
    }
  }
  for (size_t i = 0; i < batch.unseen.size(); ++i) {
    if (batch.unseen[i] >= batch.texts[i].size()) {
      faults.add(makeError(Code::InvalidArgument, "n_unseen of text ", i,
                           ": expected less than its ", batch.texts[i].size(),
                           " tokens, got ", batch.unseen[i]));
    }
  }
  bool isEncoder =
      model.encoder() && !model.decoder() && !model.isCausal(*model.encoder());
  if (!batch.unseen.empty() && !isEncoder) {
    faults.add(makeError(Code::Unsupported, "n_unseen: expected with an ",
                         "encoder only, got a model of another kind"));
  }
  for (const std::string &name : batch.outputs) {
    if (!hasOutput(model.encoder(), name) &&
        !hasOutput(model.decoder(), name)) {
      faults.add(makeError(Code::InvalidArgument, "output ", quoteName(name),
                           ": expected an output of the model, got another ",
                           "name"));
    }
  }
  if (faults.any()) {
    return faults.take();
  }
  PaddedTexts padded(model, batch);
  auto inputs = readInputs(model, padded.data(), padded.size());
  return inputs ? Status() : Status(std::move(inputs.error()));
}

Result<uint64_t> encodeNext(const Model &model,
                            const std::vector<EncodeJob *> &jobs,
                            uint64_t maxTokens, const StopRequest &stop) {
  std::vector<Part> parts = chooseParts(jobs, maxTokens);
  auto results = runParts(model, parts, stop);
  if (!results && isCommon(results.error())) {
    return std::move(results.error());
  }
  uint64_t numTokens = 0;
  int64_t row = 0;
  for (const Part &part : parts) {
    part.job->numBegun += part.count;
    for (size_t i = part.first; i < part.first + part.count; ++i) {
      numTokens += part.job->batch.texts[i].size();
    }
    if (results) {
      keepResults(*results, part, row);
      row += static_cast<int64_t>(part.count);
      continue;
    }
    // Whose fault it was comes out alone.
    auto own =
        parts.size() == 1 ? std::move(results) : runParts(model, {part}, stop);
    if (own) {
      keepResults(*own, part, 0);
    } else if (isCommon(own.error())) {
      return std::move(own.error());
    } else {
      part.job->fault = std::move(own.error());
    }
  }
  return numTokens;
}

} // namespace tfc::rt
