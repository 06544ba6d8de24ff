# Builds the runtime for aarch64 Linux on another machine, with Debian's cross
# compiler; what it builds is run by qemu's user mode (qemu-user).
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set(TFC_CROSS_MACHINE aarch64)
set(TFC_CROSS_CPU max)
include(${CMAKE_CURRENT_LIST_DIR}/cross-linux-gnu.cmake)
