// Hugging Face directories of a few bytes, for the importer's tests.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_UNIT_HUGGINGFACE_TINYDIRECTORY_H
#define TFC_TEST_UNIT_HUGGINGFACE_TINYDIRECTORY_H

#include "compiler/huggingface/Import.h"
#include "compiler/spec/ModelSpec.h"
#include "runtime/src/files/Safetensors.h"

#include <map>

namespace tfc::test {

/// Tensors to write, by name; the elements are 0, `step`, 2 * step, ...
struct TinyTensor {
  std::vector<int64_t> shape;
  float step = 1;
  rt::DType dtype = rt::DType::F32;
};
using TinyTensors = std::map<std::string, TinyTensor>;

/// One layer, hidden 4, two heads, ffn 3, 7 tokens, 5 positions.
TinyTensors bertTensors(const std::string &prefix = "");
TinyTensors gpt2Tensors(const std::string &prefix = "");
/// Their config.json; `more` is put in front: "\"key\": value,".
std::string bertConfig(const std::string &more = "");
std::string gpt2Config(const std::string &more = "");

/// A directory that is removed at the end.
class TinyDirectory {
public:
  TinyDirectory();
  ~TinyDirectory();
  TinyDirectory(const TinyDirectory &) = delete;
  TinyDirectory &operator=(const TinyDirectory &) = delete;

  const std::string &path() const { return folder; }
  void write(const std::string &file, const std::string &text) const;
  void write(const TinyTensors &tensors,
             const std::string &file = "model.safetensors") const;

  /// What an import gives, and its diagnostics, one a line, with the
  /// directory's path replaced by "DIR".
  struct Outcome {
    std::string spec, summary, messages;
    std::optional<spec::ModelSpec> model;
    bool ok = false;
  };
  Outcome import(bool strict = false) const;

private:
  std::string folder;
};

/// The import of a directory with these files.
TinyDirectory::Outcome importTiny(const std::string &config,
                                  const TinyTensors &tensors,
                                  const std::string &generation = "",
                                  bool strict = false);

} // namespace tfc::test

#endif // TFC_TEST_UNIT_HUGGINGFACE_TINYDIRECTORY_H
