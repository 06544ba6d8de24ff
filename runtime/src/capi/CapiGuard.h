// What both files of the C API share: errors, and the border that no exception
// crosses.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_CAPI_CAPIGUARD_H
#define TFC_RUNTIME_SRC_CAPI_CAPIGUARD_H

#include "runtime/src/CallOut.h"
#include "tfc/runtime.h"

#include <pthread.h>

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
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  }
}

inline tfc_error *newError(Code code, const char *message) {
  try {
    return new tfc_error{{code, message}};
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  }
}

/// While it lives, nobody ends the thread from outside: loops have other
/// workers, which nobody would wait for.
class NoCancellation {
public:
  NoCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before); }
  ~NoCancellation() { pthread_setcancelstate(before, nullptr); }
  NoCancellation(const NoCancellation &) = delete;
  NoCancellation &operator=(const NoCancellation &) = delete;

private:
  int before = 0;
};

/// Calls `function`, which returns a Status, and turns whatever comes out of
/// it into a C error; but for the end of the thread, if a callback ends it.
template <typename F> tfc_error *guard(F function) {
  NoCancellation held;
  try {
    Status status = function();
    return status ? nullptr : newError(std::move(status.error()));
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  } catch (const std::length_error &) {
    return outOfMemory();
  } catch (const CallerFault &fault) {
    return newError(Code::InvalidArgument, fault.what());
  } catch (const std::exception &fault) {
    return newError(Code::Internal, fault.what());
  } catch (const abi::__forced_unwind &) {
    throw;
  } catch (...) {
    return newError(Code::Internal,
                    "expected no exception, got one that is no std::exception");
  }
}

inline Status nullArgument() {
  return makeError(Code::InvalidArgument, "expected arguments, got null");
}

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_CAPI_CAPIGUARD_H
