// A request of the C API as the session has it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/capi/ReadRequest.h"

#include "runtime/src/capi/CapiOptions.h"

#include <algorithm>

namespace tfc::rt {

static constexpr uint32_t mostLogProbabilities = 1024, mostAnswers = 1024;

Result<RequestOptions> readExtras(const tfc_request &given) {
  RequestOptions options;
  bool hasNull = (given.n_decoder_tokens != 0 && !given.decoder_tokens) ||
                 (given.n_stops != 0 && !given.stops) ||
                 (given.n_logit_bias != 0 && !given.logit_bias) ||
                 (given.n_head_rows != 0 && !given.head_rows);
  if (hasNull) {
    return std::move(nullArgument().error());
  }
  Faults faults;
  for (uint32_t i = 0; i < given.n_stops; ++i) {
    const tfc_token_list &stop = given.stops[i];
    if (!stop.tokens || stop.n_tokens < 1) {
      faults.add(makeError(Code::InvalidArgument, "stops: expected at least 1 ",
                           "token in number ", i, ", got ", stop.n_tokens));
      continue;
    }
    options.stops.emplace_back(stop.tokens, stop.tokens + stop.n_tokens);
  }
  for (uint64_t i = 0; i < given.n_logit_bias; ++i) {
    const tfc_logit_bias &bias = given.logit_bias[i];
    faults.add(checkReserved(bias.reserved));
    options.bias.emplace_back(bias.token, bias.bias);
  }
  if (given.n_logprobs > mostLogProbabilities) {
    faults.add(makeError(Code::InvalidArgument, "n_logprobs: expected at most ",
                         mostLogProbabilities, ", got ", given.n_logprobs));
  }
  if (given.n > mostAnswers) {
    faults.add(makeError(Code::InvalidArgument, "n: expected at most ",
                         mostAnswers, ", got ", given.n));
  }
  if (given.echo != 0 && given.n_head_rows != 0) {
    faults.add(makeError(Code::InvalidArgument, "head_rows: expected none ",
                         "with echo (which is of all tokens), got ",
                         given.n_head_rows));
  }
  options.headRows.assign(given.head_rows, given.head_rows + given.n_head_rows);
  options.numLogProbabilities = given.n_logprobs;
  options.numAnswers = std::max<uint32_t>(given.n, 1);
  options.index = given.index;
  options.keeps = given.keep != 0;
  options.echoes = given.echo != 0;
  options.prefix = given.prefix;
  auto eos = readEos(given);
  faults.add(statusOf(eos));
  if (faults.any()) {
    return std::move(faults.take().error());
  }
  options.eos = std::move(*eos);
  return options;
}

} // namespace tfc::rt
