// The process's threads beside what a host may do: bodies that throw, fork,
// signals, dlclose.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/threads/ThreadPool.h"

#include "runtime/src/threads/ForEach.h"
#include "test/runtime/FakeModel.h"

#include <chrono>
#include <dlfcn.h>
#include <fstream>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tfc::rt::test {
namespace {

/// Three workers of the pool.
Workers lendPool() {
  uint32_t workers = ThreadPool::instance().reserve(3);
  EXPECT_EQ(workers, 3U);
  return Workers(workers);
}

/// Whether a loop over 1000 items reaches each of them once.
bool reachesEachItem(const Workers &workers) {
  std::vector<std::atomic<int>> counts(1000);
  forEach(workers, 1000, [&](int64_t item, uint32_t) { ++counts[item]; });
  return std::all_of(counts.begin(), counts.end(),
                     [](const std::atomic<int> &count) { return count == 1; });
}

TEST(ThreadPool, ThrowsWhatABodyThrew) {
  Workers workers = lendPool();
  for (uint32_t thrower : {0U, 1U, 2U}) {
    // Until that worker has had its turn: who takes part is chance.
    bool hasThrown = false;
    for (int round = 0; round < 100000 && !hasThrown; ++round) {
      std::atomic<int> inside{0};
      try {
        forEach(workers, 64, [&](int64_t, uint32_t worker) {
          ++inside;
          auto end =
              std::chrono::steady_clock::now() + std::chrono::microseconds(20);
          while (std::chrono::steady_clock::now() < end) {
          }
          --inside;
          if (worker == thrower) {
            throw std::runtime_error("worker " + std::to_string(worker));
          }
        });
      } catch (const std::runtime_error &fault) {
        hasThrown = true;
        EXPECT_EQ(fault.what(), "worker " + std::to_string(thrower));
      }
      // Nobody works on after the loop.
      EXPECT_EQ(inside, 0);
    }
    EXPECT_TRUE(hasThrown) << thrower;
    EXPECT_TRUE(reachesEachItem(workers));
  }
}

TEST(ThreadPool, ThrowsOneOfSeveral) {
  Workers workers = lendPool();
  for (int round = 0; round < 200; ++round) {
    EXPECT_THROW(forEach(workers, 64,
                         [](int64_t item, uint32_t) {
                           throw std::runtime_error(std::to_string(item));
                         }),
                 std::runtime_error);
  }
  EXPECT_TRUE(reachesEachItem(workers));
}

TEST(ThreadPool, ChildrenOfForkWork) {
  auto model = loadFake("encoder", FakeWeights(), 3);
  Padded padded{2, 3, {7, 8, 9, 4, 5, 6}, {}, {}, {}};
  auto expected = forward(*model, padded);
  ASSERT_TRUE(expected) << messageOf(expected);
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60); // instead of waiting for ever
    auto got = forward(*model, padded);
    bool isEqual = got && (*got)[0].floats == (*expected)[0].floats;
    bool hasThreads = ThreadPool::instance().reserve(3) == 3;
    // Grandchildren too, and with a pool that has not worked since.
    pid_t grandchild = fork();
    if (grandchild == 0) {
      _exit(reachesEachItem(lendPool()) ? 0 : 1);
    }
    int status = 0;
    waitpid(grandchild, &status, 0);
    _exit(isEqual && hasThreads && status == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(reachesEachItem(lendPool()));
}

/// The value of a line "name: value" of a thread's status.
std::string statusOf(const std::filesystem::path &task,
                     const std::string &name) {
  std::ifstream in(task / "status");
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, name.size() + 1, name + ":") == 0) {
      return line.substr(line.find_first_not_of(" \t", name.size() + 1));
    }
  }
  return "";
}

TEST(ThreadPool, WorkersHaveNamesAndGetNoSignals) {
  EXPECT_TRUE(reachesEachItem(lendPool()));
  size_t numWorkers = 0;
  for (const auto &task :
       std::filesystem::directory_iterator("/proc/self/task")) {
    if (statusOf(task.path(), "Name").rfind("tfc-worker-", 0) != 0) {
      continue;
    }
    ++numWorkers;
    uint64_t blocked =
        std::stoull(statusOf(task.path(), "SigBlk"), nullptr, 16);
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGUSR1, SIGCHLD}) {
      EXPECT_TRUE(blocked >> (signal - 1) & 1) << signal;
    }
  }
  EXPECT_GE(numWorkers, 2U);
  sigset_t own;
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &own), 0);
  EXPECT_EQ(sigismember(&own, SIGTERM), 0);
}

TEST(ThreadPool, StaysWhereItsThreadsWaitAfterDlclose) {
  void *library = dlopen(RUNTIME_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto load = reinterpret_cast<decltype(&tfc_model_load)>(
      dlsym(library, "tfc_model_load"));
  auto release = reinterpret_cast<decltype(&tfc_model_free)>(
      dlsym(library, "tfc_model_free"));
  Folder folder;
  writeTensors(folder / "model.safetensors", FakeWeights().stored());
  std::string path = fakeLibrary("encoder"), weights = folder.path.string();
  tfc_model_options options{};
  options.struct_size = sizeof(options);
  options.library_path = path.c_str();
  options.weights_path = weights.c_str();
  options.threads = 3;
  tfc_model *model = nullptr;
  ASSERT_EQ(load(&options, &model), nullptr);
  release(model);
  EXPECT_EQ(dlclose(library), 0);
  library = dlopen(RUNTIME_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
  EXPECT_NE(library, nullptr);
}

} // namespace
} // namespace tfc::rt::test
