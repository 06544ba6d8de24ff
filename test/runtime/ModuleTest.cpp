// Libraries that are none, or not for this host or machine.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/Module.h"

#include "runtime/src/load/Aarch64Features.h"
#include "runtime/src/load/X86Levels.h"

#include "test/runtime/FakeModel.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

namespace tfc::rt::test {
namespace {

std::string loadMessage(const std::string &variant) {
  Folder folder;
  writeTensors(folder / "model.safetensors", FakeWeights().stored());
  return messageOf(loadFake(variant, folder.path.string()));
}

TEST(Module, RefusesLibrariesOfOtherVersions) {
  EXPECT_EQ(loadMessage("other_version"),
            fakeLibrary("other_version") +
                ": expected ABI version 3 or later, got 2; compile the model "
                "again");
  EXPECT_EQ(loadMessage("newer"),
            fakeLibrary("newer") +
                ": expected a library that works with ABI version 10 (this "
                "runtime's), got one that needs a newer runtime");
}

// All the fakes' tables have elements that are longer than this host's, as a
// newer library's are; this one says so too.
TEST(Module, RunsANewerLibraryThatWorksWithThisHost) {
  auto module = Module::open(fakeLibrary("later_version"));
  ASSERT_TRUE(module) << messageOf(module);
  const tfc_module_v0 &table = (*module)->table();
  EXPECT_EQ(table.header.version, 99U);
  EXPECT_GT(table.sizes.weight, sizeof(tfc_weight_v0));
  EXPECT_STREQ(table.weights[1].name, "position");
  EXPECT_STREQ(table.weights[1].sources->patterns[0], "{p}position.weight");
  const tfc_entry_v0 &entry = table.programs[1].entries[0];
  EXPECT_STREQ(entry.inputs[2].name, "position_ids");
  EXPECT_STREQ(entry.outputs[2].name, "start_logits");
  EXPECT_EQ(cacheOf(entry, TFC_CACHE_SELF).block_tokens, 4U);
  EXPECT_EQ(findCache(entry, TFC_CACHE_CROSS), -1);
  EXPECT_EQ(loadMessage("later_version"), "");
}

/// What version 3 has of each table.
constexpr tfc_sizes_v0 firstSizes = {192, 96, 56, 48, 112, 72,
                                     40,  40, 24, 24, 24,  0};

/// The name of a library that was compiled with the abi.h of a version: without
/// a byte more in any table.
static std::string ofVersion(uint32_t version, const std::string &kind) {
  return "version_" + std::to_string(version) + "_" + kind;
}

TEST(Module, ElementsOfTheOldestLibraryEndWhereTheyDid) {
  auto oldest = loadFake(ofVersion(TFC_ABI_OLDEST, "decoder"), FakeWeights(5));
  const tfc_module_v0 &table = oldest->table();
  EXPECT_EQ(table.header.version, TFC_ABI_OLDEST);
  EXPECT_EQ(std::memcmp(&table.sizes, &firstSizes, sizeof(firstSizes)), 0);
}

/// Libraries of every version before this one give what those of this one give:
/// all outputs of a forward pass, and what is generated.
TEST(Module, RunsLibrariesOfEveryVersion) {
  Padded padded{2, 3, {7, 8, 9, 4, 5, 6}, {}, {}, {}};
  for (uint32_t version = TFC_ABI_OLDEST; version < TFC_ABI_VERSION;
       ++version) {
    for (const char *kind :
         {"encoder", "decoder", "classifier", "translator"}) {
      SCOPED_TRACE(ofVersion(version, kind));
      auto old = loadFake(ofVersion(version, kind), FakeWeights(5));
      auto newer = loadFake(kind, FakeWeights(5));
      EXPECT_EQ(old->table().header.version, version);
      bool isPair = kind == std::string("translator");
      if (!isPair) {
        auto expected = forward(*newer, padded), got = forward(*old, padded);
        ASSERT_TRUE(expected && got) << messageOf(got);
        ASSERT_EQ(got->size(), expected->size());
        for (size_t i = 0; i < got->size(); ++i) {
          EXPECT_EQ((*got)[i].floats, (*expected)[i].floats);
        }
      }
      if (isPair || kind == std::string("decoder")) {
        auto tokens = generate(*newer, padded, 6),
             others = generate(*old, padded, 6);
        ASSERT_TRUE(tokens && others) << messageOf(others);
        EXPECT_EQ(others->ints, tokens->ints);
      }
    }
  }
}

/// Elements that end where the first version's did: what they lack counts as
/// zero. A field that a later version adds is looked for here.
TEST(Module, ReadsElementsOfTheFirstVersion) {
  auto newer = Module::open(fakeLibrary("decoder"));
  ASSERT_TRUE(newer) << messageOf(newer);
  tfc_module_v0 oldest = (*newer)->table();
  oldest.sizes = firstSizes;
  // This host's structs, packed as version 3 had them.
  auto pack = [](const auto *from, size_t count, size_t size) {
    std::vector<uint64_t> words(count * size / 8);
    for (size_t i = 0; i < count; ++i) {
      std::memcpy(words.data() + i * size / 8, from + i, size);
    }
    return words;
  };
  auto weights = pack(oldest.weights, oldest.n_weights, 56);
  auto programs = pack(oldest.programs, oldest.n_programs, 112);
  auto typed = [](auto *like, std::vector<uint64_t> &words) {
    return reinterpret_cast<decltype(like)>(words.data());
  };
  oldest.weights = typed(oldest.weights, weights);
  oldest.programs = typed(oldest.programs, programs);
  auto copied = ModuleTables::copy(oldest.header);
  ASSERT_TRUE(copied) << messageOf(copied);
  EXPECT_EQ(messageOf(checkModule(copied->module())), "");
  EXPECT_STREQ(copied->module().weights[3].name, "mix");
  EXPECT_STREQ(copied->module().programs[2].name, "future");
}

TEST(Module, RefusesElementsOfImpossibleSizes) {
  EXPECT_EQ(loadMessage("small_ports"),
            fakeLibrary("small_ports") + ": malformed library: expected tables "
                                         "whose elements have their sizes");
  EXPECT_EQ(loadMessage("huge_ports"),
            fakeLibrary("huge_ports") + ": malformed library: expected tables "
                                        "whose elements have their sizes");
  // Each table: smaller than the first version, larger than any, no multiple of
  // the alignment.
  auto module = Module::open(fakeLibrary("decoder"));
  ASSERT_TRUE(module) << messageOf(module);
  constexpr size_t numTables = sizeof(firstSizes) / 4 - 1;
  for (size_t i = 0; i < numTables; ++i) {
    for (uint32_t change : {0U, 8U, 4104U, 4U, 0x80000000U}) {
      tfc_module_v0 table = (*module)->table();
      uint32_t sizes[numTables + 1];
      std::memcpy(sizes, &firstSizes, sizeof(sizes));
      sizes[i] = change == 8   ? sizes[i] - 8
                 : change == 4 ? sizes[i] + 4
                               : change;
      std::memcpy(&table.sizes, sizes, sizeof(sizes));
      EXPECT_EQ(messageOf(ModuleTables::copy(table.header)),
                "malformed library: expected tables whose elements have their "
                "sizes")
          << i << " " << sizes[i];
    }
  }
}

TEST(Module, RefusesWhatIsNoModel) {
  EXPECT_EQ(loadMessage("missing"),
            fakeLibrary("missing") +
                ": cannot be opened: No such file or directory");
  EXPECT_EQ(loadMessage("no_programs"),
            fakeLibrary("no_programs") +
                ": malformed library: expected at least one program");
  Folder folder;
  std::ofstream(folder / "text.so") << "not a library";
  std::string message = messageOf(Module::open(folder / "text.so"));
  EXPECT_EQ(message.find(folder / "text.so" + ": expected a compiled model for "
                                              "this machine, got: "),
            0U)
      << message;
  EXPECT_EQ(messageOf(Module::open(folder.path.string())),
            folder.path.string() +
                ": expected a compiled model, got no regular file");
  EXPECT_EQ(messageOf(Module::open(OTHER_LIBRARY)),
            std::string(OTHER_LIBRARY) +
                ": expected a compiled model (symbol tfc_module_query), got "
                "another library");
}

TEST(Module, RefusesALibraryThatEndsEarly) {
  Folder folder;
  std::string bytes = readBytes(fakeLibrary("encoder"));
  for (size_t size : {bytes.size() / 8, bytes.size() / 4}) {
    std::ofstream(folder / "cut.so", std::ios::binary) << bytes.substr(0, size);
    EXPECT_EQ(messageOf(Module::open(folder / "cut.so")),
              folder / "cut.so" + ": expected a whole compiled model, got a "
                                  "file that ends early (compile it again)");
  }
}

TEST(Module, ChoosesTheBestProgramThatRuns) {
  auto module = Module::open(fakeLibrary("encoder"));
  ASSERT_TRUE(module) << messageOf(module);
  auto name = [&](const std::string &wanted, uint64_t features) {
    auto program = (*module)->choose(wanted, features);
    return program ? std::string((*program)->name) : messageOf(program);
  };
  EXPECT_EQ(name("", 0), "plain");
  EXPECT_EQ(name("", 1), "one feature");
  EXPECT_EQ(name("plain", 1), "plain");
  EXPECT_EQ(name("", ~uint64_t(0)), "future");
  EXPECT_EQ(name("fast", 0),
            fakeLibrary("encoder") +
                ": expected program \"fast\", got plain, one feature, future");
  EXPECT_EQ(name("future", 0)
                .find(fakeLibrary("encoder") +
                      ": expected a program that this machine "
                      "runs, got future; the machine lacks "),
            0U);
  EXPECT_NE(loadMessage("future").find("the machine lacks an unknown "
                                       "instruction set"),
            std::string::npos);
}

TEST(Module, SaysWhatTheLeastDemandingProgramLacks) {
  auto opened = Module::open(fakeLibrary("two_levels"));
  ASSERT_TRUE(opened) << messageOf(opened);
  const Module &module = **opened;
  const tfc_program_v0 *programs = module.table().programs;
  uint64_t all = programs[1].features;
  for (uint64_t features : {all >> 1, all}) {
    auto best = module.choose("", features);
    ASSERT_TRUE(best) << messageOf(best);
    EXPECT_STREQ((*best)->name,
                 features == all ? "three features" : "two features");
    EXPECT_EQ(messageOf(module.choose("two features", features)), "");
  }
  // What this machine lacks in fact depends on it; the levels do not.
  std::string refused = ": expected a program that this machine runs, got ";
  EXPECT_EQ(messageOf(module.choose("three features", all >> 1)),
            fakeLibrary("two_levels") + refused +
                "three features; the machine lacks " + missingFeatures(4));
  EXPECT_EQ(messageOf(module.choose("", 0)),
            fakeLibrary("two_levels") + refused +
                "two features, three features; the machine lacks " +
                missingFeatures(programs[0].features));
}

TEST(Module, SaysWhatTheMachineMakesOfAProgram) {
  auto module = Module::open(fakeLibrary("encoder"));
  ASSERT_TRUE(module) << messageOf(module);
  const tfc_program_v0 *programs = (*module)->table().programs;
  EXPECT_EQ(describeUse(programs[0], &programs[1]), "runs on this machine");
  EXPECT_EQ(describeUse(programs[1], &programs[1]), "in use on this machine");
  EXPECT_EQ(describeUse(programs[2], &programs[1]),
            "this machine lacks an unknown instruction set");
  tfc_program_v0 other = programs[0];
  other.isa = TFC_ISA_CUDA;
  other.features = 89;
  EXPECT_EQ(describeUse(other, &programs[1]),
            "for CUDA devices of compute capability 8.9 or more");
  other.features = 90 | TFC_FEATURE_CUDA_EXACT;
  EXPECT_EQ(describeUse(other, &programs[1]),
            "for CUDA devices of compute capability 9.0");
  other.isa = 77;
  EXPECT_EQ(describeUse(other, &programs[1]), "for another kind of machine");
}

/// Of tables that a test owns.
tfc_source_v0 &sourceOf(tfc_weight_v0 &weight) {
  return const_cast<tfc_source_v0 &>(*weight.sources);
}
tfc_cache_v0 &cacheIn(tfc_entry_v0 &entry, uint32_t number = 0) {
  return const_cast<tfc_cache_v0 &>(entry.caches[number]);
}

TEST(Module, RefusesMalformedTables) {
  auto module = Module::open(fakeLibrary("decoder"));
  ASSERT_TRUE(module) << messageOf(module);
  const tfc_module_v0 good = (*module)->table();
  EXPECT_TRUE(checkModule(good));
  auto broken = [&](auto change) {
    tfc_module_v0 table = good;
    std::vector<tfc_program_v0> programs(good.programs, good.programs + 1);
    std::vector<tfc_entry_v0> entries(programs[0].entries,
                                      programs[0].entries + 1);
    std::vector<tfc_port_v0> ports(entries[0].inputs, entries[0].inputs + 3);
    std::vector<tfc_weight_v0> weights(good.weights, good.weights + 1);
    tfc_source_v0 source = *good.weights->sources;
    tfc_cache_v0 cache = *entries[0].caches;
    table.n_programs = table.n_weights = 1;
    table.programs = programs.data();
    programs[0].entries = entries.data();
    entries[0].inputs = ports.data();
    entries[0].caches = &cache;
    table.weights = weights.data();
    weights[0].sources = &source;
    change(table, programs[0], entries[0], ports[0], weights[0]);
    return messageOf(checkModule(table));
  };
  using M = tfc_module_v0;
  using P = tfc_program_v0;
  using E = tfc_entry_v0;
  using I = tfc_port_v0;
  using W = tfc_weight_v0;
  EXPECT_EQ(broken([](M &, P &, E &, I &, W &) {}), "");
  std::string start = "malformed library: expected ";
  EXPECT_EQ(broken([](M &m, P &, E &, I &, W &) { m.programs = nullptr; }),
            start + "at least one program");
  EXPECT_EQ(broken([](M &m, P &, E &, I &, W &) { m.spec_json = nullptr; }),
            start + "a model with a name, a producer and a spec");
  EXPECT_EQ(broken([](M &m, P &, E &, I &, W &) { m.eos = nullptr; }),
            start + "tables of the lengths it states");
  EXPECT_EQ(broken([](M &, P &p, E &, I &, W &) { p.pack = nullptr; }),
            start + "programs with a name, entries and a pack function");
  EXPECT_EQ(broken([](M &, P &p, E &, I &, W &) { p.layout_tag = nullptr; }),
            start + "programs with a layout_tag");
  // Nulls in tables of strings, the last entry too.
  static const char *const strings[] = {"", "model.", nullptr};
  EXPECT_EQ(broken([](M &m, P &, E &, I &, W &) {
              m.prefixes = strings;
              m.n_prefixes = 2;
            }),
            "");
  EXPECT_EQ(broken([](M &m, P &, E &, I &, W &) {
              m.prefixes = strings;
              m.n_prefixes = 3;
            }),
            start + "tables of the lengths it states");
  EXPECT_EQ(broken([](M &m, P &, E &, I &, W &) { m.prefixes = nullptr; }),
            start + "tables of the lengths it states");
  EXPECT_EQ(broken([](M &m, P &, E &, I &, W &) {
              m.aliases = strings + 1;
              m.n_aliases = 1;
            }),
            start + "tables of the lengths it states");
  EXPECT_EQ(broken([](M &, P &, E &, I &, W &w) {
              sourceOf(w).patterns = strings;
              sourceOf(w).n_patterns = 3;
            }),
            start + "weight embed with patterns");
  EXPECT_EQ(broken([](M &, P &, E &, I &, W &w) { w.n_sources = 2; }),
            start + "weight embed of one source");
  EXPECT_EQ(broken([](M &, P &, E &, I &, W &w) { w.sources = nullptr; }),
            start + "weight embed of one source");
  EXPECT_EQ(broken([](M &, P &, E &e, I &, W &) { e.query_rows = 0; }),
            start + "entries with functions, inputs and outputs");
  EXPECT_EQ(
      broken([](M &, P &, E &e, I &, W &) { cacheIn(e).block_bytes = 0; }),
      start + "cache blocks that hold something");
  EXPECT_EQ(broken([](M &, P &, E &e, I &, W &) { cacheIn(e).role = 3; }),
            start + "caches of different known roles");
  EXPECT_EQ(broken([](M &, P &, E &e, I &, W &) {
              cacheIn(e).role = TFC_CACHE_STATE;
            }),
            start + "cache blocks that hold something");
  EXPECT_EQ(
      broken([](M &, P &, E &e, I &, W &) { cacheIn(e).block_tokens = 0; }),
      start + "cache blocks that hold something");
  EXPECT_EQ(broken([](M &, P &, E &e, I &, W &) {
              cacheIn(e).role = TFC_CACHE_STATE;
              cacheIn(e).block_tokens = 0;
              cacheIn(e).window = 8;
            }),
            start + "states of f32 without a window");
  EXPECT_EQ(broken([](M &, P &, E &e, I &, W &) { e.n_caches = 5; }),
            start + "at most 4 caches");
  EXPECT_EQ(broken([](M &, P &, E &, I &i, W &) { i.name = nullptr; }),
            start + "a port with a name and a width");
  EXPECT_EQ(broken([](M &, P &, E &, I &i, W &) { i.dtype = 0; }),
            start + "inputs of dtype i32");
  EXPECT_EQ(broken([](M &, P &, E &, I &i, W &) { i.fill = 9; }),
            start + "known kinds of rows");
  EXPECT_EQ(broken([](M &, P &, E &, I &i, W &) { i.width = 2; }),
            start + "one value a token");
  EXPECT_EQ(broken([](M &, P &, E &, I &, W &w) { w.layers = 0; }),
            start + "weights with a name and layers");
  EXPECT_EQ(broken([](M &, P &, E &, I &, W &w) { sourceOf(w).first_row = 1; }),
            start + "weight embed within its stored tensor");
  EXPECT_EQ(broken([](M &, P &, E &, I &, W &w) {
              w.flags = TFC_WEIGHT_TIED;
              w.tied_to = 1;
            }),
            start + "weight embed to be tied to a weight");
}

TEST(Module, RefusesMalformedEmbeddings) {
  auto module = Module::open(fakeLibrary("encoder"));
  ASSERT_TRUE(module) << messageOf(module);
  const tfc_module_v0 good = (*module)->table();
  using E = tfc_entry_v0;
  using P = tfc_port_v0;
  auto broken = [&](auto change) {
    tfc_module_v0 table = good;
    tfc_program_v0 program = good.programs[0];
    tfc_entry_v0 entry = program.entries[0];
    P ports[] = {{"input_ids", TFC_DTYPE_I32, TFC_ROWS_TOKENS, 1, 0,
                  TFC_FILL_GIVEN, 0, 1},
                 {"patches", TFC_DTYPE_F32, TFC_ROWS_TOKENS, 12,
                  TFC_PORT_EMBEDS, TFC_FILL_REQUIRED, 0, 1}};
    std::vector<P> outputs(entry.outputs, entry.outputs + entry.n_outputs);
    table.n_programs = program.n_entries = 1;
    table.programs = &program;
    program.entries = &entry;
    entry.inputs = ports;
    entry.n_inputs = 2;
    entry.outputs = outputs.data();
    change(entry, ports, outputs.front());
    return messageOf(checkModule(table));
  };
  EXPECT_EQ(broken([](E &, P *, P &) {}), "");
  std::string start = "malformed library: expected ";
  std::string rows = start + "embeddings of dtype f32, rows of tokens that the "
                             "caller gives";
  EXPECT_EQ(broken([](E &, P *p, P &) { p[1].dtype = TFC_DTYPE_I32; }), rows);
  EXPECT_EQ(broken([](E &, P *p, P &) { p[1].fill = TFC_FILL_ZERO; }), rows);
  EXPECT_EQ(broken([](E &, P *p, P &) { p[1].rows = TFC_ROWS_WANTED; }), rows);
  std::string one = start + "one port of embeddings in an encoder, and numbers "
                            "of its tokens";
  EXPECT_EQ(broken([](E &, P *p, P &) { p[0].fill = TFC_FILL_REQUIRED; }), one);
  EXPECT_EQ(broken([](E &, P *p, P &) { p[0].name = "ids"; }), one);
  EXPECT_EQ(broken([](E &, P *p, P &) { p[0].limit = 0; }), "");
  EXPECT_EQ(broken([](E &, P *p, P &) { p[0].limit = -1; }), one);
  EXPECT_EQ(broken([](E &e, P *, P &) { e.name = "step"; }), one);
  EXPECT_EQ(broken([](E &e, P *, P &) { e.n_inputs = 1; }), one);
  EXPECT_EQ(broken([](E &, P *p, P &) { p[0] = p[1]; }), one);
  EXPECT_EQ(broken([](E &, P *, P &o) { o.take = TFC_TAKE_LAST_EOS; }), one);
  EXPECT_EQ(broken([](E &, P *, P &o) { o.take = TFC_TAKE_FIRST_EOS; }), one);
  std::string unseen = start +
                       "tokens that none sees in an encoder that counts "
                       "distances";
  auto hide = [&](auto change) {
    return broken([&](E &e, P *p, P &) {
      p[0] = {"input_ids",
              TFC_DTYPE_I32,
              TFC_ROWS_TOKENS,
              1,
              0,
              TFC_FILL_REQUIRED,
              0,
              97};
      p[1] = {
          "targets", TFC_DTYPE_I32, TFC_ROWS_TOKENS, 1, 0, TFC_FILL_UNSEEN, 0,
          2};
      e.flags = TFC_ENTRY_DISTANCES;
      change(e, p[1]);
    });
  };
  EXPECT_EQ(hide([](E &, P &) {}), "");
  EXPECT_EQ(hide([](E &e, P &) { e.flags = 0; }), unseen);
  EXPECT_EQ(hide([](E &e, P &) { e.name = "step"; }), unseen);
  EXPECT_EQ(hide([](E &, P &p) { p.limit = 3; }), unseen);
  EXPECT_EQ(hide([](E &, P &p) { p.fill = TFC_FILL_UNSEEN + 1; }),
            start + "known kinds of rows");
  EXPECT_EQ(broken([](E &, P *, P &o) { o.take = TFC_TAKE_LAST_NONPAD; }), one);
}

TEST(Module, RefusesMalformedPairs) {
  auto module = Module::open(fakeLibrary("shifting"));
  ASSERT_TRUE(module) << messageOf(module);
  const tfc_module_v0 good = (*module)->table();
  EXPECT_TRUE(checkModule(good));
  auto broken = [&](auto change) {
    tfc_module_v0 table = good;
    tfc_program_v0 program = good.programs[0];
    tfc_entry_v0 entries[] = {program.entries[0], program.entries[1]};
    std::vector<tfc_port_v0> sources(entries[0].inputs, entries[0].inputs + 2);
    std::vector<tfc_port_v0> targets(entries[1].inputs, entries[1].inputs + 2);
    std::vector<tfc_port_v0> states(entries[0].outputs, entries[0].outputs + 1);
    std::vector<tfc_cache_v0> scratch(entries[0].caches, entries[0].caches + 2);
    std::vector<tfc_cache_v0> kept(entries[1].caches, entries[1].caches + 2);
    entries[0].caches = scratch.data();
    entries[1].caches = kept.data();
    table.n_programs = 1;
    table.programs = &program;
    program.entries = entries;
    entries[0].inputs = sources.data();
    entries[1].inputs = targets.data();
    entries[0].outputs = states.data();
    change(table, entries, sources[0], targets[0], states[0]);
    return messageOf(checkModule(table));
  };
  using M = tfc_module_v0;
  using E = tfc_entry_v0;
  using P = tfc_port_v0;
  EXPECT_EQ(broken([](M &, E *, P &, P &, P &) {}), "");
  std::string start = "malformed library: expected ";
  EXPECT_EQ(broken([](M &, E *e, P &, P &, P &) { e[0].name = "step"; }),
            start + "entries \"encode\" and \"step\" of an encoder-decoder");
  EXPECT_EQ(
      broken([](M &, E *e, P &, P &, P &) { cacheIn(e[1], 1).layers = 1; }),
      start + "equal cross blocks in encoder and decoder");
  EXPECT_EQ(broken([](M &, E *e, P &, P &, P &) {
              cacheIn(e[0], 1).layers = cacheIn(e[1], 1).layers = 0;
            }),
            start + "equal cross blocks in encoder and decoder");
  EXPECT_EQ(broken([](M &, E *e, P &, P &, P &) {
              cacheIn(e[1], 1).block_bytes = 0;
            }),
            start + "cache blocks that hold something");
  EXPECT_EQ(broken([](M &, E *, P &i, P &, P &) { i.name = "ids"; }),
            start + "an encoder of input_ids and a decoder of "
                    "decoder_input_ids");
  EXPECT_EQ(broken([](M &, E *e, P &, P &, P &) {
              e[1].n_inputs = 1;
              e[0].n_inputs = 2;
              const_cast<P *>(e[0].inputs)[1].name = "decoder_input_ids";
            }),
            start + "inputs of different names in encoder and decoder");
  EXPECT_EQ(broken([](M &, E *, P &i, P &, P &) { i.fill = TFC_FILL_SHIFTED; }),
            start + "shifted tokens only in an encoder-decoder's "
                    "decoder_input_ids");
  EXPECT_EQ(broken([](M &, E *, P &, P &, P &o) { o.rows = TFC_ROWS_WANTED; }),
            start + "outputs of every token from an encoder-decoder's encoder");
  EXPECT_EQ(broken([](M &m, E *, P &, P &, P &) { m.decoder_start = -1; }),
            start + "a decoder_start among the decoder's tokens");
  EXPECT_EQ(broken([](M &m, E *, P &, P &, P &) { m.decoder_start = 32; }),
            start + "a decoder_start among the decoder's tokens");
  EXPECT_EQ(broken([](M &m, E *, P &, P &, P &) { m.kind = TFC_KIND_DECODER; }),
            start + "cross blocks only in an encoder-decoder");
  EXPECT_EQ(broken([](M &, E *e, P &, P &, P &) {
              cacheIn(e[1], 0).role = TFC_CACHE_STATE;
              cacheIn(e[1], 0).block_tokens = 0;
            }),
            start + "states only in the step of a decoder");
}

TEST(Module, RefusesMalformedDefaults) {
  auto module = Module::open(fakeLibrary("decoder"));
  ASSERT_TRUE(module) << messageOf(module);
  const tfc_module_v0 good = (*module)->table();
  auto broken = [&](auto change) {
    tfc_module_v0 table = good;
    tfc_generation_v0 defaults = *good.generation;
    change(defaults);
    table.generation = &defaults;
    return messageOf(checkModule(table));
  };
  using G = tfc_generation_v0;
  EXPECT_EQ(broken([](G &) {}), "");
  std::string fault =
      "malformed library: expected defaults of generation in their ranges";
  EXPECT_EQ(broken([](G &g) { g.forced_bos = -2; }), fault);
  EXPECT_EQ(broken([](G &g) { g.num_beams = 0; }), fault);
  EXPECT_EQ(broken([](G &g) { g.early_stopping = 3; }), fault);
  EXPECT_EQ(broken([](G &g) { g.top_p = 1.5; }), fault);
  EXPECT_EQ(broken([](G &g) { g.length_penalty = NAN; }), fault);
  EXPECT_EQ(broken([](G &g) { g.repetition_penalty = 0; }), fault);
  tfc_module_v0 table = good;
  table.generation = nullptr;
  EXPECT_EQ(messageOf(checkModule(table)),
            "malformed library: expected defaults of generation");
}

/// A machine that has everything but the instruction sets of these names.
CpuWords machineWithout(const std::vector<std::string> &names) {
  CpuWords cpu{TFC_ISA_X86_64,
               {~0U, ~0U, ~0U, ~0U, ~0U, ~0U},
               ~uint64_t(0),
               /*isAmd=*/true,
               {}};
  for (const X86Feature &feature : x86Features) {
    if (std::count(names.begin(), names.end(), feature.name)) {
      cpu.words[static_cast<int>(feature.word)] &= ~(1U << feature.bit);
    }
  }
  return cpu;
}

TEST(Module, NamesEveryInstructionSetThatIsMissing) {
  uint64_t v2 = TFC_FEATURE_X86_64_V2, v3 = TFC_FEATURE_X86_64_V3,
           v4 = TFC_FEATURE_X86_64_V4, dots = TFC_FEATURE_FAST_AVX512_BF16;
  uint64_t bytes = TFC_FEATURE_AVX_VNNI, wide = TFC_FEATURE_AVX512_VNNI;
  uint64_t all = v2 | v3 | v4 | dots | bytes | wide | tileFeatures;
  EXPECT_EQ(machineFeatures(machineWithout({})), all);
  for (const X86Feature &feature : x86Features) {
    std::string name = feature.name;
    // These two are one bit.
    std::string expected =
        name == "crc32" || name == "sse4.2" ? "sse4.2, crc32" : name;
    CpuWords cpu = machineWithout({name});
    // A level is none without those below it, nor is what stands on one.
    bool isLevel = feature.level <= v4;
    EXPECT_EQ(machineFeatures(cpu), !isLevel              ? all - feature.level
                                    : feature.level == v4 ? v2 | v3 | bytes
                                                          : feature.level - 1)
        << name;
    EXPECT_EQ(missingFeatures(isLevel ? v4 : feature.level, cpu), expected);
  }
  EXPECT_EQ(missingFeatures(v3, machineWithout({"f16c", "lzcnt", "movbe"})),
            "f16c, lzcnt, movbe");
  // The machine has the instructions, and others are faster.
  CpuWords slow = machineWithout({});
  slow.isAmd = false;
  EXPECT_EQ(machineFeatures(slow), all - dots);
  EXPECT_EQ(missingFeatures(dots, slow),
            "a fast avx512bf16 (this one is slower than products of f32)");
  EXPECT_EQ(missingFeatures(TFC_FEATURE_AMX_BF16, machineWithout({"amx-tile"})),
            "amx-tile");
  EXPECT_EQ(missingFeatures(2 * TFC_FEATURE_AMX_INT8, machineWithout({})),
            "an unknown instruction set");
  // The machine has AVX, but the system does not save its registers.
  CpuWords unsaved = machineWithout({});
  unsaved.savedState = 3;
  EXPECT_EQ(machineFeatures(unsaved), v2);
  EXPECT_EQ(missingFeatures(v3, unsaved), "avx, avx2, fma, f16c");
  // Its registers, but not those of tiles.
  unsaved.savedState = savesAvx512;
  EXPECT_EQ(machineFeatures(unsaved), all - tileFeatures);
  EXPECT_EQ(machineFeatures(CpuWords()), 0U);
}

/// A machine of aarch64 that lacks the instruction set of a name, "" none.
CpuWords armWithout(const std::string &name) {
  CpuWords cpu;
  cpu.isa = TFC_ISA_AARCH64;
  for (const Aarch64Feature &feature : aarch64Features) {
    cpu.hwcaps[static_cast<int>(feature.word)] |= uint64_t(feature.name != name)
                                                  << feature.bit;
  }
  return cpu;
}

TEST(Module, NamesEveryInstructionSetThatAnArmLacks) {
  uint64_t all = TFC_FEATURE_ARM_DOTPROD | TFC_FEATURE_ARM_I8MM |
                 TFC_FEATURE_ARM_BF16 | TFC_FEATURE_ARM_SVE2;
  EXPECT_EQ(machineFeatures(armWithout("")), all);
  for (const Aarch64Feature &feature : aarch64Features) {
    CpuWords cpu = armWithout(feature.name);
    EXPECT_EQ(machineFeatures(cpu), all - feature.feature);
    EXPECT_EQ(missingFeatures(all, cpu), feature.name);
    EXPECT_EQ(missingFeatures(all - feature.feature, cpu),
              "an unknown instruction set");
  }
  CpuWords none;
  none.isa = TFC_ISA_AARCH64;
  EXPECT_EQ(machineFeatures(none), 0U);
  EXPECT_EQ(missingFeatures(all, none), "dotprod, i8mm, bf16, sve, sve2");
  // Linux's words of a Neoverse N1.
  none.hwcaps[0] = 0x119fff;
  EXPECT_EQ(machineFeatures(none), uint64_t(TFC_FEATURE_ARM_DOTPROD));
}

TEST(Module, NamesTheVectorsThatARiscvLacks) {
  constexpr uint64_t all = TFC_FEATURE_RISCV_V | TFC_FEATURE_RISCV_ZVL256B |
                           TFC_FEATURE_RISCV_ZVL512B;
  CpuWords cpu;
  cpu.isa = TFC_ISA_RISCV64;
  for (auto [bits, has, lacks] :
       {std::tuple<uint64_t, uint64_t, const char *>{0, 0,
                                                     "v, zvl256b, zvl512b"},
        {128, TFC_FEATURE_RISCV_V, "zvl256b, zvl512b"},
        {256, TFC_FEATURE_RISCV_V | TFC_FEATURE_RISCV_ZVL256B, "zvl512b"},
        {1024, all, "an unknown instruction set"}}) {
    cpu.vectorBits = bits;
    EXPECT_EQ(machineFeatures(cpu), has) << bits;
    EXPECT_EQ(missingFeatures(all, cpu), lacks) << bits;
  }
}

TEST(Module, AgreesWithTheCompilerAboutThisMachine) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  EXPECT_EQ((machineFeatures() & TFC_FEATURE_X86_64_V3) != 0,
            __builtin_cpu_supports("x86-64-v3") != 0);
  EXPECT_EQ((machineFeatures() & TFC_FEATURE_X86_64_V4) != 0,
            __builtin_cpu_supports("x86-64-v4") != 0);
#endif
}

TEST(Module, KnowsThisMachine) {
  uint64_t features = machineFeatures();
  if (hostIsa == TFC_ISA_X86_64) {
    EXPECT_EQ(withLowerLevels(features), features) << "levels are cumulative";
  }
  EXPECT_EQ(missingFeatures(features), "an unknown instruction set");
}

} // namespace
} // namespace tfc::rt::test
