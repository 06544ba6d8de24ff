// `tfc inspect`: what a spec or a library holds.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/Inspect.h"

#include "compiler/driver/Compile.h"
#include "compiler/driver/InspectPage.h"
#include "compiler/driver/OutputFile.h"
#include "compiler/driver/ReadModel.h"
#include "compiler/driver/WriteText.h"
#include "runtime/src/load/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <fstream>

using namespace tfc;
using llvm::raw_ostream;

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
static void printWindows(const spec::LayerRun &run, size_t number,
                         raw_ostream &os) {
  std::vector<std::pair<spec::Window, int64_t>> windows;
  for (const spec::LayerGroup &group : run.groups) {
    const auto &window = group.sublayers[number].attention()->window;
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
    os << ", window " << window.left;
    if (window.right > 0) {
      os << " and " << window.right;
    }
    if (layers < run.count) {
      os << " in " << layers << " layers";
    }
  }
}

static void print(const spec::Ffn &ffn, raw_ostream &os) {
  os << ffn.width << " wide" << (ffn.gated ? ", gated" : "");
}

static void print(const spec::Moe &moe, raw_ostream &os) {
  os << moe.perToken << " of " << moe.experts << " experts, " << moe.width
     << " wide" << (moe.gated ? ", gated" : "");
  if (moe.shared) {
    os << "; one for all, " << moe.shared->width << " wide";
  }
}

static void print(const spec::Conv &conv, raw_ostream &os) {
  os << "over " << conv.kernel << " tokens";
}

static void print(const spec::LayerInput &, raw_ostream &os) {
  os << "of the layer's own of the tokens";
}

static void print(const spec::LowRank &own, raw_ostream &os) {
  os << "of rank " << own.rank;
}

static void print(const spec::Ngram &ngram, raw_ostream &os) {
  os << "over " << ngram.kernel << " tokens";
}

static void print(const spec::Recurrent &recurrent, raw_ostream &os) {
  if (recurrent.kind == spec::Recurrent::Kind::Mamba) {
    os << "Mamba, " << recurrent.valueWidth() << " columns of "
       << recurrent.keyDim << " numbers, times of " << recurrent.rank
       << " columns; a convolution over " << recurrent.kernel << " tokens";
    return;
  }
  if (recurrent.kind == spec::Recurrent::Kind::Mamba2) {
    os << "Mamba-2, ";
  }
  os << recurrent.valueHeads << " heads of " << recurrent.keyDim << " x "
     << recurrent.valueDim << ", " << recurrent.keyHeads << " of keys"
     << (recurrent.keyDecay ? " that decay each" : "") << "; convolutions over "
     << recurrent.kernel << " tokens";
}

static void print(const spec::Attention &attn, raw_ostream &os) {
  if (const auto &latent = attn.latent) {
    os << attn.numHeads << " heads of latents, " << latent->rank << " and "
       << latent->ropeDim << " wide";
    return;
  }
  os << attn.numHeads << " heads, " << attn.numKvHeads
     << " for keys and values, " << attn.headDim << " wide";
  if (attn.rotary) {
    os << ", rotary " << attn.rotary->dim;
  }
  if (attn.sharedKeys) {
    os << ", keys of a layer before";
  }
  if (attn.positionBias) {
    os << ", position bias";
  }
  if (attn.relative) {
    os << ", relative terms";
  }
  if (attn.sparse && attn.sparse->hashes) {
    os << ", blocks of " << attn.sparse->block << " by "
       << attn.sparse->hashes->count << " hashes, that see "
       << attn.sparse->before << " before and " << attn.sparse->after
       << " after";
  } else if (attn.sparse && attn.sparse->isLocal) {
    os << ", blocks of " << attn.sparse->block << " that see "
       << attn.sparse->before << " before and " << attn.sparse->after
       << " after";
  } else if (attn.sparse) {
    os << ", blocks of " << attn.sparse->block << " and " << attn.sparse->random
       << " random ones";
  }
}

/// Sublayer `number` of the run's layers.
static void printSublayer(const spec::LayerRun &run, size_t number,
                          raw_ostream &os) {
  const spec::Sublayer &sublayer = run.sublayers[number];
  os << ' ' << sublayer.name << " (";
  std::visit([&](const auto &f) { print(f, os); }, sublayer.f);
  if (sublayer.attention()) {
    printWindows(run, number, os);
  }
  os << ')';
}

/// A parameter's numbers, of all layers and experts.
/// Of the four of a number of a matrix.
static double bytesSaved(const spec::ModelSpec &model) {
  bool areHalf = model.storage == spec::Storage::Int4 &&
                 model.scales != spec::Storage::F32;
  double scale = areHalf ? 2 : 4;
  double scales =
      model.group > 0 ? scale / static_cast<double>(model.group) : 0;
  switch (model.storage) {
  case spec::Storage::F32:
    return 0;
  case spec::Storage::F16:
  case spec::Storage::BF16:
    return 2;
  case spec::Storage::Int8:
    return 3 - scales;
  case spec::Storage::Int4:
    return 3.5 - scales;
  }
  return 0;
}

