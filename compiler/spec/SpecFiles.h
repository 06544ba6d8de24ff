// What is on disk, before something is written there: the files of a spec, and
// texts that tfc wrote, known again as long as nobody has edited them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_SPECFILES_H
#define TFC_COMPILER_SPEC_SPECFILES_H

#include "compiler/spec/JsonTree.h"

#include <string_view>

namespace tfc::spec {

/// Gives an object a member "meta" with a hash of its other members.
void seal(Json &spec);

/// Whether `text` is a spec with the hash that seal() gave it, a spec in its
/// own canonical form, or the schema of specs: nothing that a person wrote.
/// False for text that cannot be read.
bool isOwnText(std::string_view text);

/// `path`, and the files that the spec there extends: what must not be written
/// over while it is compiled. As far as they can be read.
std::vector<std::string> listFiles(const std::string &path);

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_SPECFILES_H
