// Tiles of matrices: ldmatrix, mma.sync and wgmma.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/EntryText.h"

namespace tfc::emulator {

namespace {

/// The elements of operand i as a list of C: "v0, v1".
std::string listValues(EntryText &text, Instruction &from, size_t i,
                       size_t count) {
  std::vector<std::string> values = elements(from.operand(i));
  if (values.size() != count) {
    from.failUnknown();
  }
  std::string list;
  for (const std::string &value : values) {
    list += (list.empty() ? "" : ", ") + text.value(value, "u32");
  }
  return list;
}

/// Assigns v[0], v[1], ... to the elements of operand 0.
std::string assignAll(EntryText &text, Instruction &from, size_t count) {
  std::vector<std::string> to = elements(from.operand(0));
  if (to.size() != count) {
    from.failUnknown();
  }
  std::string line;
  for (size_t i = 0; i < count; ++i) {
    line += " " + text.assign(to[i], "u32", "v[" + std::to_string(i) + "]");
  }
  return line;
}

/// ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];
void loadMatrix(EntryText &text, Instruction &from) {
  std::string count = from.takeOneOf({"x1", "x2", "x4"});
  bool isTransposed = from.take("trans");
  bool isGood = from.take("sync") && from.take("aligned") &&
                from.take("m8n8") && !count.empty() &&
                (from.take("shared") || from.take("shared::cta")) &&
                from.take("b16");
  if (!isGood) {
    from.failUnknown();
  }
  size_t tiles = size_t(count[1] - '0');
  text.add("{ uint32_t v[4]; emu_load_matrix(b, t, " +
           text.address(from.operand(1)).text + ", " + std::to_string(tiles) +
           ", " + (isTransposed ? "1" : "0") + ", v, " + from.line() + ");" +
           assignAll(text, from, tiles) + " }");
}

/// mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {d}, {a}, {b}, {c};
void multiply(EntryText &text, Instruction &from) {
  bool isGood = from.take("sync") && from.take("aligned") &&
                from.take("m16n8k16") && from.take("row") && from.take("col") &&
                from.take("f32");
  std::string type = from.takeOneOf({"bf16", "f16"});
  if (!isGood || type.empty() || !from.take(type) || !from.take("f32")) {
    from.failUnknown();
  }
  text.add("{ uint32_t ab[6] = {" + listValues(text, from, 1, 4) + ", " +
           listValues(text, from, 2, 2) + "}, c[4] = {" +
           listValues(text, from, 3, 4) + "}, v[4]; emu_mma_m16n8k16(b, t, " +
           (type == "bf16" ? "1" : "0") + ", ab, c, v, " + from.line() + ");" +
           assignAll(text, from, 4) + " }");
}

/// The left side of a wgmma, the numbers behind the right one, and the call's
/// name.
struct GroupForm {
  const char *name;
  std::string left;
  std::vector<std::string> numbers;
};

/// Both from shared memory along k, `p, 1, 1, 0, 0` behind them; or the left
/// one from registers and the right one transposed, `p, 1, 1, 1`. Neither is
/// negative.
GroupForm formOf(EntryText &text, Instruction &from) {
  if (from.operand(1)[0] == '{') {
    return {"emu_wgmma_rows", "a", {"1", "1", "1"}};
  }
  return {"emu_wgmma_k16",
          text.value(from.operand(1), "u64"),
          {"1", "1", "0", "0"}};
}

/// wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {d}, %rd1, %rd2, p,
/// ...
void multiplyGroup(EntryText &text, Instruction &from) {
  std::vector<std::string> shapes;
  for (int columns = 8; columns <= 256; columns += 8) {
    shapes.push_back("m64n" + std::to_string(columns) + "k16");
  }
  bool isGood = from.take("sync") && from.take("aligned");
  std::string shape = from.takeOneOf(shapes);
  isGood &= !shape.empty() && from.take("f32");
  std::string type = from.takeOneOf({"bf16", "f16"});
  isGood &= !type.empty() && from.take(type);
  GroupForm form = formOf(text, from);
  isGood &= from.count() == 4 + form.numbers.size();
  for (size_t i = 0; isGood && i < form.numbers.size(); ++i) {
    isGood = from.operand(4 + i) == form.numbers[i];
  }
  if (!isGood) {
    from.failUnknown();
  }
  auto columns = size_t(std::stoi(shape.substr(4)));
  std::string keeps =
      from.operand(3) == "1" ? "1" : text.predicate(from.operand(3));
  text.add("{ uint32_t v[] = {" + listValues(text, from, 0, columns / 2) +
           "};" +
           (form.left == "a"
                ? " uint32_t a[] = {" + listValues(text, from, 1, 4) + "};"
                : "") +
           " " + form.name + "(b, t, " + (type == "bf16" ? "1" : "0") + ", " +
           std::to_string(columns) + ", " + form.left + ", " +
           text.value(from.operand(2), "u64") + ", " + keeps + ", v, " +
           from.line() + ");" + assignAll(text, from, columns / 2) + " }");
}

void translateGroup(EntryText &text, Instruction &from) {
  if (from.take("mma_async")) {
    multiplyGroup(text, from);
    return;
  }
  std::string what = from.takeOneOf({"fence", "commit_group", "wait_group"});
  if (what.empty() || !from.take("sync") || !from.take("aligned")) {
    from.failUnknown();
  }
  text.add(what == "fence"          ? "b->order_sums(b, t);"
           : what == "commit_group" ? "b->commit_products(b, t);"
                                    : "b->wait_products(b, t, " +
                                          text.value(from.operand(0), "u64") +
                                          ", " + from.line() + ");");
}

/// fence.proxy.async.shared::cta;
void show(EntryText &text, Instruction &from) {
  if (!from.take("proxy") || !from.take("async") || !from.take("shared::cta")) {
    from.failUnknown();
  }
  text.add("b->show(b, t);");
}

} // namespace

bool translateMatrix(EntryText &text, Instruction &from) {
  if (from.base() == "ldmatrix") {
    loadMatrix(text, from);
  } else if (from.base() == "mma") {
    multiply(text, from);
  } else if (from.base() == "wgmma") {
    translateGroup(text, from);
  } else if (from.base() == "fence") {
    show(text, from);
  } else {
    return false;
  }
  return true;
}

} // namespace tfc::emulator
