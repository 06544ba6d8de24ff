// Which file a library is loaded from, and that a damaged one is refused before
// any of its code runs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/LibraryFile.h"

#include "runtime/src/load/Module.h"
#include "test/runtime/FakeModel.h"
#include "test/runtime/MappedLines.h"

#include <cstddef>
#include <elf.h>
#include <fstream>

namespace tfc::rt::test {
namespace {

namespace fs = std::filesystem;

/// "encoder", or why there is no such module.
std::string kindOf(const Result<std::unique_ptr<Module>> &module) {
  return module ? kindName((*module)->table().kind) : messageOf(module);
}

class LibraryFiles : public ::testing::Test {
protected:
  /// Puts another library where `path` is, as a compiler does it.
  void install(const std::string &variant) {
    fs::copy_file(fakeLibrary(variant), folder / "new.so");
    fs::rename(folder / "new.so", path);
  }

  Folder folder;
  std::string path = folder / "live.so";
};

TEST_F(LibraryFiles, AreThoseOfTheirPathNow) {
  install("encoder");
  auto first = Module::open(path);
  EXPECT_EQ(kindOf(first), "encoder");
  install("decoder");
  auto second = Module::open(path);
  EXPECT_EQ(kindOf(second), "decoder");
  EXPECT_EQ(kindOf(first), "encoder");
}

TEST_F(LibraryFiles, AreNotMistakenForOneWhoseDescriptorTheyHave) {
  install("encoder");
  auto first = Module::open(path), second = Module::open(path);
  ASSERT_TRUE(first && second);
  // The library stays loaded by the second, under the names of both.
  first->reset();
  install("decoder");
  EXPECT_EQ(kindOf(Module::open(path)), "decoder");
  second->reset();
  EXPECT_EQ(kindOf(Module::open(path)), "decoder");
}

TEST_F(LibraryFiles, AreUnloaded) {
  install("encoder");
  {
    auto module = Module::open(path);
    ASSERT_TRUE(module) << messageOf(module);
    EXPECT_GT(countMappedLines(path), 0);
  }
  EXPECT_EQ(countMappedLines(path), 0);
}

/// A library with its checksum behind it.
class SummedLibrary : public LibraryFiles {
protected:
  void SetUp() override {
    std::ifstream file(fakeLibrary("encoder"), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), {});
    uint64_t sum = TFC_FNV_BASIS;
    for (unsigned char byte : bytes) {
      sum = (sum ^ byte) * TFC_FNV_PRIME;
    }
    bytes += TFC_LIBRARY_END_MAGIC;
    for (int i = 0; i < 8; ++i) {
      bytes += static_cast<char>(sum >> (8 * i) & 255);
    }
  }

  std::string kindOfDamaged(size_t at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    std::ofstream(path, std::ios::binary) << damaged;
    return kindOf(Module::open(path));
  }

  std::string bytes;
};

TEST_F(SummedLibrary, IsLoadedWhenItIsWhole) {
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(kindOf(Module::open(path)), "encoder");
}

TEST_F(SummedLibrary, IsRefusedWhenAnyByteDiffers) {
  std::string begin = path + ": expected the checksum ";
  std::string end = "; the file is damaged (compile it again)";
  // The magic's own bytes are left out: without it there is no checksum.
  size_t sumAt = bytes.size() - 8, step = bytes.size() / 97;
  // The header says how large the file must be, before any sum is taken.
  for (size_t at = 64; at < sumAt - 8; at += step) {
    std::string message = kindOfDamaged(at);
    EXPECT_EQ(message.substr(0, begin.size()), begin) << at;
    EXPECT_EQ(message.substr(message.size() - end.size()), end) << at;
  }
  for (size_t at = sumAt; at < bytes.size(); ++at) {
    EXPECT_EQ(kindOfDamaged(at).substr(0, begin.size()), begin) << at;
  }
}

TEST_F(SummedLibrary, IsRefusedWhenItsEndIsMissing) {
  std::string expected = path + ": expected a whole compiled model, got a file "
                                "that ends early (compile it again)";
  size_t sumAt = bytes.size() - sizeof(tfc_library_end_v0);
  auto kindOfCut = [&](size_t size) {
    std::ofstream(path, std::ios::binary) << bytes.substr(0, size);
    return kindOf(Module::open(path));
  };
  for (size_t size = sumAt + 1; size < bytes.size(); ++size) {
    EXPECT_EQ(kindOfCut(size), expected) << size;
  }
  // Within what is not loaded: the table of sections is the last part.
  EXPECT_EQ(kindOfCut(sumAt - 1), expected);
  // As strip writes it.
  EXPECT_EQ(kindOfCut(sumAt), "encoder");
}

// Which dlopen reports as a file that is missing.
TEST_F(LibraryFiles, OfAnotherMachineAreRefusedByName) {
  install("encoder");
  const MachineKind *here = findMachineKind(hostIsa);
  ASSERT_NE(here, nullptr);
  auto refused = [&](uint16_t machine, const std::string &name) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(offsetof(Elf64_Ehdr, e_machine));
    file.write(reinterpret_cast<const char *>(&machine), sizeof(machine));
    file.close();
    EXPECT_EQ(kindOf(Module::open(path)),
              path + ": expected a compiled model for " + here->name +
                  " (this machine), got one for " + name +
                  "; compile it with --target=" + here->target);
  };
  for (auto [machine, name] :
       {std::pair{EM_X86_64, "x86-64"}, std::pair{EM_AARCH64, "aarch64"},
        std::pair{EM_RISCV, "riscv64"}}) {
    if (here->elf != machine) {
      refused(static_cast<uint16_t>(machine), name);
    }
  }
  refused(EM_PPC64, "ELF machine 21");
  // Mach-O, of 64 bits.
  std::ofstream(path, std::ios::binary) << "\xcf\xfa\xed\xfe and more";
  EXPECT_EQ(kindOf(Module::open(path)),
            path + ": expected a compiled model for " + here->name +
                " (this machine), got one for macOS; compile it with "
                "--target=" +
                here->target);
}

TEST_F(LibraryFiles, MayHaveOtherBytesBehindThem) {
  install("encoder");
  std::ofstream(path, std::ios::binary | std::ios::app) << '\0';
  EXPECT_EQ(kindOf(Module::open(path)), "encoder");
}

} // namespace
} // namespace tfc::rt::test
