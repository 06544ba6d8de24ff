// `tfc inspect`: what a model or a library holds.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_INSPECT_H
#define TFC_COMPILER_DRIVER_INSPECT_H

#include <string>

namespace tfc {

/// `tfc inspect FILE`: a page on standard output, and one with pictures at
/// `html`, unless that is empty. A file that begins as an ELF object is a
/// library, anything else a spec, a Hugging Face folder or a GGUF file. Returns
/// an ExitCode. What may be written over, also with `force`: checkTextOutput.
int runInspect(const std::string &path, const std::string &html, bool force);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_INSPECT_H
