// Writes GGUF files for tests, good ones and bad ones.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_RUNTIME_GGUFWRITER_H
#define TFC_TEST_RUNTIME_GGUFWRITER_H

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace tfc::rt::test {

/// The bytes of a number.
template <typename T> std::string bytesOf(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

class GgufWriter {
public:
  uint32_t version = 3;

  static std::string text(const std::string &value) {
    return bytesOf(uint64_t(value.size())) + value;
  }
  /// A value of a kind, as the file numbers them.
  void add(const std::string &key, uint32_t kind, const std::string &bytes) {
    values += text(key) + bytesOf(kind) + bytes;
    ++numValues;
  }
  void add(const std::string &key, uint32_t value) {
    add(key, 4, bytesOf(value));
  }
  void add(const std::string &key, float value) { add(key, 6, bytesOf(value)); }
  void add(const std::string &key, const std::string &value) {
    add(key, 8, text(value));
  }
  void add(const std::string &key, const std::vector<std::string> &list) {
    std::string bytes = bytesOf(uint32_t(8)) + bytesOf(uint64_t(list.size()));
    for (const std::string &one : list) {
      bytes += text(one);
    }
    add(key, 9, bytes);
  }
  template <typename T>
  void add(const std::string &key, uint32_t kind, const std::vector<T> &list) {
    std::string bytes = bytesOf(kind) + bytesOf(uint64_t(list.size()));
    for (T one : list) {
      bytes += bytesOf(one);
    }
    add(key, 9, bytes);
  }

  /// `axes`: rows first.
  void tensor(const std::string &name, std::vector<uint64_t> axes,
              uint32_t type, std::string bytes) {
    infos += text(name) + bytesOf(uint32_t(axes.size()));
    for (size_t i = axes.size(); i-- > 0;) {
      infos += bytesOf(axes[i]);
    }
    infos += bytesOf(type) + bytesOf(uint64_t(data.size()));
    bytes.resize((bytes.size() + 31) / 32 * 32);
    data += bytes;
    ++numTensors;
  }
  void floats(const std::string &name, std::vector<uint64_t> axes,
              const std::vector<float> &values) {
    std::string bytes(values.size() * 4, '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    tensor(name, std::move(axes), 0, bytes);
  }

  std::string finish() const {
    std::string file = "GGUF" + bytesOf(version) + bytesOf(numTensors) +
                       bytesOf(numValues) + values + infos;
    file.resize((file.size() + 31) / 32 * 32);
    return file + data;
  }

  uint64_t numTensors = 0, numValues = 0;

private:
  std::string values, infos, data;
};

} // namespace tfc::rt::test

#endif // TFC_TEST_RUNTIME_GGUFWRITER_H
