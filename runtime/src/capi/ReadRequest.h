// A request of the C API as the session has it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_CAPI_READREQUEST_H
#define TFC_RUNTIME_SRC_CAPI_READREQUEST_H

#include "runtime/src/session/Session.h"

namespace tfc::rt {

/// What a request asks for beside the tokens, without its decoding. Errors:
/// InvalidArgument.
Result<RequestOptions> readExtras(const tfc_request &given);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_CAPI_READREQUEST_H
