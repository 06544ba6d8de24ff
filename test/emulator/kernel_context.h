/* What a translated kernel and the emulator that runs it know of each other:
 * the block, its memory, and how an access is checked. C, for both sides.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef TFC_TEST_EMULATOR_KERNEL_CONTEXT_H
#define TFC_TEST_EMULATOR_KERNEL_CONTEXT_H

#include <stdint.h>

/* Where shared and local memory lie among generic addresses: below the
 * device's own, in its reserved range, so nothing else is there. Offsets from
 * the range's base. */
#define EMU_SHARED_WINDOW 0x1000000ull
#define EMU_LOCAL_WINDOW 0x2000000ull
#define EMU_WINDOW_BYTES 0x1000000ull

enum { EMU_RECENT = 64 };

typedef struct emu_block emu_block;

/* What a lane shows the others of its warp at most. */
enum { EMU_LANE_WORDS = 8 };
typedef struct {
  uint32_t words[EMU_LANE_WORDS];
} emu_lane;

/* A thread of the block. */
typedef struct {
  uint32_t tid[3];
  uint32_t number;      /* in the block */
  unsigned char *local; /* its local memory, of the kernel's own size */
  uint64_t local_bytes;
} emu_thread;

/* A stretch of device addresses that kernels may use, and where it really
 * lies. */
typedef struct {
  uint64_t begin, end;
  unsigned char *memory;
} emu_range;

struct emu_block {
  uint32_t ntid[3], ctaid[3], nctaid[3];
  int first_line; /* of the entry, in the PTX */
  const unsigned char *params;
  unsigned char *shared;
  uint64_t shared_bytes;
  uint64_t base;    /* of the device's addresses */
  uint64_t globals; /* device address of the module's variables */
  /* Ranges that were used lately, by address; locate fills them. */
  emu_range recent[EMU_RECENT];
  /* Looks for the range that holds the bytes; does not return when there is
   * none. */
  void (*locate)(emu_block *block, const emu_thread *thread, uint64_t address,
                 uint64_t bytes, int line);
  /* Ends the launch with a message; does not return. */
  void (*fail)(emu_block *block, const emu_thread *thread, const char *message,
               int line);
  /* Returns when all threads of the block have come. */
  void (*barrier)(emu_block *block, const emu_thread *thread, uint32_t number,
                  int line);
  /* Notes an access of a space, for races; null when nobody looks for them.
   * Does not return when there is one. */
  void (*note)(emu_block *block, const emu_thread *thread, int space,
               uint64_t address, uint64_t bytes, int writes, int line);
  /* Returns when the lanes of the mask have come. */
  void (*warp_barrier)(emu_block *block, const emu_thread *thread,
                       uint32_t mask, int line);
  /* The same, with `count` words of each lane of the warp: of 32 lanes, of
   * which those outside of the mask mean nothing. Theirs until the thread's
   * next meeting. */
  const emu_lane *(*exchange)(emu_block *block, const emu_thread *thread,
                              uint32_t mask, const uint32_t *words,
                              uint32_t count, int line);
  /* cp.async: to shared memory from where device bytes lie; the rest of the
   * bytes after `fill` is zero. */
  void (*copy)(emu_block *block, const emu_thread *thread, uint64_t to,
               const unsigned char *from, uint64_t bytes, uint64_t fill,
               int line);
  void (*commit)(emu_block *block, const emu_thread *thread);
  void (*wait)(emu_block *block, const emu_thread *thread, uint64_t pending);
  /* wgmma: the thread's sums may be touched by products; it asks for one, of
   * whole rows in shared memory; those become a group; the thread waits for
   * them; and products see what it has written. */
  void (*order_sums)(emu_block *block, const emu_thread *thread);
  void (*add_product)(emu_block *block, const emu_thread *thread, uint64_t left,
                      uint64_t left_bytes, uint64_t right, uint64_t right_bytes,
                      int line);
  void (*commit_products)(emu_block *block, const emu_thread *thread);
  void (*wait_products)(emu_block *block, const emu_thread *thread,
                        uint64_t pending, int line);
  void (*show)(emu_block *block, const emu_thread *thread);
  /* What tensor cores have done for the block: whoever does it adds it, once a
   * warp; a multiply-add is two. */
  uint64_t tensor_operations;
};

enum { EMU_SHARED, EMU_GLOBAL };

typedef void (*emu_kernel)(emu_block *block, emu_thread *thread);

#endif
