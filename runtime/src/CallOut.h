// Calls of functions that a caller lends: callbacks must return, and what one
// throws instead is the caller's fault.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_CALLOUT_H
#define TFC_RUNTIME_SRC_CALLOUT_H

#include "runtime/src/CallerFault.h"
#include "runtime/src/Error.h"

#include <cxxabi.h>
#include <exception>
#include <new>

namespace tfc::rt {

/// Calls a function of the caller's. What it throws is a CallerFault that says
/// which function it was, but for a lack of memory; the end of the thread goes
/// on, as it must.
template <typename F> auto callOut(const char *name, F function) {
  auto fault = [&](const char *got) {
    return CallerFault(
        concat(name, ": expected a function that returns, got ", got));
  };
  try {
    return function();
  } catch (const CallerFault &) {
    throw; // of a call within it
  } catch (const std::bad_alloc &) {
    throw;
  } catch (const std::exception &thrown) {
    throw fault(concat("an exception: ", thrown.what()).c_str());
  } catch (const abi::__forced_unwind &) {
    throw;
  } catch (...) {
    throw fault("an exception that is no std::exception");
  }
}

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_CALLOUT_H
