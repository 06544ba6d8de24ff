// tfc: compiles transformer models to shared libraries.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/CommandLine.h"

int main(int argc, char **argv) { return tfc::runTfc(argc, argv); }
