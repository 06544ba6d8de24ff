// A constant of a struct of abi.h, filled by member.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_EMIT_RECORD_H
#define TFC_COMPILER_EMIT_RECORD_H

#include "compiler/emit/Tables.h"
#include "llvm/ADT/bit.h"

#include <limits>
#include <type_traits>

namespace tfc {

/// Where fields lie in a struct, and what is wrong with that.
class RecordLayout {
public:
  /// A field of `size` bytes at `offset`.
  void add(size_t offset, size_t size, Field field);
  /// A value that its member cannot hold.
  void addOverflow(size_t offset);

  /// What is wrong with the fields of a struct of `size` bytes, as "bytes 8 to
  /// 12 are not set"; empty where every byte is set once.
  std::string findFault(size_t size) const;
  /// The fields in the order of their offsets. A fault of the struct `name` is
  /// ours, and fatal.
  Field finish(const char *name, size_t size) const;

private:
  struct Part {
    size_t offset, size;
    Field field;
  };
  std::vector<Part> parts;
  std::vector<size_t> overflows;
};

/// A constant of the C struct `Struct`. Members are set by name, so two of one
/// type cannot change places, and each exactly once:
///   Record<tfc_port_v0>("tfc_port_v0").set(&tfc_port_v0::width, 8)...finish()
/// Integers take integers and enums that fit, doubles doubles, pointers Fields
/// of Tables, structs the Field of their Record.
template <typename Struct> class Record {
public:
  explicit Record(const char *name) : name(name) {}

  template <typename Member, typename Value>
  Record &set(Member Struct::*member, const Value &value) {
    static const Struct probe{};
    size_t offset = reinterpret_cast<const char *>(&(probe.*member)) -
                    reinterpret_cast<const char *>(&probe);
    layout.add(offset, sizeof(Member), fieldOf<Member>(offset, value));
    return *this;
  }

  std::string findFault() const { return layout.findFault(sizeof(Struct)); }
  Field finish() const { return layout.finish(name, sizeof(Struct)); }

private:
  template <typename Member, typename Value>
  Field fieldOf(size_t offset, const Value &value) {
    if constexpr (std::is_same_v<Member, double>) {
      static_assert(std::is_same_v<Value, double>, "a double");
      return Field::u64(llvm::bit_cast<uint64_t>(value));
    } else if constexpr (std::is_integral_v<Member>) {
      static_assert(std::is_integral_v<Value> || std::is_enum_v<Value>,
                    "an integer or an enum");
      static_assert(sizeof(Member) == 4 || sizeof(Member) == 8,
                    "fields have 4 or 8 bytes");
      auto number = static_cast<int64_t>(value);
      bool isLarge = std::is_unsigned_v<Value> && number < 0;
      if (isLarge ? sizeof(Member) < 8 || std::is_signed_v<Member>
                  : !fits<Member>(number)) {
        layout.addOverflow(offset);
      }
      return sizeof(Member) == 4 ? Field::u32(static_cast<uint32_t>(number))
                                 : Field::u64(static_cast<uint64_t>(number));
    } else {
      static_assert(std::is_same_v<Value, Field>, "a pointer or a struct");
      return value;
    }
  }

  template <typename Member> static bool fits(int64_t number) {
    if constexpr (std::is_unsigned_v<Member>) {
      return number >= 0 && static_cast<uint64_t>(number) <=
                                std::numeric_limits<Member>::max();
    } else {
      return number >= std::numeric_limits<Member>::min() &&
             number <= std::numeric_limits<Member>::max();
    }
  }

  const char *name;
  RecordLayout layout;
};

} // namespace tfc

#endif // TFC_COMPILER_EMIT_RECORD_H
