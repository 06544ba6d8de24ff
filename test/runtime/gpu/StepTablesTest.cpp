// The tables of a step in one piece of memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/gpu/StepTables.h"

#include <cstring>
#include <gtest/gtest.h>

namespace tfc::rt {
namespace {

TEST(StepTables, PointsIntoTheDevicesCopy) {
  tfc_entry_v0 entry{};
  entry.n_inputs = 3;
  entry.n_outputs = 3;
  entry.n_caches = 1;
  int32_t ids[] = {5, 6, 7}, positions[] = {0, 1, 2}, blocks[] = {4},
          rows[] = {2};
  tfc_sequence_v0 sequence{};
  sequence.count = 3;
  tfc_item_v0 items[] = {{0, 0, 0, 0}, {0, 2, 0, 0}};
  // Rows of two of the tokens.
  float patches[] = {.5F, 1, 1.5F, 2, 2.5F, 3};
  tfc_port_v0 ports[3] = {};
  ports[2].width = 3;
  ports[2].flags = TFC_PORT_EMBEDS;
  entry.inputs = ports;
  const void *inputs[] = {ids, positions, patches};
  // Numbers that no memory has: they are copied, not followed.
  auto *cache = reinterpret_cast<void *>(0x1000);
  auto *wanted = reinterpret_cast<void *>(0x2000);
  void *outputs[] = {nullptr, wanted, nullptr};
  tfc_step_v0 step{};
  step.struct_size = sizeof(step);
  step.caches = &cache;
  step.block_table = blocks;
  step.n_tokens = 3;
  step.inputs = inputs;
  step.n_sequences = 1;
  step.sequences = &sequence;
  step.n_items = 2;
  step.items = items;
  step.n_rows = 1;
  step.rows = rows;
  step.outputs = outputs;
  tfc_host_v0 host{};
  step.host = &host;
  StepTables tables(entry, step, {1, 2});
  std::vector<uint8_t> staging(tables.bytes()), device(tables.bytes());
  std::vector<const void *> pointers;
  tables.write(step, pointers, staging.data(), device.data());

  // The host's copy: its own arrays of the device's addresses.
  auto isOnDevice = [&](const void *pointer) {
    const auto *at = static_cast<const uint8_t *>(pointer);
    return at >= device.data() && at < device.data() + device.size();
  };
  EXPECT_EQ(step.host, &host);
  EXPECT_EQ(step.caches, &cache);
  EXPECT_EQ(step.outputs, outputs);
  EXPECT_EQ(step.inputs, pointers.data());
  EXPECT_TRUE(isOnDevice(step.inputs[1]));
  EXPECT_TRUE(isOnDevice(step.device_step));

  // The device's copy, read as a kernel does after the one upload.
  std::memcpy(device.data(), staging.data(), staging.size());
  const auto &copy = *static_cast<const tfc_step_v0 *>(step.device_step);
  EXPECT_EQ(copy.host, nullptr);
  EXPECT_EQ(copy.device_step, &copy);
  EXPECT_EQ(copy.n_tokens, 3);
  EXPECT_EQ(copy.caches[0], cache);
  EXPECT_EQ(copy.outputs[0], nullptr);
  EXPECT_EQ(copy.outputs[1], wanted);
  EXPECT_TRUE(isOnDevice(copy.caches) && isOnDevice(copy.outputs) &&
              isOnDevice(copy.inputs));
  EXPECT_EQ(std::memcmp(copy.inputs[0], ids, sizeof ids), 0);
  EXPECT_EQ(std::memcmp(copy.inputs[1], positions, sizeof positions), 0);
  EXPECT_EQ(std::memcmp(copy.inputs[2], patches, sizeof patches), 0);
  EXPECT_EQ(copy.block_table[0], 4);
  EXPECT_EQ(copy.sequences[0].count, 3);
  EXPECT_EQ(copy.items[1].first_row, 2);
  EXPECT_EQ(copy.rows[0], 2);
}

} // namespace
} // namespace tfc::rt
