#!/usr/bin/env bash
# Prints what a completion script for bash offers for the last of some words, of
# which the first is the program.
#   complete.sh SCRIPT PROGRAM WORD...
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
"_${1//-/_}" 2>/dev/null
printf '%s\n' "${COMPREPLY[@]}"
