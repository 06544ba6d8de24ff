# Builds the runtime for riscv64 Linux on another machine, with Debian's cross
# compiler; what it builds is run by qemu's user mode (qemu-user).
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set(TFC_CROSS_MACHINE riscv64)
set(TFC_CROSS_CPU rv64,v=true,vext_spec=v1.0,vlen=512)
include(${CMAKE_CURRENT_LIST_DIR}/cross-linux-gnu.cmake)
