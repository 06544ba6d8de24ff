// A module by hand gets the attribute that tfc compile gives, or another one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-set-target | FileCheck %s
// RUN: tfc-opt %s '--tfc-set-target=target=cpu:znver4 opt=full' | FileCheck %s --check-prefix=ZEN
// RUN: tfc-opt %s '--tfc-set-target=target=cpu:znver4 opt=full' --tfc-set-target | FileCheck %s

// RUN: tfc-opt %s '--tfc-set-target=weights=bf16 rounds=true' | tfc-opt | FileCheck %s --check-prefix=NARROW

// NARROW: module attributes {transformer.target = #transformer.target<"x86-64-v3", opt = none, weights = bf16, rounds = true>} {
// RUN: tfc-opt %s '--tfc-set-target=target=cuda opt=full deterministic=true' | FileCheck %s --check-prefix=ORDER
// ORDER: module attributes {transformer.target = #transformer.target<"sm_80", opt = full, cpu = "sm_90,sm_100,sm_120", deterministic = true>} {
// CHECK: module attributes {transformer.target = #transformer.target<"x86-64-v3", opt = none>} {
// ZEN: module attributes {transformer.target = #transformer.target<"x86-64-v4", opt = full, cpu = "znver4">} {
// RUN: tfc-opt %s '--tfc-set-target=target=cpu:neoverse-v1 opt=full' | FileCheck %s --check-prefix=ARM
// ARM: module attributes {transformer.target = #transformer.target<"armv8-a", opt = full, cpu = "neoverse-v1">} {
module {
}
