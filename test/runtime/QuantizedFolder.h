// A folder with the tensors of quantised matrices and a config.json, for the
// tests of their readers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_RUNTIME_QUANTIZEDFOLDER_H
#define TFC_TEST_RUNTIME_QUANTIZEDFOLDER_H

#include "test/runtime/FakeModel.h"

#include <cstring>
#include <fstream>

namespace tfc::rt::test {

/// A tensor of elements of T.
template <typename T>
NamedTensor elements(std::string name, DType dtype, std::vector<int64_t> shape,
                     const std::vector<T> &values) {
  // Without elements there is no place to copy from.
  auto *bytes = reinterpret_cast<const uint8_t *>(values.data());
  std::vector<uint8_t> data(bytes, bytes + values.size() * sizeof(T));
  return {std::move(name), dtype, std::move(shape), std::move(data)};
}

inline NamedTensor words(const std::string &name, std::vector<int64_t> shape,
                         const std::vector<uint32_t> &values) {
  return elements(name, DType::I32, std::move(shape), values);
}
inline NamedTensor floats(const std::string &name, std::vector<int64_t> shape,
                          const std::vector<float> &values) {
  return elements(name, DType::F32, std::move(shape), values);
}
inline NamedTensor longs(const std::string &name,
                         const std::vector<int64_t> &values) {
  return elements(name, DType::I64, {static_cast<int64_t>(values.size())},
                  values);
}
inline NamedTensor bytes(const std::string &name, DType dtype,
                         std::vector<int64_t> shape,
                         const std::vector<uint8_t> &values) {
  return elements(name, dtype, std::move(shape), values);
}

/// Written anew with each change. In messages its path is DIR.
class QuantizedFolder {
public:
  QuantizedFolder(std::vector<NamedTensor> tensors, std::string config)
      : tensors(std::move(tensors)), config(std::move(config)) {
    write();
  }

  void add(NamedTensor tensor) {
    tensors.push_back(std::move(tensor));
    write();
  }
  /// Replaces the tensor of this name, or removes it.
  void change(const std::string &name, std::optional<NamedTensor> by) {
    std::vector<NamedTensor> kept;
    for (NamedTensor &tensor : tensors) {
      if (tensor.name != name) {
        kept.push_back(std::move(tensor));
      } else if (by) {
        kept.push_back(*by);
      }
    }
    tensors = std::move(kept);
    write();
  }

  /// Fails the test where there is none.
  const Tensor &find(const std::string &name) {
    static const Tensor none;
    const Tensor *tensor = files ? (*files)->find(name) : nullptr;
    EXPECT_TRUE(tensor) << name << ": " << error();
    return tensor ? *tensor : none;
  }
  std::vector<float> values(const std::string &name) {
    const Tensor &tensor = find(name);
    if (tensor.name.empty()) {
      return {};
    }
    std::vector<float> all(static_cast<size_t>(tensor.elements()));
    convertToF32(tensor, 0, tensor.elements(), all.data());
    return all;
  }
  std::string formats() const {
    std::string text;
    for (const std::string &line : (*files)->formats()) {
      text += (text.empty() ? "" : "\n") + line;
    }
    return text;
  }
  std::string error() const {
    std::string message = messageOf(*files), path = folder->path.string();
    for (size_t at; (at = message.find(path)) != message.npos;) {
      message.replace(at, path.size(), "DIR");
    }
    return message;
  }
  const std::string path() const { return folder->path.string(); }

private:
  std::shared_ptr<Folder> folder = std::make_shared<Folder>();
  std::vector<NamedTensor> tensors;
  std::string config;
  std::optional<Result<TensorFiles>> files;

  void write() {
    files.reset();
    writeTensors(*folder / "model.safetensors", tensors);
    if (!config.empty()) {
      std::ofstream(*folder / "config.json") << config;
    }
    files = TensorFiles::open(folder->path.string());
  }
};

} // namespace tfc::rt::test

#endif // TFC_TEST_RUNTIME_QUANTIZEDFOLDER_H
