// Goes down a spec along the words of a path.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/LocatePath.h"

#include <algorithm>

namespace tfc::spec {

namespace {

class Walk {
public:
  explicit Walk(const Json &spec) : at(&spec) {}

  /// False where nothing is called so.
  bool go(std::string_view word) {
    if (isOfLayers && !word.empty() && word[0] >= '0' && word[0] <= '9') {
      // "4-7", "1-23:2": which of several runs of layers.
      layer = numberOf(word);
      return true;
    }
    const Json *next = isOfLayers ? findInLayers(word) : findIn(*at, word);
    if (!next && block && isNorm(word)) {
      next = block->find("norm");
    }
    if (!next) {
      return false;
    }
    isOfLayers = !block && word == "layers";
    at = next;
    return true;
  }

  const Json *value() const { return at; }

private:
  static size_t numberOf(std::string_view word) {
    size_t number = 0;
    for (size_t i = 0; i < word.size() && i < 6; ++i) {
      if (word[i] < '0' || word[i] > '9') {
        break;
      }
      number = 10 * number + static_cast<size_t>(word[i] - '0');
    }
    return number;
  }

  static bool isNorm(std::string_view word) {
    return word.size() >= 4 && word.substr(word.size() - 4) == "norm";
  }

  /// The member, or the item of a list of its that is called so.
  static const Json *findIn(const Json &object, std::string_view word) {
    if (const Json *member = object.find(word)) {
      return member;
    }
    for (const char *list : {"sublayers", "steps", "segments"}) {
      const Json *items = object.find(list);
      for (const Json &item : items ? items->items : none) {
        const Json *name = item.find("name");
        if (name && name->isString(word)) {
          return &item;
        }
      }
    }
    return nullptr;
  }

  /// One run of layers or a list of them, with one block or those of a period.
  const Json *findInLayers(std::string_view word) {
    const Json *run = at;
    size_t first = 0;
    for (const Json &each : at->items) {
      const Json *repeat = each.find("repeat");
      size_t count = repeat && repeat->isInteger() && repeat->integer > 0
                         ? static_cast<size_t>(repeat->integer)
                         : 1;
      const Json *blocks = each.find("block");
      count *= blocks && blocks->isArray() ? blocks->items.size() : 1;
      run = &each;
      if (layer < first + count) {
        break;
      }
      first += count;
    }
    const Json *found = run->find("block");
    if (found && found->isArray() && !found->items.empty()) {
      found =
          &found->items[(layer - std::min(first, layer)) % found->items.size()];
    }
    block = found;
    return found ? findIn(*found, word) : findIn(*run, word);
  }

  static const std::vector<Json> none;

  const Json *at;
  const Json *block = nullptr;
  bool isOfLayers = false;
  size_t layer = 0;
};

const std::vector<Json> Walk::none;

} // namespace

const Json *locatePath(const Json &spec, std::string_view path) {
  Walk walk(spec);
  bool isFound = false;
  while (!path.empty()) {
    size_t dot = std::min(path.find('.'), path.size());
    if (!walk.go(path.substr(0, dot))) {
      break;
    }
    isFound = true;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return isFound ? walk.value() : nullptr;
}

} // namespace tfc::spec
