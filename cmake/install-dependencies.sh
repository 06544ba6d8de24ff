#!/usr/bin/env bash
# Installs what tfc is built and tested with, from Debian's packages. Does
# nothing when all of it is there; needs root (or sudo) otherwise.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -euo pipefail

packages=(
  # the compiler's own: MLIR, LLVM, lld, lit and FileCheck
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools lld-22 liblld-22-dev
  # the C and C++ compiler, its sanitizers, and a C++ library
  clang-22 libclang-rt-22-dev g++
  clang-format-22
  cmake ninja-build ccache
  nlohmann-json3-dev libgtest-dev
  python3 python3-venv python3-pip
  # what LLVM's CMake files look for
  zlib1g-dev libzstd-dev
)

# Tests that skip without these are not skipped in CI: libraries for Arm and
# RISC-V.
if [ -n "${CI:-}" ]; then
  packages+=(qemu-user g++-aarch64-linux-gnu g++-riscv64-linux-gnu)
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  if [ "$state" != installed ]; then
    missing+=("$package")
  fi
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi

echo "installing: ${missing[*]}"
sudo=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "expected root or sudo to install the packages above" >&2
    exit 1
  fi
  sudo=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${sudo[@]}" apt-get update -q
"${sudo[@]}" apt-get install -yq --no-install-recommends "${missing[@]}"
