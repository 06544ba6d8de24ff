// What is thrown where a function that a caller lends does not do what it must.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_CALLERFAULT_H
#define TFC_RUNTIME_SRC_CALLERFAULT_H

#include <stdexcept>

namespace tfc::rt {

/// What a caller lends does not do what it must.
class CallerFault : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_CALLERFAULT_H
