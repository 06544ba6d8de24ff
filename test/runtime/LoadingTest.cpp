// Loads that say how far they are, that the caller ends, and whose tensors lie
// in several places.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/Loading.h"

#include "runtime/src/load/Model.h"
#include "test/runtime/FakeModel.h"

#include <cstring>

namespace tfc::rt::test {
namespace {

namespace fs = std::filesystem;

/// What a caller is told; ends the load when it has been told often enough.
struct Listener {
  int64_t patience = 1000000;
  std::vector<std::pair<uint64_t, uint64_t>> told;
  std::thread::id thread = std::this_thread::get_id();

  static int hear(void *user, uint64_t done, uint64_t total) {
    auto &self = *static_cast<Listener *>(user);
    EXPECT_EQ(std::this_thread::get_id(), self.thread);
    self.told.emplace_back(done, total);
    return static_cast<int64_t>(self.told.size()) > self.patience;
  }
};

class LoadingOf : public ::testing::Test {
protected:
  void SetUp() override {
    fs::create_directory(folder / "a");
    writeTensors(folder / "a/model.safetensors", weights.stored());
    options.libraryPath = fakeLibrary("encoder");
    options.weightsPath = folder / "a";
    options.threads = 3;
    options.progress = Listener::hear;
  }

  Result<std::unique_ptr<Model>> load(Listener &listener) {
    options.progressUser = &listener;
    return Model::load(options);
  }

  /// That it goes up, to the end.
  static void expectWhole(const Listener &listener) {
    ASSERT_GT(listener.told.size(), 1U);
    for (size_t i = 1; i < listener.told.size(); ++i) {
      EXPECT_LE(listener.told[i - 1].first, listener.told[i].first);
      EXPECT_LE(listener.told[i - 1].second, listener.told[i].second);
      EXPECT_LE(listener.told[i].first, listener.told[i].second);
    }
    EXPECT_EQ(listener.told.back().first, listener.told.back().second);
    EXPECT_GT(listener.told.back().second, 0U);
  }

  /// Ends a load at every place where that can be done.
  void endEverywhere() {
    for (int64_t patience = 0; patience < 1000; ++patience) {
      Listener listener;
      listener.patience = patience;
      auto model = load(listener);
      if (model) {
        // Other threads left nothing to be asked about.
        EXPECT_LE(listener.told.size(), static_cast<size_t>(patience));
        expectWhole(listener);
        return;
      }
      EXPECT_EQ(model.error().code, Code::Cancelled);
      EXPECT_EQ(model.error().message, "stopped by the caller (progress)");
      EXPECT_EQ(listener.told.size(), static_cast<size_t>(patience) + 1)
          << "nobody is asked again";
    }
    ADD_FAILURE() << "it never loads";
  }

  Folder folder;
  FakeWeights weights{3};
  LoadOptions options;
};

TEST_F(LoadingOf, ACheckpointIsToldAndEnded) {
  Listener listener;
  auto model = load(listener);
  ASSERT_TRUE(model) << messageOf(model);
  expectWhole(listener);
  endEverywhere();
}

TEST_F(LoadingOf, PackedWeightsAreToldAndEnded) {
  options.packedPath = folder / "model.packed";
  endEverywhere();
  EXPECT_TRUE(fs::exists(options.packedPath));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path), {}), 2);
  fs::remove(options.packedPath);
  Listener first;
  first.patience = 3;
  EXPECT_FALSE(load(first));
  EXPECT_FALSE(fs::exists(options.packedPath));
  Listener whole;
  ASSERT_TRUE(load(whole));
  expectWhole(whole);
  for (bool isShared : {false, true}) {
    options.sharesPacked = isShared;
    Listener again;
    ASSERT_TRUE(load(again));
    expectWhole(again);
    EXPECT_LT(again.told.back().second, whole.told.back().second)
        << "nothing is packed or written";
    endEverywhere();
  }
  // A checkpoint whose files are others and whose tensors are not: more work.
  fs::copy(folder / "a", folder / "b");
  options.weightsPath = folder / "b";
  Listener more;
  ASSERT_TRUE(load(more));
  expectWhole(more);
  EXPECT_LT(more.told.front().second, more.told.back().second);
  endEverywhere();
}

TEST_F(LoadingOf, TensorsOfSeveralPlacesAreOneSet) {
  Listener listener;
  auto expected = load(listener);
  ASSERT_TRUE(expected) << messageOf(expected);
  std::vector<NamedTensor> tensors = weights.stored();
  ASSERT_GT(tensors.size(), 3U);
  fs::create_directory(folder / "b");
  writeTensors(folder / "b/model.safetensors", {tensors[0]});
  writeTensors(folder / "c.safetensors", {tensors[1], tensors[2]});
  fs::create_directory(folder / "d");
  writeTensors(folder / "d/model.safetensors",
               {tensors.begin() + 3, tensors.end()});
  options.moreWeights = {folder / "c.safetensors", folder / "d"};
  options.packedPath = folder / "model.packed";
  for (bool hasFirst : {true, false, false}) { // the last from the packed file
    options.weightsPath = hasFirst ? folder / "b" : "";
    if (!hasFirst) {
      options.moreWeights = {folder / "c.safetensors", folder / "d",
                             folder / "b"};
    }
    auto model = load(listener);
    ASSERT_TRUE(model) << messageOf(model);
    ASSERT_EQ((*model)->weightBytes(), (*expected)->weightBytes());
    EXPECT_EQ(std::memcmp((*model)->weights(), (*expected)->weights(),
                          (*model)->weightBytes()),
              0);
  }
  options.packedPath.clear();
  options.moreWeights.pop_back();
  std::string message = messageOf(load(listener));
  EXPECT_EQ(message.find(concat(folder / "c.safetensors", ", ", folder / "d",
                                ": expected tensor ")),
            0U)
      << message;
  options.moreWeights = {folder / "c.safetensors", folder / "a"};
  message = messageOf(load(listener));
  EXPECT_NE(message.find(": expected distinct tensors, got "),
            std::string::npos)
      << message;
}

TEST_F(LoadingOf, EveryPlaceThatIsNotThereIsNamed) {
  Listener listener;
  options.weightsPath.clear();
  EXPECT_EQ(messageOf(load(listener)), "expected a path of weights, got none");
  options.moreWeights = {folder / "x", folder / "y"};
  std::string message = messageOf(load(listener));
  for (const std::string &path : options.moreWeights) {
    EXPECT_NE(message.find(path), std::string::npos) << message;
  }
}

} // namespace
} // namespace tfc::rt::test
