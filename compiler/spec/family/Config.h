// Reads a Hugging Face config.json key by key and remembers what was read, so
// that no key of the file is silently without effect.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_FAMILY_CONFIG_H
#define TFC_COMPILER_SPEC_FAMILY_CONFIG_H

#include "compiler/spec/JsonTree.h"

#include <set>

namespace tfc::family {

/// Typed reads with the defaults of the model's class. A value of a wrong type
/// or outside its range is an error at its place in the file, and the default
/// is returned. Keys with the value null are missing ones.
class Config {
public:
  /// `object` must be an object; it and `diagnostics` outlive the reader.
  Config(const spec::Json &object, spec::Diagnostics &diagnostics)
      : object(object), diagnostics(diagnostics) {}

  /// Keys are from now on those of the object at `key`, which is opened
  /// ("decoder.hidden_size"); "" is the file itself. What it was before.
  std::string enter(std::string key);

  int64_t integer(std::string_view key, int64_t byDefault, int64_t least,
                  int64_t most);
  /// The same under either of two names; both are legal if they agree.
  int64_t integer(std::string_view key, std::string_view otherKey,
                  int64_t byDefault, int64_t least, int64_t most);
  /// A finite number from `least` to `most`.
  double number(std::string_view key, double byDefault, double least,
                double most);
  /// An epsilon of a norm: above 0, at most 0.01.
  double epsilon(std::string_view key, double byDefault);
  bool boolean(std::string_view key, bool byDefault);
  std::string string(std::string_view key, std::string_view byDefault);
  /// The value itself, or null when it is missing or null; the key counts as
  /// read.
  const spec::Json *value(std::string_view key);

  /// True when the file says null, which is not the same as a missing key for
  /// a key whose default is not null. The key counts as read.
  bool isNull(std::string_view key);

  /// Keys that change no number of an inference, whatever their values.
  void ignore(const std::vector<std::string_view> &keys);
  /// An error when `key` is true: `why` says what tfc would have to do.
  void refuseTrue(std::string_view key, std::string_view why);
  /// An error when `key` is there and not `wanted`; null counts as false, as it
  /// does for transformers.
  void expectBoolean(std::string_view key, bool wanted, std::string_view why);
  /// An error when `key` is there, whatever its value, null included.
  void refuseKey(std::string_view key, std::string_view why);
  /// An error when `key` has any content (not null, false, empty).
  void refuseContent(std::string_view key, std::string_view why);
  /// One warning with all the keys that were never read; an error if `strict`.
  void reportUnread(bool strict);

  /// Where the value of `key` is, or would be.
  spec::Place placeOf(std::string_view key) const;
  /// An error at the value of `key`, or at the file when it is missing.
  void fault(std::string_view key, const std::string &message);
  /// An error at a value within one.
  void faultAt(const spec::Json &value, const std::string &message);
  /// How many faults there are so far: where reading adds none, what was read
  /// is in the file.
  size_t faults() const { return diagnostics.size(); }

private:
  /// As the file has it, and from now on read.
  std::string use(std::string_view key);
  std::string nameOf(std::string_view key) const;

  const spec::Json &object;
  spec::Diagnostics &diagnostics;
  std::set<std::string, std::less<>> read;
  std::string inside;
};

/// The number of labels of a classifier, as transformers counts them: id2label,
/// else num_labels, else 2 or what the class has.
int64_t readLabels(Config &config, int64_t byDefault = 2);

/// The spec's word for an activation of transformers; "" when tfc has none.
std::string_view findActivation(std::string_view name);
/// "gelu, relu, ...": all that findActivation knows.
std::string knownActivations();

/// An error for each of the layers' types, if they are given, that is not
/// `type`.
void expectLayerTypes(Config &config, std::string_view type,
                      std::string_view key = "layer_types",
                      const std::string &why = "");

/// Whether readCommonKeys ignores it in every model type.
bool isOfAll(std::string_view key);

/// What is assumed of a table's family where the table itself decides nothing:
/// of its kind ("encoder", "decoder", "encoder_decoder"), what it sees; and the
/// keys that all model types share, whose values that change numbers in a way
/// tfc does not know are errors. `decided` has the keys that the table decides
/// about.
void readCommonKeys(Config &config, std::string_view kind,
                    const std::set<std::string> &decided);

} // namespace tfc::family

#endif // TFC_COMPILER_SPEC_FAMILY_CONFIG_H
