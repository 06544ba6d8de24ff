// A model's tensors, some of which were changed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_QUANTIZE_CHECKPOINT_H
#define TFC_COMPILER_QUANTIZE_CHECKPOINT_H

#include "runtime/src/files/Safetensors.h"
#include "llvm/ADT/StringMap.h"

namespace tfc::quantize {

class Checkpoint {
public:
  explicit Checkpoint(const rt::TensorFiles &files) : files(files) {}

  /// Every element of the tensors that are floats is a number. Errors name the
  /// tensor and the first element that is none.
  rt::Status checkNumbers() const;

  const rt::Tensor &tensor(llvm::StringRef name) const {
    return *files.find({name.data(), name.size()});
  }
  const std::vector<const rt::Tensor *> &tensors() const {
    return files.tensors();
  }
  /// Its elements as f32.
  std::vector<float> read(llvm::StringRef name) const;
  void change(llvm::StringRef name, std::vector<float> elements) {
    changed[name] = std::move(elements);
  }
  bool isChanged(llvm::StringRef name) const { return changed.count(name); }

private:
  const rt::TensorFiles &files;
  llvm::StringMap<std::vector<float>> changed;
};

/// `value` rounded to the nearest (even) of a type of 16 bits: its bits, and as
/// f32. `dtype` is F16 or BF16.
uint16_t roundTo16(float value, rt::DType dtype);
float widen16(uint16_t bits, rt::DType dtype);

} // namespace tfc::quantize

#endif // TFC_COMPILER_QUANTIZE_CHECKPOINT_H
