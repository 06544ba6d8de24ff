# What toolchains of other machines' Linux have in common: Debian's cross compiler
# for TFC_CROSS_MACHINE, which they set.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${TFC_CROSS_MACHINE})
set(CMAKE_C_COMPILER ${TFC_CROSS_MACHINE}-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER ${TFC_CROSS_MACHINE}-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH /usr/${TFC_CROSS_MACHINE}-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
# nlohmann_json is headers alone, and those of the builder.
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
# ctest runs programs with it. qemu 7.2 keeps 24 bytes for every page of 4 KB
# that a program ever reserved, and a cache reserves half of the machine's
# memory: with fewer addresses it reserves less.
set(CMAKE_CROSSCOMPILING_EMULATOR
    prlimit --as=6442450944 qemu-${TFC_CROSS_MACHINE}
    -L /usr/${TFC_CROSS_MACHINE}-linux-gnu -cpu ${TFC_CROSS_CPU})
