// `tfc inspect --html`: pictures of a model and of a library.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/InspectPage.h"

#include "runtime/tools/FormatText.h"
#include "runtime/tools/Page.h"

#include <algorithm>

using namespace tfc;
using tools::colorOf;
using tools::formatBytes;
using tools::formatText;
using tools::Page;
using tools::Picture;

static constexpr double width = 900;

namespace {

/// Colours by what a thing is called, in the order in which they were met.
class Colors {
public:
  std::string of(const std::string &name) {
    auto known = std::find(names.begin(), names.end(), name);
    auto number = static_cast<size_t>(known - names.begin());
    if (known == names.end()) {
      names.push_back(name);
    }
    return colorOf(number);
  }
  const std::vector<std::string> &all() const { return names; }

private:
  std::vector<std::string> names;
};

} // namespace

static double sizeOf(const spec::Parameter &parameter) {
  return static_cast<double>(parameter.rows) *
         static_cast<double>(parameter.cols) *
         static_cast<double>(parameter.layers) *
         static_cast<double>(std::max<int64_t>(parameter.experts, 1));
}

/// "encoder.layers.attn" of "encoder.layers.attn.q.weight": what a parameter is
/// part of.
static std::string groupOf(const std::string &name) {
  size_t layers = name.find(".layers");
  size_t from = layers == std::string::npos ? 0 : name.find('.', layers + 1);
  size_t end = from == std::string::npos ? from : name.find('.', from + 1);
  return name.substr(0, end);
}

static std::string describe(const spec::Ffn &ffn) {
  return formatText("%lld wide%s", static_cast<long long>(ffn.width),
                    ffn.gated ? ", gated" : "");
}

static std::string describe(const spec::Moe &moe) {
  return formatText(
      "%lld of %lld experts, %lld wide", static_cast<long long>(moe.perToken),
      static_cast<long long>(moe.experts), static_cast<long long>(moe.width));
}

static std::string describe(const spec::Conv &conv) {
  return formatText("over %lld tokens", static_cast<long long>(conv.kernel));
}

static std::string describe(const spec::LayerInput &) {
  return "of the layer's own of the tokens";
}

static std::string describe(const spec::LowRank &own) {
  return formatText("of rank %lld", static_cast<long long>(own.rank));
}

static std::string describe(const spec::Ngram &ngram) {
  return formatText("over %lld tokens", static_cast<long long>(ngram.kernel));
}

static std::string describe(const spec::Recurrent &recurrent) {
  if (recurrent.kind == spec::Recurrent::Kind::Mamba) {
    return formatText("%lld columns of %lld numbers",
                      static_cast<long long>(recurrent.valueDim),
                      static_cast<long long>(recurrent.keyDim));
  }
  return formatText("%lld heads of %lld x %lld",
                    static_cast<long long>(recurrent.valueHeads),
                    static_cast<long long>(recurrent.keyDim),
                    static_cast<long long>(recurrent.valueDim));
}

static std::string describe(const spec::Attention &attn) {
  if (attn.latent) {
    return formatText("%lld heads of latents, %lld and %lld wide",
                      static_cast<long long>(attn.numHeads),
                      static_cast<long long>(attn.latent->rank),
                      static_cast<long long>(attn.latent->ropeDim));
  }
  std::string text =
      formatText("%lld heads, %lld for keys and values, %lld wide",
                 static_cast<long long>(attn.numHeads),
                 static_cast<long long>(attn.numKvHeads),
                 static_cast<long long>(attn.headDim));
  if (attn.window) {
    text +=
        formatText(", window %lld", static_cast<long long>(attn.window->left));
  }
  return text;
}

static std::string describe(const spec::Sublayer &sublayer) {
  return std::visit([](const auto &f) { return describe(f); }, sublayer.f);
}

/// A row a layer, a box a sublayer; the embeddings are at the top.
static void drawStack(const spec::Stack &stack, Page &page) {
  constexpr double left = 60, top = 4, box = 180;
  double layers = static_cast<double>(std::max<int64_t>(stack.layers, 1));
  double row = std::clamp(480 / layers, 4.0, 26.0);
  Picture picture(width, top + row * layers + 8, "layers of the " + stack.name);
  Colors colors;
  int64_t layer = 0;
  for (const spec::LayerRun &run : stack.runs) {
    for (const spec::LayerGroup &group : run.groups) {
      for (int64_t i = 0; i < group.count; ++i, ++layer) {
        double y = top + row * static_cast<double>(layer);
        double x = left;
        for (const spec::Sublayer &sublayer : group.sublayers) {
          picture.rectangle(
              x, y, box, row - 1, colors.of(sublayer.name),
              formatText("layer %lld, ", static_cast<long long>(layer)) +
                  sublayer.name + ": " + describe(sublayer));
          x += box + 4;
        }
        if (row >= 13 || layer % 8 == 0) {
          picture.text(left - 8, y + std::min(row, 13.0) - 2,
                       std::to_string(layer), Picture::Anchor::End);
        }
      }
    }
  }
  page.heading("layers of the " + stack.name);
  page.picture(picture);
  page.legend(colors.all());
}