static double countNumbers(const spec::Parameter &parameter) {
  return static_cast<double>(parameter.rows) *
         static_cast<double>(parameter.cols) *
         static_cast<double>(parameter.layers) *
         static_cast<double>(std::max<int64_t>(parameter.experts, 1));
}

/// The part of a parameter's numbers that a token meets: of its layer's experts
/// it takes some.
static double findShare(const spec::Stack &stack,
                        const spec::Parameter &parameter) {
  for (const spec::LayerRun &run : stack.runs) {
    for (const spec::Sublayer &sublayer : run.sublayers) {
      const spec::Moe *moe = sublayer.moe();
      if (moe && parameter.experts > 0 &&
          parameter.name.rfind(run.prefix + "." + sublayer.name + ".", 0) ==
              0) {
        return static_cast<double>(moe->perToken) /
               static_cast<double>(moe->experts);
      }
    }
  }
  return 1;
}

/// The layers of a stack and what a token costs in them. The keys and values
/// of cross-attention are made of the encoder's tokens, once each.
static void printStack(const spec::ModelSpec &model, const spec::Stack &stack,
                       raw_ostream &os) {
  // A product with a weight costs two operations a weight and token.
  double own = 0, cross = 0;
  for (const spec::Parameter &parameter : model.parameters) {
    llvm::StringRef name = parameter.name;
    if (!name.starts_with(stack.name + ".layers") || parameter.rank != 2) {
      continue;
    }
    double cost = 2.0 * countNumbers(parameter) * findShare(stack, parameter);
    bool ofEncoder =
        name.ends_with(".cross.k.weight") || name.ends_with(".cross.v.weight");
    (ofEncoder ? cross : own) += cost;
  }
  os << stack.name << ": " << llvm::format("%.3f", own / 1e6)
     << " MFLOP a token in products, attention besides\n";
  if (cross > 0) {
    os << "  and " << llvm::format("%.3f", cross / 1e6)
       << " MFLOP a token of the encoder, once\n";
  }
  for (const spec::LayerRun &run : stack.runs) {
    os << "  " << run.prefix << " x " << run.count << ":";
    for (size_t number = 0; number < run.sublayers.size(); ++number) {
      printSublayer(run, number, os);
    }
    os << '\n';
  }
}

static void printSpec(const spec::ModelSpec &model, raw_ostream &os) {
  os << "model " << model.name << ": " << nameOf(model.kind) << ", hidden "
     << model.hidden << ", ";
  const char *between = "";
  for (const spec::Stack *stack : model.stacks()) {
    os << between << stack->layers;
    between = " + ";
  }
  os << " layers, vocab " << model.vocab;
  if (model.maxPositions > 0) {
    os << ", at most " << model.maxPositions << " positions";
  }
  os << '\n';
  double numbers = 0, matrices = 0;
  for (const spec::Parameter &parameter : model.parameters) {
    if (parameter.tiedTo.empty()) {
      double own = countNumbers(parameter);
      numbers += own;
      matrices += parameter.rank == 2 ? own : 0;
    }
  }
  double bytes = numbers * sizeof(float);
  const char *kept = "f32";
  if (model.storage != spec::Storage::F32) {
    bytes -= matrices * bytesSaved(model);
    kept = model.storage == spec::Storage::F16    ? "f32, matrices f16"
           : model.storage == spec::Storage::BF16 ? "f32, matrices bf16"
           : model.storage == spec::Storage::Int4 ? "f32, matrices int4"
                                                  : "f32, matrices int8";
  }
  os << "parameters: " << llvm::format("%.0f", numbers) << ", "
     << megabytes(bytes) << " as " << kept << '\n';
  for (const spec::Stack *stack : model.stacks()) {
    printStack(model, *stack, os);
  }
  for (const spec::Output &output : model.outputs) {
    os << "output " << output.name << ": " << output.value << '\n';
  }
}

static const char *const kFillTexts[] = {
    "required",
    "0 when not given",
    "nothing added when not given",
    "the position when not given",
    "input_ids shifted when not given",
    "the position behind the pad token's when not given",
    "the position among unmasked tokens when not given",
    "numbered by the runtime, those below have ids"};
static const char *const kTakeTexts[] = {
    "a row a token asked for",
    "a row a sequence, its first token",
    "a row a sequence, its last token that is not padding",
    "a row a sequence, at its last end token",
    "a row a sequence, its first token that is not masked",
    "a row a sequence, its last token that is not masked",
    "a row a sequence, at its first end token"};

