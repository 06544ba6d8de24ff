// Lanes that hand each other values, and copies that a thread waits for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/EntryText.h"

#include "test/emulator/PtxTokens.h"

namespace tfc::emulator {

namespace {

/// shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1;
void shuffle(EntryText &text, Instruction &from) {
  std::string mode = from.takeOneOf({"up", "down", "bfly", "idx"});
  if (!from.take("sync") || mode.empty() || from.takeType() != "b32") {
    from.failUnknown();
  }
  const std::string &to = from.operand(0);
  size_t bar = to.find('|');
  text.add("{ uint8_t p; uint32_t v = emu_shuffle(b, t, " +
           text.value(from.operand(1), "u32") + ", '" + mode[0] + "', " +
           text.value(from.operand(2), "u32") + ", " +
           text.value(from.operand(3), "u32") + ", " +
           text.value(from.operand(4), "u32") + ", &p, " + from.line() + "); " +
           text.assign(trim(to.substr(0, bar)), "u32", "v") +
           (bar == std::string::npos
                ? ""
                : " " + text.assign(trim(to.substr(bar + 1)), "pred", "p")) +
           " }");
}

/// vote.sync.any.pred %p1, %p2, -1; vote.sync.ballot.b32 %r1, %p2, -1;
void vote(EntryText &text, Instruction &from) {
  std::string how = from.takeOneOf({"all", "any", "ballot"});
  bool isBallot = how == "ballot";
  bool isSync = from.take("sync");
  bool hasType = from.take(isBallot ? "b32" : "pred");
  if (!isSync || how.empty() || !hasType) {
    from.failUnknown();
  }
  std::string mask = text.value(from.operand(2), "u32");
  std::string lanes = "emu_ballot(b, t, " + text.predicate(from.operand(1)) +
                      ", " + mask + ", " + from.line() + ")";
  text.add(isBallot ? text.assign(from.operand(0), "u32", lanes)
                    : text.assign(from.operand(0), "pred",
                                  how == "any" ? lanes + " != 0"
                                               : lanes + " == " + mask));
}

/// cp.async.bulk.prefetch.L2.global [%rd1], %r1; there is no cache, but what is
/// asked for has to be there.
void prefetch(EntryText &text, Instruction &from) {
  if (!from.take("prefetch") || !from.take("L2") || !from.take("global")) {
    from.failUnknown();
  }
  text.add("emu_prefetch(b, t, " + text.address(from.operand(0)).text + ", " +
           text.value(from.operand(1), "u32") + ", " + from.line() + ");");
}

/// cp.async.cg.shared.global [%r1], [%rd1], 16, %r2; and its groups.
void copy(EntryText &text, Instruction &from) {
  if (!from.take("async")) {
    from.failUnknown();
  }
  if (from.take("commit_group")) {
    text.add("b->commit(b, t);");
    return;
  }
  if (from.take("wait_all")) {
    text.add("b->commit(b, t); b->wait(b, t, 0);");
    return;
  }
  if (from.take("wait_group")) {
    text.add("b->wait(b, t, " + text.value(from.operand(0), "u64") + ");");
    return;
  }
  if (from.take("bulk")) {
    prefetch(text, from);
    return;
  }
  bool isWhole = from.takeOneOf({"ca", "cg"}) == "cg";
  std::string bytes = from.operand(2);
  bool isGood = from.take("shared") && from.take("global") &&
                (bytes == "16" || (!isWhole && (bytes == "4" || bytes == "8")));
  if (!isGood) {
    from.failUnknown();
  }
  std::string line = from.line();
  std::string fill =
      from.count() > 3 ? text.value(from.operand(3), "u32") : bytes;
  text.add("{ uint64_t to = " + text.address(from.operand(0)).text +
           "; emu_shared(b, t, to, " + bytes + ", 1, " + line +
           "); const unsigned char *m = " + fill + " ? emu_global(b, t, " +
           text.address(from.operand(1)).text + ", " + bytes + ", 0, " + line +
           ") : 0; b->copy(b, t, to, m, " + bytes + ", " + fill + ", " + line +
           "); }");
}

} // namespace

bool translateWarp(EntryText &text, Instruction &from) {
  if (from.base() == "shfl") {
    shuffle(text, from);
  } else if (from.base() == "vote") {
    vote(text, from);
  } else if (from.base() == "cp") {
    copy(text, from);
  } else {
    return false;
  }
  return true;
}

} // namespace tfc::emulator
