// Models that are linked into a program: by their query, without a file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/Module.h"
#include "test/runtime/FakeModel.h"

namespace tfc::rt::test {
namespace {

/// What the query below returns; of this host's version, as if its library had
/// been compiled with this abi.h.
tfc_module_v0 linkedTable;
bool needsNewer = false;

const void *library(uint32_t) {
  return needsNewer ? nullptr : &linkedTable.header;
}

class LinkedModel : public testing::Test {
protected:
  void SetUp() override {
    auto opened = Module::open(fakeLibrary("decoder"));
    ASSERT_TRUE(opened) << messageOf(opened);
    file = std::move(*opened);
    linkedTable = file->table();
    linkedTable.sizes = {
        sizeof(tfc_module_v0), sizeof(tfc_generation_v0), sizeof(tfc_weight_v0),
        sizeof(tfc_source_v0), sizeof(tfc_program_v0),    sizeof(tfc_entry_v0),
        sizeof(tfc_port_v0),   sizeof(tfc_cache_v0),      sizeof(tfc_kernel_v0),
        sizeof(tfc_image_v0),  sizeof(tfc_place_v0),      0};
    linkedTable.spec_json = "tfc";
    linkedTable.spec_hash = TFC_FNV_BASIS;
    for (unsigned char c : std::string("tfc")) {
      linkedTable.spec_hash = (linkedTable.spec_hash ^ c) * TFC_FNV_PRIME;
    }
    needsNewer = false;
  }

  /// The message of loading it as a program in C does.
  static std::string loadMessage(tfc_library_fn linked, const char *path) {
    Folder folder;
    writeTensors(folder / "model.safetensors", FakeWeights(3).stored());
    std::string weights = folder.path.string();
    tfc_model_options options{};
    options.struct_size = sizeof(options);
    options.library = linked;
    options.library_path = path;
    options.weights_path = weights.c_str();
    tfc_model *model = nullptr;
    tfc_error *error = tfc_model_load(&options, &model);
    std::string message = tfc_error_message(error);
    tfc_error_free(error);
    tfc_model_free(model);
    return message;
  }

  std::unique_ptr<Module> file; // whose tables the linked one points at
};

TEST_F(LinkedModel, GivesWhatItsFileDoes) {
  auto linked = Module::open(library);
  ASSERT_TRUE(linked) << messageOf(linked);
  EXPECT_EQ((*linked)->path(), "linked model fake");
  EXPECT_EQ(loadMessage(library, nullptr), "");

  auto fromFile = loadFake("decoder", FakeWeights(3));
  Folder folder;
  writeTensors(folder / "model.safetensors", FakeWeights(3).stored());
  LoadOptions options;
  options.library = library;
  options.weightsPath = folder.path.string();
  options.threads = 2;
  auto model = Model::load(options);
  ASSERT_TRUE(model) << messageOf(model);
  Padded padded{2, 3, {7, 8, 9, 4, 5, 6}, {}, {}, {}};
  auto expected = generate(*fromFile, padded, 6),
       got = generate(**model, padded, 6);
  ASSERT_TRUE(expected && got) << messageOf(got);
  EXPECT_EQ(got->ints, expected->ints);
}

TEST_F(LinkedModel, IsCheckedAsAFileIs) {
  ++linkedTable.spec_hash;
  EXPECT_NE(loadMessage(library, nullptr)
                .find("linked model fake: expected a spec of the hash "),
            std::string::npos);
  --linkedTable.spec_hash;
  linkedTable.n_programs = 0;
  EXPECT_EQ(loadMessage(library, nullptr), "linked model: malformed library: "
                                           "expected at least one program");
  needsNewer = true;
  EXPECT_NE(
      loadMessage(library, nullptr).find("one that needs a newer runtime"),
      std::string::npos);
}

TEST_F(LinkedModel, IsOneOrAFile) {
  EXPECT_EQ(loadMessage(library, "model.so"),
            "expected library_path or library (of a linked model), got both");
  EXPECT_NE(loadMessage(nullptr, nullptr), "");
}

/// What version 4 has names for and this runtime does not do yet.
TEST_F(LinkedModel, IsRefusedByTheNameOfWhatItNeeds) {
  auto refused = [&](auto change) {
    tfc_module_v0 table = file->table();
    tfc_program_v0 program = table.programs[0];
    tfc_entry_v0 entry = program.entries[0];
    tfc_port_v0 input = entry.inputs[0];
    tfc_cache_v0 cache = entry.caches[0];
    table.n_programs = program.n_entries = 1;
    entry.n_inputs = entry.n_caches = 1;
    table.programs = &program;
    program.entries = &entry;
    entry.inputs = &input;
    entry.caches = &cache;
    change(input, cache);
    return messageOf(checkNeeds(table));
  };
  using P = tfc_port_v0;
  using C = tfc_cache_v0;
  EXPECT_EQ(refused([](P &, C &) {}), "");
  EXPECT_EQ(refused([](P &, C &c) { c.role = TFC_CACHE_STATE; }), "");
  EXPECT_EQ(refused([](P &, C &c) { c.key_width = c.value_width = 576; }), "");
  EXPECT_EQ(refused([](P &, C &c) { c.key_width = 576, c.value_width = 512; }),
            "expected caches whose keys and values are of one width, or whose "
            "values are columns of keys (this runtime has no others), got keys "
            "of 576 and values of 512");
  EXPECT_EQ(refused([](P &, C &c) { c.key_width = 576; }), "");
  EXPECT_EQ(refused([](P &p, C &) { p.flags = TFC_PORT_EMBEDS; }),
            "expected inputs of token ids and the like (this runtime gives "
            "embeddings to encoders alone), got \"input_ids\", rows of "
            "embeddings");
}

} // namespace
} // namespace tfc::rt::test
