// `tfc inspect`: what a spec or a library holds.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/Inspect.h"

#include "compiler/driver/Compile.h"
#include "runtime/src/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <fstream>

using namespace tfc;
using llvm::outs;

static bool isLibrary(const std::string &path) {
  // A pipe would make us wait for whoever writes to it.
  if (!llvm::sys::fs::is_regular_file(path)) {
    return false;
  }
  std::ifstream file(path, std::ios::binary);
  char magic[4] = {};
  return file.read(magic, 4) && llvm::StringRef(magic, 4) == "\x7f"
                                                             "ELF";
}

static std::string megabytes(double bytes) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.2f MB", bytes / 1e6);
  return text;
}

/// How far a token sees, and in how many layers where not in all.
static void printWindows(const spec::LayerRun &run, size_t number) {
  std::vector<std::pair<spec::Window, int64_t>> windows;
  for (const spec::LayerGroup &group : run.groups) {
    const auto &window =
        std::get<spec::Attention>(group.sublayers[number].f).window;
    auto known =
        std::find_if(windows.begin(), windows.end(),
                     [&](const auto &other) { return other.first == window; });
    if (window && known == windows.end()) {
      windows.emplace_back(*window, group.count);
    } else if (window) {
      known->second += group.count;
    }
  }
  for (const auto &[window, layers] : windows) {
    outs() << ", window " << window.left;
    if (window.right > 0) {
      outs() << " and " << window.right;
    }
    if (layers < run.count) {
      outs() << " in " << layers << " layers";
    }
  }
}

/// Sublayer `number` of the run's layers.
static void printSublayer(const spec::LayerRun &run, size_t number) {
  const spec::Sublayer &sublayer = run.sublayers[number];
  outs() << ' ' << sublayer.name << " (";
  if (auto *ffn = std::get_if<spec::Ffn>(&sublayer.f)) {
    outs() << ffn->width << " wide" << (ffn->gated ? ", gated" : "") << ')';
    return;
  }
  const auto &attn = std::get<spec::Attention>(sublayer.f);
  outs() << attn.numHeads << " heads, " << attn.numKvHeads
         << " for keys and values, " << attn.headDim << " wide";
  if (attn.rotary) {
    outs() << ", rotary " << attn.rotary->dim;
  }
  if (attn.positionBias) {
    outs() << ", position bias";
  }
  printWindows(run, number);
  outs() << ')';
}

/// The layers of a stack and what a token costs in them. The keys and values
/// of cross-attention are made of the encoder's tokens, once each.
static void printStack(const spec::ModelSpec &model, const spec::Stack &stack) {
  // A product with a weight costs two operations a weight and token.
  double own = 0, cross = 0;
  for (const spec::Parameter &parameter : model.parameters) {
    llvm::StringRef name = parameter.name;
    if (!name.starts_with(stack.name + ".layers") || parameter.rank != 2) {
      continue;
    }
    double cost = 2.0 * static_cast<double>(parameter.rows) *
                  static_cast<double>(parameter.cols) *
                  static_cast<double>(parameter.layers);
    bool ofEncoder =
        name.ends_with(".cross.k.weight") || name.ends_with(".cross.v.weight");
    (ofEncoder ? cross : own) += cost;
  }
  outs() << stack.name << ": " << llvm::format("%.3f", own / 1e6)
         << " MFLOP a token in products, attention besides\n";
  if (cross > 0) {
    outs() << "  and " << llvm::format("%.3f", cross / 1e6)
           << " MFLOP a token of the encoder, once\n";
  }
  for (const spec::LayerRun &run : stack.runs) {
    outs() << "  " << run.prefix << " x " << run.count << ":";
    for (size_t number = 0; number < run.sublayers.size(); ++number) {
      printSublayer(run, number);
    }
    outs() << '\n';
  }
}

