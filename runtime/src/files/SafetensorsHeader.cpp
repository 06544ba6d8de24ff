// Reads the two JSON texts of the format as a stream of events: no tree is
// built, so neither depth nor duplicate keys can surprise it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/SafetensorsHeader.h"

#include <nlohmann/json.hpp>
#include <set>

namespace tfc::rt {

namespace {

/// What both readers share: a fault stops the parse.
class Reader : public nlohmann::json_sax<nlohmann::json> {
public:
  std::string fault;

  bool binary(binary_t &) override { return fail("got binary data"); }
  bool parse_error(size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    return fail("expected JSON, got a syntax error at byte ", position,
                " of it");
  }

protected:
  template <typename... Ts> bool fail(const Ts &...parts) {
    if (fault.empty()) {
      fault = concat(parts...);
    }
    return false;
  }
};

class HeaderReader : public Reader {
public:
  Header header;

  bool null() override { return unexpected("null"); }
  bool boolean(bool value) override {
    return unexpected(value ? "true" : "false");
  }
  bool number_integer(number_integer_t value) override {
    return unexpected(std::to_string(value));
  }
  bool number_float(number_float_t, const string_t &text) override {
    return unexpected(text.substr(0, 40));
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (level == Level::Shape && value <= INT64_MAX) {
      std::vector<int64_t> &shape = header.entries.back().shape;
      shape.push_back(static_cast<int64_t>(value));
      return shape.size() <= maxAxes ||
             fail(tensor(), "expected a shape of at most ", maxAxes,
                  " axes, got more");
    }
    if (level == Level::Offsets && numOffsets < 2) {
      HeaderEntry &entry = header.entries.back();
      (numOffsets++ == 0 ? entry.begin : entry.end) = value;
      return true;
    }
    return unexpected(std::to_string(value));
  }

  bool string(string_t &value) override {
    if (level == Level::Metadata) {
      return header.metadata.emplace(lastKey, value).second ||
             fail("__metadata__: expected distinct keys, got ",
                  quoteName(lastKey), " twice");
    }
    if (level != Level::Tensor || lastKey != "dtype") {
      return unexpected(quoteName(value));
    }
    std::optional<DType> dtype = parseDType(value);
    if (!dtype) {
      return unexpected(quoteName(value));
    }
    header.entries.back().dtype = *dtype;
    return true;
  }

  bool start_object(size_t) override {
    if (level == Level::Outside) {
      level = Level::Top;
      return true;
    }
    if (level != Level::Top) {
      return unexpected("an object");
    }
    if (lastKey == "__metadata__") {
      level = Level::Metadata;
      return true;
    }
    level = Level::Tensor;
    seen.clear();
    header.entries.emplace_back();
    header.entries.back().name = lastKey;
    return true;
  }

  bool end_object() override {
    if (level == Level::Tensor) {
      for (const char *needed : {"dtype", "shape", "data_offsets"}) {
        if (seen.find(needed) == std::string::npos) {
          return fail(tensor(), "expected ", needed, ", got none");
        }
      }
    }
    level = level == Level::Top ? Level::Outside : Level::Top;
    return true;
  }

  bool key(string_t &name) override {
    lastKey = name;
    // A C program would see another name than this one.
    if (name.find('\0') != std::string::npos) {
      return fail("expected names without null characters, got ",
                  quoteName(name));
    }
    if (level == Level::Top) {
      return names.insert(name).second ||
             fail("expected distinct tensors, got ", quoteName(name), " twice");
    }
    if (level != Level::Tensor) {
      return true;
    }
    if (name != "dtype" && name != "shape" && name != "data_offsets") {
      return fail(tensor(), "expected dtype, shape and data_offsets, got ",
                  quoteName(name));
    }
    if (seen.find(name) != std::string::npos) {
      return fail(tensor(), "expected one ", name, ", got two");
    }
    seen += name + ' ';
    return true;
  }

  bool start_array(size_t) override {
    if (level != Level::Tensor || lastKey == "dtype") {
      return unexpected("an array");
    }
    level = lastKey == "shape" ? Level::Shape : Level::Offsets;
    numOffsets = 0;
    return true;
  }

