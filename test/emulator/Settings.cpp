// Reads TFC_FAKECUDA.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/Settings.h"

#include <cstdlib>
#include <sstream>

namespace tfc::emulator {

static Failure readFailure(const std::string &text) {
  Failure failure;
  std::istringstream parts(text);
  std::string number;
  std::getline(parts, failure.function, ':');
  if (std::getline(parts, number, ':')) {
    failure.call = std::atoll(number.c_str());
  }
  if (std::getline(parts, number, ':')) {
    failure.result = std::atoi(number.c_str());
  }
  return failure;
}

Settings readSettings(const std::string &text) {
  Settings settings;
  std::istringstream list(text);
  for (std::string item; std::getline(list, item, ',');) {
    size_t equals = item.find('=');
    std::string name = item.substr(0, equals);
    std::string value =
        equals == std::string::npos ? "" : item.substr(equals + 1);
    auto number = std::atoll(value.c_str());
    if (name == "fail") {
      settings.failures.push_back(readFailure(value));
    } else if (name == "capability") {
      settings.capability = int(number);
    } else if (name == "devices") {
      settings.devices = int(number);
    } else if (name == "driver") {
      settings.driver = int(number);
    } else if (name == "memory") {
      settings.memory = uint64_t(number);
    } else if (name == "seed") {
      settings.seed = uint64_t(number);
    } else if (name == "races") {
      settings.findsRaces = number != 0;
    } else if (name == "counters") {
      settings.counters = value;
    } else if (name == "wave" && number > 0) {
      settings.wave = uint64_t(number);
    } else if (name == "replace") {
      size_t colon = value.find(':');
      settings.replaced = value.substr(0, colon);
      settings.replacement =
          colon == std::string::npos ? "" : value.substr(colon + 1);
    } else {
      settings.fault =
          "TFC_FAKECUDA: expected fail, capability, devices, "
          "driver, memory, seed, races, counters, wave or replace, got " +
          name;
    }
  }
  return settings;
}

} // namespace tfc::emulator