static int inspectSpec(const std::string &path) {
  std::optional<spec::ModelSpec> model =
      readSpecOrReport(path, {}, llvm::errs());
  if (!model) {
    return kBadInput;
  }
  outs() << "model " << model->name << ": " << nameOf(model->kind)
         << ", hidden " << model->hidden << ", ";
  const char *between = "";
  for (const spec::Stack *stack : model->stacks()) {
    outs() << between << stack->layers;
    between = " + ";
  }
  outs() << " layers, vocab " << model->vocab;
  if (model->maxPositions > 0) {
    outs() << ", at most " << model->maxPositions << " positions";
  }
  outs() << '\n';
  double numbers = 0, matrices = 0;
  for (const spec::Parameter &parameter : model->parameters) {
    if (parameter.tiedTo.empty()) {
      double own = static_cast<double>(parameter.rows) *
                   static_cast<double>(parameter.cols) *
                   static_cast<double>(parameter.layers);
      numbers += own;
      matrices += parameter.rank == 2 ? own : 0;
    }
  }
  double bytes = numbers * sizeof(float);
  const char *kept = "f32";
  if (model->storage != spec::Storage::F32) {
    bytes -= matrices * sizeof(float) / 2;
    kept = model->storage == spec::Storage::F16 ? "f32, matrices f16"
                                                : "f32, matrices bf16";
  }
  outs() << "parameters: " << llvm::format("%.0f", numbers) << ", "
         << megabytes(bytes) << " as " << kept << '\n';
  for (const spec::Stack *stack : model->stacks()) {
    printStack(*model, *stack);
  }
  for (const spec::Output &output : model->outputs) {
    outs() << "output " << output.name << ": " << output.value << '\n';
  }
  return kOk;
}

static const char *const kFillTexts[] = {
    "required", "0 when not given", "nothing added when not given",
    "the position when not given", "input_ids shifted when not given"};
static const char *const kTakeTexts[] = {
    "a row a token asked for", "a row a sequence, its first token",
    "a row a sequence, its last token that is not padding",
    "a row a sequence, at its last end token"};

static void printEntry(const tfc_entry_v0 &entry) {
  outs() << "  entry " << entry.name << '\n';
  for (uint32_t i = 0; i < entry.n_inputs; ++i) {
    const tfc_port_v0 &port = entry.inputs[i];
    outs() << "    input " << port.name << ": below " << port.limit << ", "
           << kFillTexts[port.fill % 5] << '\n';
  }
  for (uint32_t i = 0; i < entry.n_outputs; ++i) {
    const tfc_port_v0 &port = entry.outputs[i];
    outs() << "    output " << port.name << ": " << port.width << " wide, "
           << (port.rows == TFC_ROWS_TOKENS ? "a row a token"
                                            : kTakeTexts[port.take % 4])
           << '\n';
  }
  for (uint32_t i = 0; i < entry.n_caches; ++i) {
    const tfc_cache_v0 &cache = entry.caches[i];
    if (cache.layers != 0) {
      outs() << (cache.role == TFC_CACHE_CROSS ? "    cross cache"
                                               : "    cache")
             << ": blocks of " << cache.block_tokens << " positions, "
             << cache.block_bytes << " bytes"
             << (cache.dtype == TFC_DTYPE_F16    ? ", f16"
                 : cache.dtype == TFC_DTYPE_BF16 ? ", bf16"
                                                 : "");
      if (cache.window > 0) {
        outs() << ", window " << cache.window;
      }
      outs() << '\n';
    }
  }
  if (entry.flags & TFC_ENTRY_DISTANCES) {
    outs() << "    counts distances: no masked token between others\n";
  }
  for (int64_t tokens : {1, 128, 512}) {
    outs() << "    workspace for " << tokens << " tokens, 1 worker: "
           << megabytes(entry.workspace_bytes(tokens, tokens, 1, 1)) << '\n';
  }
}

static int inspectLibrary(const std::string &path) {
  auto library = rt::Module::open(path);
  if (!library) {
    llvm::errs() << "tfc: error: " << library.error().message << '\n';
    return kBadInput;
  }
  const tfc_module_v0 &module = (*library)->table();
  outs() << "model " << module.header.name << ", made by "
         << module.header.producer << ", ABI version " << module.header.version
         << ", spec " << llvm::format_hex_no_prefix(module.spec_hash, 16)
         << '\n'
         << "  " << rt::kindName(module.kind) << ", " << module.n_weights
         << " weights, ";
  if (module.max_positions == 0) {
    outs() << "any number of positions\n";
  } else {
    outs() << "at most " << module.max_positions << " positions\n";
  }
  // It may run elsewhere: that this machine runs none is no error.
  auto chosen = (*library)->choose("", rt::machineFeatures());
  for (uint32_t i = 0; i < module.n_programs; ++i) {
    const tfc_program_v0 &program = module.programs[i];
    outs() << "program " << program.name << ": "
           << rt::describeUse(program, chosen ? *chosen : nullptr)
           << ", layout " << program.layout_tag << ", packed weights "
           << megabytes(program.packed_bytes) << '\n';
    for (uint32_t e = 0; e < program.n_entries; ++e) {
      printEntry(program.entries[e]);
    }
  }
  return kOk;
}

int tfc::runInspect(const std::string &path) {
  return isLibrary(path) ? inspectLibrary(path) : inspectSpec(path);
}
