// The characters of a PTX text, without comments, and the line each is on.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_PTXTOKENS_H
#define TFC_TEST_EMULATOR_PTXTOKENS_H

#include <string>

namespace tfc::emulator {

class PtxTokens {
public:
  explicit PtxTokens(const std::string &text);

  /// Whether nothing but blanks is left.
  bool atEnd();
  /// The next character that is no blank, 0 at the end; stays there.
  char peek();
  /// Takes what is next when it is this.
  bool take(const std::string &what);
  /// Takes what must be next. Errors: PtxError.
  void expect(const std::string &what);
  /// A directive, name or number: letters, digits and any of _$.%<>
  std::string word();
  /// All up to one of these characters, which stays.
  std::string until(const std::string &ends);
  int line() const;
  [[noreturn]] void fail(const std::string &message) const;

private:
  std::string text;
  size_t at = 0;
};

/// Without blanks at both ends.
std::string trim(const std::string &text);

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_PTXTOKENS_H
