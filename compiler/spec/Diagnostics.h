// What is wrong with a user's file, and where. Shared by the readers of specs
// and of Hugging Face directories.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_SPEC_DIAGNOSTICS_H
#define TFC_COMPILER_SPEC_DIAGNOSTICS_H

#include <string>
#include <string_view>
#include <vector>

namespace tfc::spec {

enum class Severity { Error, Warning };

/// One fault. Lines and columns count from 1 (columns in characters, not
/// bytes); 0 means that the fault has no place in the file. `code` is the
/// number in [TFC011]; 0 means none.
struct Diagnostic {
  Severity severity = Severity::Error;
  std::string file;
  int line = 0, column = 0;
  std::string pointer;
  std::string message;
  int code = 0;
};
using Diagnostics = std::vector<Diagnostic>;

/// "file:line:col: /pointer: message [TFC011]"; a warning has "warning: "
/// before the message. Parts that are missing are left out with their colon.
std::string formatDiagnostic(const Diagnostic &diagnostic);

/// True when one of them is an error, not only a warning.
bool hasError(const Diagnostics &diagnostics);

/// Orders by file, then place, and drops repetitions.
void sortDiagnostics(Diagnostics &diagnostics);

/// The word of `words` nearest to `word`, when it is near enough to be what was
/// meant; else "".
std::string nearestWord(std::string_view word,
                        const std::vector<std::string> &words);

/// `text` in double quotes, for a message: as quoteText has it, cut after 60
/// bytes.
std::string inQuotes(std::string_view text);

/// What there is, for a message: "a, b, c", each name as inQuotes has it but
/// without quotes, "and 5 more" after twenty; "none" when there is none.
std::string listNames(const std::vector<std::string> &names);

} // namespace tfc::spec

#endif // TFC_COMPILER_SPEC_DIAGNOSTICS_H
