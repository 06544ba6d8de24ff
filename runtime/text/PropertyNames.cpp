// Oniguruma's names, and the sets that are made of those of the tables.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/PropertyNames.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>

namespace tfc::text {

namespace {

CharacterSet join(std::initializer_list<const char *> names) {
  CharacterSet set;
  for (const char *name : names) {
    set.add(namedSet(name));
  }
  return set;
}

using Classes = std::map<std::string_view, CharacterSet>;

Classes makeClasses() {
  Classes made;
  made["alpha"] = join({"Alphabetic"});
  made["alnum"] = join({"Alphabetic", "Nd"});
  made["ascii"].add(0, 0x7f);
  made["blank"] = join({"Zs"});
  made["blank"].add(U'\t');
  made["cntrl"] = join({"Cc"});
  made["digit"] = join({"Nd"});
  made["graph"] = join({"C", "Z"});
  made["graph"].invert();
  made["graph"].add(join({"Cf", "Co"}));
  made["print"] = made["graph"];
  made["print"].add(namedSet("Zs"));
  made["lower"] = join({"Lowercase"});
  made["upper"] = join({"Uppercase"});
  made["punct"] = join({"P", "S"});
  made["space"] = join({"pattern.space"});
  made["xdigit"] = join({"pattern.hex"});
  // Powers and fractions of Latin-1 are no letters here.
  CharacterSet others;
  for (char32_t c : {0xb2, 0xb3, 0xb9, 0xbc, 0xbd, 0xbe}) {
    others.add(c);
  }
  others.invert();
  made["word"] = join({"pattern.word"});
  made["word"].intersect(others);
  return made;
}

const Classes &classes() {
  static const Classes made = makeClasses();
  return made;
}

/// As names are compared.
std::string plain(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c != ' ' && c != '-' && c != '_') {
      out += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    }
  }
  return out;
}

// A long name, and the set of the tables.
constexpr std::pair<const char *, const char *> longNames[] = {
    {"letter", "L"},
    {"uppercaseletter", "Lu"},
    {"lowercaseletter", "Ll"},
    {"titlecaseletter", "Lt"},
    {"modifierletter", "Lm"},
    {"otherletter", "Lo"},
    {"mark", "M"},
    {"combiningmark", "M"},
    {"nonspacingmark", "Mn"},
    {"spacingmark", "Mc"},
    {"enclosingmark", "Me"},
    {"number", "N"},
    {"decimalnumber", "Nd"},
    {"letternumber", "Nl"},
    {"othernumber", "No"},
    {"punctuation", "P"},
    {"punct", "P"},
    {"connectorpunctuation", "Pc"},
    {"dashpunctuation", "Pd"},
    {"openpunctuation", "Ps"},
    {"closepunctuation", "Pe"},
    {"initialpunctuation", "Pi"},
    {"finalpunctuation", "Pf"},
    {"otherpunctuation", "Po"},
    {"symbol", "S"},
    {"mathsymbol", "Sm"},
    {"currencysymbol", "Sc"},
    {"modifiersymbol", "Sk"},
    {"othersymbol", "So"},
    {"separator", "Z"},
    {"spaceseparator", "Zs"},
    {"lineseparator", "Zl"},
    {"paragraphseparator", "Zp"},
    {"other", "C"},
    {"control", "Cc"},
    {"format", "Cf"},
    {"privateuse", "Co"},
    {"whitespace", "pattern.space"},
    {"word", "pattern.word"},
};

using Properties = std::map<std::string, const CharacterSet *, std::less<>>;

Properties makeProperties() {
  Properties made;
  for (const auto &[name, set] : classes()) {
    made[std::string(name)] = &set;
  }
  made["posixpunct"] = made["punct"];
  // Sets with a point in their name are not for patterns.
  for (std::string_view name : namesOfSets()) {
    bool isProperty = name[0] >= 'A' && name[0] <= 'Z';
    if (isProperty) {
      made[plain(name)] = &namedSet(name);
    }
  }
  for (auto [name, set] : longNames) {
    made[name] = &namedSet(set);
  }
  return made;
}

bool dependsOnCase(std::string_view name) {
  static constexpr std::string_view names[] = {
      "lu", "uppercaseletter", "upper", "uppercase",
      "ll", "lowercaseletter", "lower", "lowercase",
      "lt", "titlecaseletter", "ascii"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

} // namespace

NamedSet findProperty(std::string_view name) {
  static const Properties properties = makeProperties();
  std::string wanted = plain(name);
  auto found = properties.find(wanted);
  return found == properties.end()
             ? NamedSet()
             : NamedSet{found->second, dependsOnCase(wanted)};
}

NamedSet findClass(std::string_view name) {
  auto found = classes().find(name);
  return found == classes().end()
             ? NamedSet()
             : NamedSet{&found->second, dependsOnCase(name)};
}

} // namespace tfc::text