static void printEntry(const tfc_entry_v0 &entry, raw_ostream &os) {
  os << "  entry " << entry.name << '\n';
  if (entry.flags & TFC_ENTRY_PREPARE) {
    os << "    makes weights of weights, once when they are loaded\n"
       << "    workspace, 1 worker: "
       << megabytes(entry.workspace_bytes(0, 0, 0, 1)) << '\n';
    return;
  }
  for (uint32_t i = 0; i < entry.n_inputs; ++i) {
    const tfc_port_v0 &port = entry.inputs[i];
    os << "    input " << port.name << ": ";
    if (port.flags & TFC_PORT_EMBEDS) {
      os << "rows of " << port.width << " floats";
    } else {
      os << "below " << port.limit;
    }
    os << ", " << kFillTexts[port.fill] << '\n';
  }
  for (uint32_t i = 0; i < entry.n_outputs; ++i) {
    const tfc_port_v0 &port = entry.outputs[i];
    os << "    output " << port.name << ": " << port.width << " wide, "
       << (port.rows == TFC_ROWS_TOKENS ? "a row a token"
                                        : kTakeTexts[port.take])
       << '\n';
  }
  for (uint32_t i = 0; i < entry.n_caches; ++i) {
    const tfc_cache_v0 &cache = entry.caches[i];
    if (cache.layers != 0 && cache.role == TFC_CACHE_STATE) {
      os << "    states: blocks of a sequence each, " << cache.block_bytes
         << " bytes\n";
    } else if (cache.layers != 0) {
      os << (cache.role == TFC_CACHE_CROSS ? "    cross cache" : "    cache")
         << ": blocks of " << cache.block_tokens << " positions, "
         << cache.block_bytes << " bytes"
         << (cache.dtype == TFC_DTYPE_F16    ? ", f16"
             : cache.dtype == TFC_DTYPE_BF16 ? ", bf16"
             : cache.dtype == TFC_DTYPE_I8   ? ", int8 with scales"
                                             : "");
      if (cache.window > 0) {
        os << ", window " << cache.window;
      }
      os << '\n';
    }
  }
  if (entry.flags & TFC_ENTRY_DISTANCES) {
    os << "    counts distances: no masked token between others\n";
  }
  for (int64_t tokens : {1, 128, 512}) {
    os << "    workspace for " << tokens << " tokens, 1 worker: "
       << megabytes(entry.workspace_bytes(tokens, tokens, 1, 1)) << '\n';
  }
}

static void printLibrary(const rt::Module &library, raw_ostream &os) {
  const tfc_module_v0 &module = library.table();
  os << "model " << module.header.name << ", made by " << module.header.producer
     << ", ABI version " << module.header.version << ", spec "
     << llvm::format_hex_no_prefix(module.spec_hash, 16) << '\n'
     << "  " << rt::kindName(module.kind) << ", " << module.n_weights
     << " weights, ";
  if (module.max_positions == 0) {
    os << "any number of positions\n";
  } else {
    os << "at most " << module.max_positions << " positions\n";
  }
  // It may run elsewhere: that this machine runs none is no error.
  auto chosen = library.choose("", rt::machineFeatures());
  for (uint32_t i = 0; i < module.n_programs; ++i) {
    const tfc_program_v0 &program = module.programs[i];
    os << "program " << program.name << ": "
       << rt::describeUse(program, chosen ? *chosen : nullptr) << ", layout "
       << program.layout_tag << ", packed weights "
       << megabytes(program.packed_bytes) << '\n';
    for (uint32_t e = 0; e < program.n_entries; ++e) {
      printEntry(program.entries[e], os);
    }
  }
}

/// The text, and what the page shows besides.
static int show(const std::string &text, const std::string &html, bool force,
                const std::string &input,
                llvm::function_ref<std::string()> draw) {
  if (!html.empty()) {
    if (int code = checkTextOutput(html, {input}, force, llvm::errs())) {
      return code;
    }
  }
  llvm::outs() << text;
  if (html.empty()) {
    return kOk;
  }
  return writeText(html, draw(), llvm::errs());
}

int tfc::runInspect(const std::string &path, const std::string &html,
                    bool force) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!isLibrary(path)) {
    std::optional<spec::ModelSpec> model =
        readModelOrReport(path, {}, llvm::errs());
    if (!model) {
      return kBadInput;
    }
    printSpec(*model, os);
    return show(text, html, force, path,
                [&] { return drawSpec(*model, text); });
  }
  auto library = rt::Module::open(path);
  if (!library) {
    llvm::errs() << "tfc: error: " << library.error().message << '\n';
    return kBadInput;
  }
  printLibrary(**library, os);
  return show(text, html, force, path,
              [&] { return drawLibrary((*library)->table(), text); });
}
