// lld as a part of tfc: a program that is to compile on machines without LLVM.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_TOOLS_LINKER_H
#define TFC_COMPILER_TOOLS_LINKER_H

namespace tfc {

/// Whether the program was called as a linker, which this does under the name
/// ld.lld.
bool isCalledAsLinker(int argc, char **argv);

/// lld's main for ELF: its exit status.
int runAsLinker(int argc, char **argv);

/// Lets tfc call itself when it links.
void useOwnLinker();

} // namespace tfc

#endif // TFC_COMPILER_TOOLS_LINKER_H
