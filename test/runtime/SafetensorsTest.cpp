// One safetensors file: what is read, and every malformed one with its message.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/FakeModel.h"

#include <cmath>
#include <fstream>
#include <sys/stat.h>

namespace tfc::rt::test {
namespace {

std::string littleEndian(uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) {
    bytes += static_cast<char>(value >> (8 * i) & 255);
  }
  return bytes;
}

/// A file of this header and as many zero bytes of data.
std::string fileOf(const std::string &header, size_t dataBytes) {
  return littleEndian(header.size()) + header + std::string(dataBytes, '\0');
}

void writeBytes(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// "one tensor" with these fields.
std::string tensor(const std::string &dtype, const std::string &shape,
                   const std::string &offsets) {
  return "{\"a\":{\"dtype\":" + dtype + ",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}}";
}

struct Malformed {
  const char *what;
  std::string bytes;
  const char *message; // after the path
};

const std::string f32 = "\"F32\"";

const Malformed malformed[] = {
    {"an empty file", "",
     "expected a safetensors file (8 bytes or more), got 0 bytes"},
    {"a truncated length", "\1\0\0",
     "expected a safetensors file (8 bytes or more), got 1 bytes"},
    {"a header longer than the file", littleEndian(100) + "{}",
     "expected a header of at most 2 bytes, got 100"},
    {"a header length of all ones", littleEndian(UINT64_MAX) + "{}",
     "expected a header of at most 2 bytes, got 18446744073709551615"},
    {"no header", fileOf("", 0),
     "header: expected JSON, got a syntax error at byte 1 of it"},
    {"a truncated header", fileOf("{\"a\":{\"dtype\":\"F32\"", 0),
     "header: expected JSON, got a syntax error at byte 20 of it"},
    {"an array", fileOf("[]", 0),
     "header: expected an object of tensors, got an array"},
    {"deep nesting", fileOf(std::string(100000, '['), 0),
     "header: expected an object of tensors, got an array"},
    {"deep nesting in a tensor",
     fileOf("{\"a\":{\"shape\":" + std::string(100000, '['), 0),
     "header: tensor \"a\": expected a shape of integers from 0 to 2^63 - 1, "
     "got an array"},
    {"bad UTF-8", fileOf("{\"\xff\":{}}", 0),
     "header: expected JSON, got a syntax error at byte 3 of it"},
    {"a tensor twice",
     fileOf("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
            "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}",
            2),
     "header: expected distinct tensors, got \"a\" twice"},
    {"a field twice", fileOf("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", 0),
     "header: tensor \"a\": expected one dtype, got two"},
    {"an unknown field", fileOf("{\"a\":{\"type\":\"U8\"}}", 0),
     "header: tensor \"a\": expected dtype, shape and data_offsets, got "
     "\"type\""},
    {"a missing field", fileOf("{\"a\":{\"dtype\":\"U8\",\"shape\":[]}}", 0),
     "header: tensor \"a\": expected data_offsets, got none"},
    {"a tensor that is none", fileOf("{\"a\":7}", 0),
     "header: \"a\": expected an object, got 7"},
    {"an unknown dtype", fileOf(tensor("\"F31\"", "[1]", "[0,4]"), 4),
     "header: tensor \"a\": expected a known dtype, got \"F31\""},
    {"a dtype that is a number", fileOf(tensor("4", "[1]", "[0,4]"), 4),
     "header: tensor \"a\": expected a known dtype, got 4"},
    {"a negative dimension", fileOf(tensor(f32, "[-1]", "[0,4]"), 4),
     "header: tensor \"a\": expected a shape of integers from 0 to 2^63 - 1, "
     "got -1"},
    {"a fractional dimension", fileOf(tensor(f32, "[1.5]", "[0,4]"), 4),
     "header: tensor \"a\": expected a shape of integers from 0 to 2^63 - 1, "
     "got 1.5"},
    {"a dimension beyond 64 bits",
     fileOf(tensor(f32, "[99999999999999999999]", "[0,4]"), 4),
     "header: tensor \"a\": expected a shape of integers from 0 to 2^63 - 1, "
     "got 99999999999999999999"},
    {"a shape that overflows",
     fileOf(tensor(f32, "[4294967296,4294967296]", "[0,4]"), 4),
     "tensor \"a\": expected a whole number of bytes below 2^61, got shape "
     "[4294967296, 4294967296] of F32"},
    {"a shape that overflows beside a 0",
     fileOf(tensor(f32, "[1099511627776,8388608,0]", "[0,0]"), 0),
     "tensor \"a\": expected a whole number of bytes below 2^61, got shape "
     "[1099511627776, 8388608, 0] of F32"},
    {"nine axes", fileOf(tensor(f32, "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4),
     "header: tensor \"a\": expected a shape of at most 8 axes, got more"},
    {"a shape whose bytes overflow",
     fileOf(tensor(f32, "[4611686018427387904]", "[0,4]"), 4),
     "tensor \"a\": expected a whole number of bytes below 2^61, got shape "
     "[4611686018427387904] of F32"},
    {"half a byte", fileOf(tensor("\"F4\"", "[3]", "[0,2]"), 2),
     "tensor \"a\": expected a whole number of bytes below 2^61, got shape "
     "[3] of F4"},
    {"one offset", fileOf(tensor(f32, "[1]", "[0]"), 4),
     "header: tensor \"a\": expected data_offsets of two integers from 0 on, "
     "got 1 numbers"},
    {"three offsets", fileOf(tensor(f32, "[1]", "[0,4,8]"), 8),
     "header: tensor \"a\": expected data_offsets of two integers from 0 on, "
     "got 8"},
    {"an offset beyond the file", fileOf(tensor(f32, "[2]", "[0,8]"), 4),
     "tensor \"a\": expected data_offsets within [0, 4], got [0, 8]"},
    {"offsets that wrap around",
     fileOf(tensor(f32, "[1]", "[18446744073709551612,18446744073709551615]"),
            4),
     "tensor \"a\": expected data_offsets within [0, 4], got "
     "[18446744073709551612, 18446744073709551615]"},
    {"an end before the begin", fileOf(tensor(f32, "[1]", "[4,0]"), 4),
     "tensor \"a\": expected data_offsets within [0, 4], got [4, 0]"},
    {"a size that differs", fileOf(tensor(f32, "[2]", "[0,4]"), 4),
     "tensor \"a\": expected 8 bytes (shape [2] of F32), got 4"},
    {"a hole",
     fileOf("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
            "\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]}}",
            3),
     "tensor \"b\": expected data to begin at 1 (regions must leave no hole), "
     "got 2"},
    {"an overlap",
     fileOf("{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
            "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}",
            3),
     "tensor \"b\": expected data to begin at 2 (regions must not overlap), "
     "got 1"},
    {"data that nobody owns", fileOf(tensor(f32, "[1]", "[0,4]"), 5),
     "expected 4 bytes of data (the end of the last tensor), got 5"},
    {"metadata of numbers", fileOf("{\"__metadata__\":{\"a\":1}}", 0),
     "header: __metadata__: \"a\": expected a string, got 1"},
    {"metadata twice", fileOf("{\"__metadata__\":{},\"__metadata__\":{}}", 0),
     "header: expected distinct tensors, got \"__metadata__\" twice"},
    {"text after the header", fileOf("{}x", 0),
     "header: expected JSON, got a syntax error at byte 3 of it"},
    {"a null character in a name", fileOf("{\"a\\u0000\":{}}", 0),
     "header: expected names without null characters, got \"a\\x00\""},
    {"control characters in a name",
     fileOf("{\"a\\u001b[2J\":{\"dtype\":\"U8\"}}", 0),
     "header: tensor \"a\\x1b[2J\": expected shape, got none"},
};

TEST(Safetensors, RefusesMalformedFiles) {
  Folder folder;
  std::string path = folder / "bad.safetensors";
  for (const Malformed &bad : malformed) {
    writeBytes(path, bad.bytes);
    auto file = TensorFile::open(path);
    EXPECT_EQ(messageOf(file), path + ": " + bad.message) << bad.what;
    EXPECT_TRUE(file || file.error().code == Code::InvalidArgument) << bad.what;
  }
}

TEST(Safetensors, RefusesAHeaderThatEndsBeyondTheFile) {
  Folder folder;
  std::string path = folder / "bad.safetensors";
  std::string header = "{}" + std::string(30, ' ');
  writeBytes(path, littleEndian(header.size()) + header);
  EXPECT_TRUE(TensorFile::open(path));
  for (size_t length = header.size() + 1; length <= header.size() + 9;
       ++length) {
    writeBytes(path, littleEndian(length) + header);
    EXPECT_EQ(messageOf(TensorFile::open(path)),
              concat(path, ": expected a header of at most ", header.size(),
                     " bytes, got ", length));
  }
}

TEST(Safetensors, KeepsSmallTensorsWhenTheFileShrinks) {
  Folder folder;
  std::string path = folder / "x.safetensors";
  auto bytesOf = [](uint8_t value, size_t count) {
    return std::vector<uint8_t>(count, value);
  };
  constexpr int64_t large = 100000;
  writeTensors(path, {{"b", DType::U8, {3}, bytesOf(1, 3)},
                      {"a", DType::U8, {5}, bytesOf(2, 5)},
                      {"large", DType::U8, {large}, bytesOf(3, large)},
                      {"none", DType::U8, {0}, {}},
                      {"c", DType::U8, {4}, bytesOf(4, 4)}});
  auto file = TensorFile::open(path);
  ASSERT_TRUE(file) << messageOf(file);
  const Tensor *last = (*file)->find("large");
  EXPECT_TRUE(last->isMapped);
  EXPECT_EQ(last->data[0], 3);
  EXPECT_EQ(last->data[large - 1], 3);
  std::filesystem::resize_file(path, 0);
  for (const auto &[name, value, count] :
       {std::tuple("b", 1, 3), {"a", 2, 5}, {"none", 0, 0}, {"c", 4, 4}}) {
    const Tensor *tensor = (*file)->find(name);
    ASSERT_TRUE(tensor);
    EXPECT_FALSE(tensor->isMapped);
    EXPECT_EQ(std::vector<uint8_t>(tensor->data, tensor->data + tensor->bytes),
              bytesOf(static_cast<uint8_t>(value), static_cast<size_t>(count)));
  }
}

TEST(Safetensors, RefusesEveryTruncation) {
  Folder folder;
  std::string path = folder / "cut.safetensors";
  writeTensors(path, FakeWeights().stored());
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  ASSERT_TRUE(TensorFile::open(path));
  std::string cut = folder / "part.safetensors";
  for (size_t size = 0; size < bytes.size(); size += 7) {
    writeBytes(cut, bytes.substr(0, size));
    EXPECT_FALSE(TensorFile::open(cut)) << size;
  }
}

TEST(Safetensors, SurvivesDamagedHeaders) {
  Folder folder;
  std::string path = folder / "damaged.safetensors";
  writeTensors(path, FakeWeights().stored());
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  in.close();
  for (size_t i = 0; i < 600; ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    writeBytes(path, damaged);
    auto file = TensorFile::open(path);
    for (size_t t = 0; file && t < (*file)->tensors().size(); ++t) {
      const Tensor &tensor = (*file)->tensors()[t];
      // Every claimed byte must be readable.
      volatile uint8_t last = tensor.bytes ? tensor.data[tensor.bytes - 1] : 0;
      (void)last;
    }
  }
}

TEST(Safetensors, RefusesWhatIsNoFile) {
  Folder folder;
  EXPECT_EQ(messageOf(TensorFile::open(folder / "none")),
            (folder / "none") +
                ": cannot be opened: No such file or directory");
  EXPECT_EQ(messageOf(TensorFile::open(folder.path.string())),
            folder.path.string() + ": expected a regular file");
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(messageOf(TensorFile::open(folder / "pipe")),
            (folder / "pipe") + ": expected a regular file");
}

TEST(Safetensors, ReadsWhatItWrote) {
  Folder folder;
  std::string path = folder / "x.safetensors";
  std::vector<uint8_t> bytes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  writeTensors(path, {{"scalar", DType::F32, {}, {0, 0, 128, 63}},
                      {"empty", DType::I64, {0, 5}, {}},
                      {"a \"b\" \n", DType::BF16, {2, 3}, bytes}});
  auto file = TensorFile::open(path);
  ASSERT_TRUE(file) << messageOf(file);
  ASSERT_EQ((*file)->tensors().size(), 3U);
  const Tensor *tensor = (*file)->find("a \"b\" \n");
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::vector<uint8_t>(tensor->data, tensor->data + 12), bytes);
  EXPECT_EQ((*file)->find("empty")->elements(), 0);
  float value = 0;
  convertToF32(*(*file)->find("scalar"), 0, 1, &value);
  EXPECT_EQ(value, 1.0F);
}

TEST(Safetensors, ReadsMetadataAndAllDTypes) {
  Folder folder;
  std::string path = folder / "x.safetensors";
  writeBytes(path, fileOf("{\"__metadata__\":{\"format\":\"pt\"},\"a\":{"
                          "\"dtype\":\"F4\",\"shape\":[4],\"data_offsets\":[0,"
                          "2]}}   ",
                          2));
  auto file = TensorFile::open(path);
  ASSERT_TRUE(file) << messageOf(file);
  EXPECT_EQ((*file)->metadata().at("format"), "pt");
  for (int i = 0; i <= static_cast<int>(DType::U64); ++i) {
    DType dtype = static_cast<DType>(i);
    EXPECT_EQ(parseDType(dtypeName(dtype)), dtype);
  }
}

TEST(Safetensors, WritesWholeFilesOrNone) {
  Folder folder;
  std::vector<uint8_t> byte = {7};
  auto write = [&](const std::string &path) {
    return writeSafetensors(path, {{"a", DType::U8, {1}, byte.data()}});
  };
  std::string missing = folder / "no/such/folder.safetensors";
  EXPECT_EQ(messageOf(write(missing)),
            missing + ": cannot be written: No such file or directory");
  EXPECT_EQ(messageOf(write(folder.path.string())),
            folder.path.string() + ": expected a regular file or none");
  EXPECT_TRUE(write("/dev/null").error().code == Code::InvalidArgument);
  writeBytes(folder / "old.safetensors", "old");
  std::filesystem::create_symlink(folder / "old.safetensors", folder / "link");
  EXPECT_TRUE(write(folder / "link"));
  EXPECT_TRUE(TensorFile::open(folder / "old.safetensors"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  size_t files = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder.path)) {
    files += entry.path().filename() != "" ? 1 : 0;
  }
  EXPECT_EQ(files, 2U) << "something was left behind";
}

TEST(Safetensors, ConvertsHalves) {
  struct Case {
    DType dtype;
    uint16_t bits;
    float value;
  };
  for (const Case &c :
       {Case{DType::F16, 0x3c00, 1.0F}, Case{DType::F16, 0xc000, -2.0F},
        Case{DType::F16, 0x0001, 5.9604644775390625e-08F},
        Case{DType::F16, 0x7bff, 65504.0F}, Case{DType::F16, 0x7c00, INFINITY},
        Case{DType::F16, 0x0000, 0.0F}, Case{DType::BF16, 0x3f80, 1.0F},
        Case{DType::BF16, 0xc000, -2.0F}}) {
    uint8_t bytes[2] = {static_cast<uint8_t>(c.bits),
                        static_cast<uint8_t>(c.bits >> 8)};
    Tensor tensor;
    tensor.dtype = c.dtype;
    tensor.shape = {1};
    tensor.data = bytes;
    float value = -1;
    convertToF32(tensor, 0, 1, &value);
    EXPECT_EQ(value, c.value) << c.bits;
  }
}

} // namespace
} // namespace tfc::rt::test
