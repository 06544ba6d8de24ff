// The page of tfc-bench: times beside what the machine allows, memory, and what
// each worker does in a step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/FormatText.h"
#include "runtime/tools/Page.h"
#include "runtime/tools/Report.h"

#include <algorithm>
#include <cmath>

namespace tfc::bench {

using tools::colorOf;
using tools::formatNumber;
using tools::formatText;
using tools::Page;
using tools::Picture;

namespace {

constexpr double width = 900;

std::string milliseconds(double seconds) {
  return formatText("%.3f ms", seconds * 1e3);
}

std::string percent(double share) { return formatText("%.0f%%", 100 * share); }

/// A point of a roofline: what is done in which time.
struct Point {
  std::string name, color;
  Cost cost;
  double seconds = 0, radius = 0;

  double intensity() const { return cost.flops / cost.bytes; }
  double rate() const { return cost.flops / seconds; }
  bool canBeDrawn() const {
    return cost.flops > 0 && cost.bytes > 0 && seconds > 0;
  }
};

/// An axis of powers of ten that has all the values.
class Axis {
public:
  Axis(double from, double to) : from(from), to(to) {}
  void include(double value) {
    if (value > 0 && std::isfinite(value)) {
      least = std::min(least, std::floor(std::log10(value)));
      most = std::max(most, std::ceil(std::log10(value)));
    }
  }
  void spread() {
    if (least > most) {
      least = most = 0;
    }
    most = std::max(most, least + 1);
  }
  double place(double value) const {
    return from + (std::log10(value) - least) / (most - least) * (to - from);
  }

  double least = 1e9, most = -1e9;

private:
  double from, to;
};

void addRoofline(Page &page, const Measurement &m) {
  constexpr double height = 380, left = 70, bottom = 340;
  std::vector<Point> points;
  points.push_back({m.workload, "#000", m.cost(), m.seconds.median(), 6});
  for (size_t i = 0; i < m.ops.size(); ++i) {
    const OpTime &op = m.ops[i];
    if (op.cost) {
      // Its area is its time.
      double radius = 4 + 16 * std::sqrt(op.seconds / m.opsSeconds);
      points.push_back({op.name, colorOf(i), *op.cost, op.seconds, radius});
    }
  }
  points.erase(
      std::remove_if(points.begin(), points.end(),
                     [](const Point &point) { return !point.canBeDrawn(); }),
      points.end());
  if (points.empty() || m.flopsLimit.count() == 0) {
    return;
  }
  double flops = std::max(m.flopsLimit.median(),
                          m.dotLimit.count() == 0 ? 0 : m.dotLimit.median());
  double reads = m.readLimit.count() == 0 ? 0 : m.readLimit.median();
  Axis x(left, width - 20), y(bottom, 20);
  for (const Point &point : points) {
    x.include(point.intensity());
    y.include(point.rate());
  }
  x.include(reads > 0 ? flops / reads : 0);
  y.include(flops);
  x.spread();
  y.spread();
  Picture picture(width, height, "roofline of " + m.workload);
  for (double power = x.least; power <= x.most; ++power) {
    double value = std::pow(10, power);
    picture.line(x.place(value), 20, x.place(value), bottom, "#eee");
    picture.text(x.place(value), bottom + 16, formatNumber(value),
                 Picture::Anchor::Middle);
  }
  for (double power = y.least; power <= y.most; ++power) {
    double value = std::pow(10, power);
    picture.line(left, y.place(value), width - 20, y.place(value), "#eee");
    picture.text(left - 6, y.place(value) + 4, formatNumber(value / 1e9),
                 Picture::Anchor::End);
  }
  picture.text(width / 2, height - 6, "operations for each byte read",
               Picture::Anchor::Middle);
  picture.text(4, 14, "GFLOP/s");
  // Under the roof from where it enters the picture.
  double first = std::pow(10, x.least), last = std::pow(10, x.most);
  std::vector<std::pair<double, double>> roof;
  if (reads > 0) {
    double begin = std::max(first, std::pow(10, y.least) / reads);
    roof.emplace_back(x.place(begin), y.place(std::min(flops, begin * reads)));
    double ridge = std::clamp(flops / reads, begin, last);
    roof.emplace_back(x.place(ridge), y.place(std::min(flops, ridge * reads)));
  } else {
    roof.emplace_back(x.place(first), y.place(flops));
  }
  roof.emplace_back(x.place(last), y.place(flops));
  picture.path(roof, "#888");
  for (const Point &point : points) {
    picture.circle(x.place(point.intensity()), y.place(point.rate()),
                   point.radius, point.color,
                   point.name + ": " + milliseconds(point.seconds) + ", " +
                       formatText("%.1f GFLOP/s, %.1f operations a byte",
                                  point.rate() / 1e9, point.intensity()));
  }
  page.picture(picture);
  page.paragraph(
      formatText("The line is what this machine allows, measured between the "
                 "runs: %.1f GFLOP/s",
                 flops / 1e9) +
      (reads > 0 ? formatText(", %.1f GB/s", reads / 1e9) : std::string()) +
      ". The black point is the workload, the others are its ops; their area "
      "is their time.");
}

void addOps(Page &page, const Measurement &m) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::pair<std::string, double>> parts;
  double inside = 0;
  for (const OpTime &op : m.ops) {
    bool isKnown = op.cost && op.seconds > 0;
    rows.push_back(
        {op.name, formatText("%.0f", op.calls), milliseconds(op.seconds),
         percent(op.seconds / m.opsSeconds),
         isKnown ? formatText("%.1f", op.cost->flops / op.seconds / 1e9) : "-",
         isKnown ? formatText("%.1f", op.cost->bytes / op.seconds / 1e9) : "-",
         isKnown ? percent(m.rooflineShare(op)) : "-",
         milliseconds(op.imbalance), milliseconds(op.overhead)});
    parts.emplace_back(op.name, op.seconds);
    inside += op.seconds;
  }
  parts.emplace_back("outside of loops", std::max(0.0, m.opsSeconds - inside));
  tools::addBar(page, "time of each op", parts, milliseconds);
  page.table({"op", "calls", "time", "share", "GFLOP/s", "GB/s", "roof",
              "imbalance", "overhead"},
             rows);
}

/// A lane a worker; the colours are those of the ops.
void addTimeline(Page &page, const Measurement &m) {
  constexpr size_t mostPieces = 6000;
  constexpr double left = 70, lane = 26, top = 20;
  std::vector<TimedPiece> pieces = m.timeline;
  std::sort(pieces.begin(), pieces.end(),
            [](const TimedPiece &a, const TimedPiece &b) {
              return a.end - a.begin > b.end - b.begin;
            });
  size_t leftOut = pieces.size() - std::min(pieces.size(), mostPieces);
  pieces.resize(pieces.size() - leftOut);
  double end = 0;
  uint32_t workers = 1;
  for (const TimedPiece &piece : pieces) {
    end = std::max(end, piece.end);
    workers = std::max(workers, piece.worker + 1);
  }
  double scale = end > 0 ? (width - left - 20) / end : 0;
  Picture picture(width, top + lane * workers + 24, "time line");
  for (uint32_t worker = 0; worker < workers; ++worker) {
    picture.text(4, top + lane * (worker + 0.7), rt::concat("worker ", worker));
  }
  for (const TimedPiece &piece : pieces) {
    double seconds = piece.end - piece.begin;
    picture.rectangle(
        left + piece.begin * scale, top + lane * piece.worker,
        std::max(0.3, seconds * scale), lane - 4, colorOf(piece.op),
        m.ops[piece.op].name + ": " + formatText("%.1f us", seconds * 1e6));
  }
  double bottom = top + lane * workers + 14;
  picture.text(left, bottom, "0");
  picture.text(width - 20, bottom, milliseconds(end), Picture::Anchor::End);
  page.picture(picture);
  if (leftOut > 0) {
    page.paragraph(rt::concat("The ", leftOut, " shortest pieces of ",
                              leftOut + pieces.size(), " are not drawn."));
  }
}

void addWorkload(Page &page, const Measurement &m) {
  page.heading(m.workload);
  page.table(
      {"", "median", "least", "p95", "most"},
      {{"time", milliseconds(m.seconds.median()),
        milliseconds(m.seconds.least()), milliseconds(m.seconds.quantile(0.95)),
        milliseconds(m.seconds.most())}});
  page.paragraph(formatText("%.1f tokens a second; %.0f%% of what the machine "
                            "allows; %zu runs.",
                            m.tokensPerSecond(), 100 * m.rooflineShare(),
                            m.seconds.count()));
  addRoofline(page, m);
  if (!m.ops.empty()) {
    addOps(page, m);
  }
  if (!m.timeline.empty()) {
    addTimeline(page, m);
  }
}

} // namespace