  bool end_array() override {
    if (level == Level::Offsets && numOffsets != 2) {
      return unexpected(concat(numOffsets, " numbers"));
    }
    level = Level::Tensor;
    return true;
  }

private:
  enum class Level { Outside, Top, Metadata, Tensor, Shape, Offsets };

  std::string tensor() const {
    return concat("tensor ", quoteName(header.entries.back().name), ": ");
  }

  bool unexpected(const std::string &what) {
    switch (level) {
    case Level::Outside:
      return fail("expected an object of tensors, got ", what);
    case Level::Top:
      return fail(quoteName(lastKey), ": expected an object, got ", what);
    case Level::Metadata:
      return fail("__metadata__: ", quoteName(lastKey),
                  ": expected a string, got ", what);
    case Level::Shape:
      return fail(tensor(), "expected a shape of integers from 0 to 2^63 - 1",
                  ", got ", what);
    case Level::Offsets:
      return fail(tensor(), "expected data_offsets of two integers from 0 on",
                  ", got ", what);
    case Level::Tensor:
      break;
    }
    return fail(tensor(), "expected ",
                lastKey == "dtype" ? "a known dtype" : "an array as " + lastKey,
                ", got ", what);
  }

  Level level = Level::Outside;
  std::string lastKey, seen;
  std::set<std::string> names;
  int numOffsets = 0;
};

/// Everything beside weight_map is skipped, whatever it is.
class IndexReader : public Reader {
public:
  std::map<std::string, std::string> entries;
  bool found = false;

  bool null() override { return scalar("null"); }
  bool boolean(bool) override { return scalar("a boolean"); }
  bool number_integer(number_integer_t) override { return scalar("a number"); }
  bool number_unsigned(number_unsigned_t) override {
    return scalar("a number");
  }
  bool number_float(number_float_t, const string_t &) override {
    return scalar("a number");
  }
  bool string(string_t &value) override {
    if (!inMap()) {
      return scalar("a string");
    }
    return entries.emplace(lastKey, value).second ||
           fail("weight_map: expected distinct tensors, got ",
                quoteName(lastKey), " twice");
  }
  bool start_object(size_t) override {
    if (inMap()) {
      return scalar("an object");
    }
    if (depth == 1 && lastKey == "weight_map") {
      if (found) {
        return fail("expected one weight_map, got two");
      }
      found = true;
      mapDepth = 2;
    }
    ++depth;
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(size_t) override {
    if (!scalar("an array")) {
      return false;
    }
    ++depth;
    return true;
  }
  bool end_array() override { return close(); }
  bool key(string_t &name) override {
    lastKey = name;
    return true;
  }

private:
  bool inMap() const { return mapDepth != 0 && depth == mapDepth; }
  bool close() {
    if (inMap()) {
      mapDepth = 0;
    }
    --depth;
    return true;
  }
  /// A value that is neither an object nor a name of a file.
  bool scalar(const char *what) {
    if (inMap()) {
      return fail("weight_map: ", quoteName(lastKey),
                  ": expected the name of a file, got ", what);
    }
    if (depth == 0) {
      return fail("expected an object with a weight_map, got ", what);
    }
    if (depth == 1 && lastKey == "weight_map") {
      return fail("weight_map: expected an object, got ", what);
    }
    return true;
  }

  std::string lastKey;
  int64_t depth = 0, mapDepth = 0;
};

} // namespace

Result<Header> readHeader(const char *text, uint64_t length) {
  HeaderReader reader;
  if (!nlohmann::json::sax_parse(text, text + length, &reader)) {
    return Error{Code::InvalidArgument, reader.fault};
  }
  return std::move(reader.header);
}

Result<std::map<std::string, std::string>> readIndex(const char *text,
                                                     uint64_t length) {
  IndexReader reader;
  if (!nlohmann::json::sax_parse(text, text + length, &reader)) {
    return Error{Code::InvalidArgument, reader.fault};
  }
  if (!reader.found) {
    return Error{Code::InvalidArgument,
                 "expected an object with a weight_map, got none"};
  }
  return std::move(reader.entries);
}

} // namespace tfc::rt
