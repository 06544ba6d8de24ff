// What both files of the C API share: errors, and the border that no exception
// crosses.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_CAPIGUARD_H
#define TFC_RUNTIME_SRC_CAPIGUARD_H

#include "runtime/src/Error.h"
#include "runtime/src/Workers.h"
#include "tfc/runtime.h"

#include <new>
#include <stdexcept>

struct tfc_error {
  tfc::rt::Error error;
};

namespace tfc::rt {

/// The error when there is no memory for one.
inline tfc_error *outOfMemory() {
  static tfc_error error{{Code::Exhausted, "out of memory"}};
  return &error;
}

inline tfc_error *newError(Error error) {
  try {
    return new tfc_error{std::move(error)};
  } catch (...) {
    return outOfMemory();
  }
}

/// Calls `function`, which returns a Status, and turns whatever comes out of
/// it into a C error.
template <typename F> tfc_error *guard(F function) {
  try {
    Status status = function();
    return status ? nullptr : newError(std::move(status.error()));
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  } catch (const std::length_error &) {
    return outOfMemory();
  } catch (const std::exception &fault) {
    try {
      bool isCallers = dynamic_cast<const LoopFault *>(&fault) != nullptr;
      return newError(
          {isCallers ? Code::InvalidArgument : Code::Internal, fault.what()});
    } catch (...) {
      return outOfMemory();
    }
  } catch (...) {
    return outOfMemory();
  }
}

inline Status nullArgument() {
  return makeError(Code::InvalidArgument, "expected arguments, got null");
}

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_CAPIGUARD_H
