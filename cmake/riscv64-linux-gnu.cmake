# Builds the runtime for riscv64 Linux on another machine, with Debian's cross
# compiler; what it builds is run by qemu's user mode (qemu-user).
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_C_COMPILER riscv64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER riscv64-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH /usr/riscv64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
# nlohmann_json is headers alone, and those of the builder.
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
# ctest runs programs with it, as for aarch64.
set(CMAKE_CROSSCOMPILING_EMULATOR
    prlimit --as=6442450944 qemu-riscv64 -L /usr/riscv64-linux-gnu
    -cpu rv64,v=true,vext_spec=v1.0,vlen=512)