std::string printHtml(const Setting &setting,
                      const std::vector<Measurement> &measurements) {
  Page page("tfc-bench: " + setting.model);
  page.paragraph(rt::concat("Program ", setting.program, ", ", setting.threads,
                            " threads, ", setting.producer, ", on ",
                            setting.device.empty() ? "" : setting.device + ", ",
                            setting.cpu, "."));
  std::vector<std::vector<std::string>> rows;
  for (const Measurement &m : measurements) {
    rows.push_back({m.workload, milliseconds(m.seconds.median()),
                    formatText("%.1f", m.tokensPerSecond()),
                    m.flopsLimit.count() == 0 ? "-" : percent(m.flopsShare()),
                    m.readLimit.count() == 0 ? "-" : percent(m.readShare()),
                    percent(m.rooflineShare())});
  }
  page.table({"workload", "median", "tokens/s", "of multiply-adds", "of reads",
              "roof"},
             rows);
  page.heading("memory");
  uint64_t cache = 0, workspace = 0;
  for (const Measurement &m : measurements) {
    cache = std::max(cache, m.cacheBytes);
    workspace = std::max(workspace, m.workspaceBytes);
  }
  tools::addBar(page, "memory",
                {{"packed weights (" + setting.weights + ")",
                  static_cast<double>(setting.weightBytes)},
                 {"cache, at most", static_cast<double>(cache)},
                 {"workspace, at most", static_cast<double>(workspace)},
                 {"library", static_cast<double>(setting.libraryBytes)}},
                tools::formatBytes);
  page.paragraph("Peak of the process, until it was loaded and measured: " +
                 tools::formatBytes(static_cast<double>(setting.peakBytes)) +
                 formatText("; loaded in %.2f s.", setting.loadSeconds));
  for (const Measurement &m : measurements) {
    addWorkload(page, m);
  }
  return page.finish();
}

} // namespace tfc::bench
