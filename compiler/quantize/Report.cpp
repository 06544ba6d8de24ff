// Prints tables and JSON.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/quantize/Report.h"

#include "llvm/Support/FormatVariadic.h"

#include <nlohmann/json.hpp>

#include <cmath>

using namespace tfc;
using namespace tfc::quantize;
using Json = nlohmann::ordered_json;

namespace {

/// The matrices of a kind.
struct KindLine {
  std::string kind;
  std::string precision;
  size_t count = 0;
  double worstWeight = 1e9, sumProduct = 0, worstProduct = 1e9;
  int64_t worstLayer = 0;
};

} // namespace

static std::vector<KindLine> linesOf(const QuantizedModel &model) {
  std::vector<KindLine> lines;
  for (size_t i = 0; i < model.products.matrices.size(); ++i) {
    const Matrix &matrix = model.products.matrices[i];
    auto line = llvm::find_if(
        lines, [&](const KindLine &each) { return each.kind == matrix.kind; });
    if (line == lines.end()) {
      lines.push_back({matrix.kind, model.isKept(i)    ? "16 bits"
                                    : model.group == 0 ? "int8"
                                                       : "int4"});
      line = std::prev(lines.end());
    }
    ++line->count;
    line->worstWeight = std::min(line->worstWeight, model.weightSnr[i]);
    line->sumProduct += model.productSnr[i];
    if (model.productSnr[i] < line->worstProduct) {
      line->worstProduct = model.productSnr[i];
      line->worstLayer = matrix.layer;
    }
  }
  return lines;
}

static std::string describe(const Calibration &calibration) {
  std::string text = llvm::formatv("{0} texts, {1} tokens", calibration.texts,
                                   calibration.tokens);
  return calibration.file.empty()
             ? text +
                   (calibration.isGenerated ? " that the model generated"
                                            : " drawn at random") +
                   " (no --calibrate)"
             : text + " of " + calibration.file;
}

void tfc::quantize::printReport(const QuantizedModel &model,
                                const Calibration &calibration,
                                const Judged &judged, llvm::raw_ostream &out) {
  out << "calibrated on " << describe(calibration) << '\n';
  size_t count = llvm::count_if(
      model.smoothed, [](const Smoothed &each) { return each.alpha != 0; });
  out << llvm::formatv("smoothed: {0} of {1} places\n", count,
                       model.smoothed.size());
  out << llvm::formatv("{0,-32} {1,8} {2,10} {3,10} {4,10} {5,6}\n", "matrices",
                       "kept in", "weights dB", "product dB", "worst dB",
                       "layer");
  for (const KindLine &line : linesOf(model)) {
    out << llvm::formatv("{0,-32} {1,8} {2,10:F1} {3,10:F1} {4,10:F1} {5,6}\n",
                         line.kind, line.precision, line.worstWeight,
                         line.sumProduct / static_cast<double>(line.count),
                         line.worstProduct, line.worstLayer);
  }
  const Distance &distance = judged.distance;
  out << llvm::formatv("{0}: {1:F1} dB, worst cosine {2:F6}", judged.output,
                       distance.snr(), distance.worstCosine());
  if (distance.hasLogits()) {
    out << llvm::formatv(", top-1 {0:F2} %, KL mean {1:e2}, 99th percentile "
                         "{2:e2}",
                         100 * distance.top1(), distance.meanKl(),
                         distance.p99Kl());
  }
  out << " (of " << distance.rows() << " rows)\n";
}

std::string tfc::quantize::reportText(const QuantizedModel &model,
                                      const Calibration &calibration,
                                      const Judged &judged) {
  const char *dtype = model.group == 0 ? "int8" : "int4";
  Json report = {{"dtype", dtype},
                 {"calibration",
                  {{"source", !calibration.file.empty() ? "file"
                              : calibration.isGenerated ? "generated"
                                                        : "random"},
                   {"texts", calibration.texts},
                   {"tokens", calibration.tokens}}}};
  const Distance &distance = judged.distance;
  Json output = {{"output", judged.output},
                 {"rows", distance.rows()},
                 {"snr_db", distance.snr()},
                 {"worst_cosine", distance.worstCosine()}};
  if (distance.hasLogits()) {
    output["top1"] = distance.top1();
    output["mean_kl"] = distance.meanKl();
    output["p99_kl"] = distance.p99Kl();
  }
  report["model"] = std::move(output);
  if (model.group != 0) {
    report["group"] = model.group;
  }
  report["kept"] = model.kept;
  report["smoothing"] = Json::array();
  for (const Smoothed &each : model.smoothed) {
    report["smoothing"].push_back(
        {{"site", each.site}, {"layer", each.layer}, {"alpha", each.alpha}});
  }
  report["matrices"] = Json::array();
  for (size_t i = 0; i < model.products.matrices.size(); ++i) {
    const Matrix &matrix = model.products.matrices[i];
    report["matrices"].push_back({{"tensor", matrix.tensor},
                                  {"kind", matrix.kind},
                                  {"layer", matrix.layer},
                                  {dtype, !model.isKept(i)},
                                  {"weight_snr_db", model.weightSnr[i]},
                                  {"product_snr_db", model.productSnr[i]}});
  }
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}
