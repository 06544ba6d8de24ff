// The error type of the runtime and Result, a value or an error; what several
// faults and strange names look like in a message.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_ERROR_H
#define TFC_RUNTIME_SRC_ERROR_H

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tfc::rt {

/// The values are those of tfc_code in tfc/runtime.h.
enum class Code {
  InvalidArgument = 1, // the caller's values are wrong
  NotFound = 2,        // a file, tensor or symbol is missing
  Incompatible = 3,    // another version, machine or model than needed
  Exhausted = 4,       // memory, blocks or address space ran out
  Unsupported = 5,     // valid, but this model or build cannot do it
  Internal = 6,        // a fault of tfc
  Io = 7,              // the system cannot read or write a file
  Cancelled = 8        // the caller wanted no more
};

/// One or more faults. `message` has one line a fault, no final newline; all
/// faults of one error have the same code.
struct Error {
  Code code = Code::Internal;
  std::string message;
};

/// The parts, printed one after the other.
template <typename... Ts> std::string concat(const Ts &...parts) {
  std::ostringstream out;
  // Without memory a stream cuts its text in silence; so it throws.
  out.exceptions(std::ios::badbit);
  (out << ... << parts);
  return out.str();
}

template <typename... Ts> Error makeError(Code code, const Ts &...parts) {
  return Error{code, concat(parts...)};
}

/// A value, or why there is none.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() { return std::get<0>(state); }
  const T &operator*() const { return std::get<0>(state); }
  T *operator->() { return &std::get<0>(state); }
  const T *operator->() const { return &std::get<0>(state); }
  Error &error() { return std::get<1>(state); }
  const Error &error() const { return std::get<1>(state); }

private:
  std::variant<T, Error> state;
};

/// Success, or why not.
template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : fault(std::move(error)) {}

  explicit operator bool() const { return !fault; }
  Error &error() { return *fault; }
  const Error &error() const { return *fault; }

private:
  std::optional<Error> fault;
};

using Status = Result<void>;

/// Collects faults, so that a user sees all of them at once, or the first
/// screenful and how many more there are. The error has the code of the first.
class Faults {
public:
  /// More lines than these are counted, not kept.
  static constexpr size_t maxLines = 50;

  void add(Error error);
  void add(Status status) {
    if (!status) {
      add(std::move(status.error()));
    }
  }
  bool any() const { return first.has_value(); }
  Status take();

private:
  std::optional<Error> first;
  size_t numLines = 0;
};

/// A name from a file for a message: as quoteText has it, cut when absurdly
/// long.
std::string quoteName(std::string_view name);

/// "[2, 3]".
std::string shapeText(const std::vector<int64_t> &shape);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_ERROR_H