static void drawParameters(const spec::ModelSpec &model, Page &page) {
  std::vector<std::pair<std::string, double>> groups;
  std::vector<std::vector<std::string>> rows;
  for (const spec::Parameter &parameter : model.parameters) {
    if (!parameter.tiedTo.empty()) {
      continue;
    }
    std::string name = groupOf(parameter.name);
    auto known =
        std::find_if(groups.begin(), groups.end(),
                     [&](const auto &group) { return group.first == name; });
    if (known == groups.end()) {
      groups.emplace_back(name, sizeOf(parameter));
    } else {
      known->second += sizeOf(parameter);
    }
    rows.push_back({parameter.name, std::to_string(parameter.layers),
                    std::to_string(parameter.rows),
                    parameter.rank == 2 ? std::to_string(parameter.cols) : "",
                    formatText("%.0f", sizeOf(parameter))});
  }
  page.heading("parameters");
  tools::addBar(page, "parameters", groups,
                [](double numbers) { return formatText("%.0f", numbers); });
  page.table({"parameter", "layers", "rows", "columns", "numbers"}, rows);
}

std::string tfc::drawSpec(const spec::ModelSpec &model,
                          const std::string &text) {
  Page page("tfc inspect: " + model.name);
  page.lines(text);
  for (const spec::Stack *stack : model.stacks()) {
    drawStack(*stack, page);
  }
  drawParameters(model, page);
  return page.finish();
}

namespace {

/// A line of a chart: a value for each of the same numbers.
struct Curve {
  std::string name;
  std::vector<double> values;
};

} // namespace

/// Bytes over numbers, both from zero on.
static void drawCurves(Page &page, const std::string &label,
                       const std::vector<int64_t> &at,
                       const std::vector<Curve> &curves) {
  constexpr double left = 80, right = width - 20, top = 14, bottom = 220;
  double most = 1;
  for (const Curve &curve : curves) {
    for (double value : curve.values) {
      most = std::max(most, value);
    }
  }
  auto x = [&](int64_t number) {
    return left + (right - left) * static_cast<double>(number) /
                      static_cast<double>(at.back());
  };
  auto y = [&](double value) { return bottom - (bottom - top) * value / most; };
  Picture picture(width, bottom + 40, label);
  for (int part = 0; part <= 4; ++part) {
    double value = most * part / 4;
    picture.line(left, y(value), right, y(value), "#eee");
    picture.text(left - 6, y(value) + 4, formatBytes(value),
                 Picture::Anchor::End);
    int64_t number = at.back() * part / 4;
    picture.text(x(number), bottom + 16, std::to_string(number),
                 part == 4 ? Picture::Anchor::End : Picture::Anchor::Middle);
  }
  picture.text((left + right) / 2, bottom + 34, label, Picture::Anchor::Middle);
  std::vector<std::string> names;
  for (const Curve &curve : curves) {
    std::vector<std::pair<double, double>> points;
    for (size_t i = 0; i < at.size(); ++i) {
      points.emplace_back(x(at[i]), y(curve.values[i]));
      picture.circle(points.back().first, points.back().second, 4,
                     colorOf(names.size()),
                     curve.name + ", " + std::to_string(at[i]) + ": " +
                         formatBytes(curve.values[i]));
    }
    picture.path(points, colorOf(names.size()));
    names.push_back(curve.name);
  }
  page.picture(picture);
  page.legend(names);
}

std::string tfc::drawLibrary(const tfc_module_v0 &module,
                             const std::string &text) {
  const std::vector<int64_t> tokens = {1, 32, 64, 128, 256, 384, 512};
  std::vector<Curve> workspaces, caches;
  std::vector<std::pair<std::string, double>> packed;
  for (uint32_t i = 0; i < module.n_programs; ++i) {
    const tfc_program_v0 &program = module.programs[i];
    packed.emplace_back(program.name,
                        static_cast<double>(program.packed_bytes));
    for (uint32_t e = 0; e < program.n_entries; ++e) {
      const tfc_entry_v0 &entry = program.entries[e];
      if (entry.flags & TFC_ENTRY_PREPARE) {
        continue; // of no tokens
      }
      std::string name = std::string(program.name) + ", " + entry.name;
      Curve workspace{name, {}};
      for (int64_t count : tokens) {
        workspace.values.push_back(
            static_cast<double>(entry.workspace_bytes(count, count, 1, 1)));
      }
      workspaces.push_back(std::move(workspace));
      for (uint32_t c = 0; c < entry.n_caches; ++c) {
        const tfc_cache_v0 &cache = entry.caches[c];
        if (cache.layers == 0) {
          continue;
        }
        Curve one{name + (cache.role == TFC_CACHE_CROSS   ? ", of the source"
                          : cache.role == TFC_CACHE_STATE ? ", states"
                                                          : ""),
                  {}};
        for (int64_t count : tokens) {
          // A state is of any number of tokens.
          int64_t blocks =
              cache.role == TFC_CACHE_STATE
                  ? 1
                  : (count + cache.block_tokens - 1) / cache.block_tokens;
          one.values.push_back(static_cast<double>(blocks) *
                               static_cast<double>(cache.block_bytes));
        }
        caches.push_back(std::move(one));
      }
    }
  }
  Page page(std::string("tfc inspect: ") + module.header.name);
  page.lines(text);
  page.heading("packed weights");
  tools::addBar(page, "packed weights, of each program", packed, formatBytes);
  page.heading("workspace");
  drawCurves(page, "tokens of a step, one worker", tokens, workspaces);
  if (!caches.empty()) {
    page.heading("keys and values of a sequence, without what a window lets "
                 "go");
    drawCurves(page, "positions", tokens, caches);
  }
  return page.finish();
}
