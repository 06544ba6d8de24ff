// Kinds of sublayers and of a head's steps, each with its function.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_VISIT_H
#define TFC_COMPILER_SPEC_VISIT_H

#include <utility>
#include <variant>

namespace tfc::spec {

/// Calls the one of `functions` that takes what `kind` is, as in
///   visit(sublayer.f, [](const Attention &) {...}, [](const Ffn &) {...}, ...)
/// A kind that none of them takes does not compile, so that a new one is found
/// missing wherever it matters.
template <typename Variant, typename... Functions>
decltype(auto) visit(Variant &&kind, Functions &&...functions) {
  struct All : std::decay_t<Functions>... {
    using std::decay_t<Functions>::operator()...;
  };
  return std::visit(All{std::forward<Functions>(functions)...},
                    std::forward<Variant>(kind));
}

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_VISIT_H
