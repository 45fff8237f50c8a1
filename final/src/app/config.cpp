#include "app/config.h"

#include <cerrno>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "app/config_reader.h"
#include "base/json_fault.h"

namespace TURTLE_SERVER {

namespace {

using Json = nlohmann::ordered_json;

// Observes the parser, to find mistakes that it silently accepts. It accepts a key twice and keeps
// one: of two ports, which did you mean? And it accepts any depth, which could overflow the stack
// when the values are processed later.
class Watcher {
 public:
  auto operator()(int depth, Json::parse_event_t event, const Json& parsed) -> bool {
    using Event = Json::parse_event_t;
    switch (event) {
      case Event::object_start:
        open_.emplace_back();
        return IsShallow(depth);
      case Event::array_start:
        return IsShallow(depth);
      case Event::object_end:
        open_.pop_back();
        break;
      case Event::key:
        if (!open_.back().insert(parsed.get<std::string>()).second) {
          faults_.push_back(ShownValue(parsed) + " occurs twice in one object");
        }
        break;
      case Event::array_end:
      case Event::value:
        break;
    }
    return true;
  }

  [[nodiscard]] auto TakeFaults() noexcept -> std::vector<std::string> {
    if (too_deep_) {
      return {"more than " + std::to_string(kMaxDepth) + " nested values"};
    }
    return std::move(faults_);
  }

 private:
  static constexpr int kMaxDepth = 16;

  auto IsShallow(int depth) noexcept -> bool {
    too_deep_ = too_deep_ || depth >= kMaxDepth;
    return depth < kMaxDepth;
  }

  std::vector<std::set<std::string>> open_;  // the keys so far of each object being read
  std::vector<std::string> faults_;
  bool too_deep_ = false;
};

auto WrongAt(const std::string& name, const JsonFault& fault) -> std::vector<std::string> {
  return {name + ":" + std::to_string(fault.line) + ":" + std::to_string(fault.column) + ": " +
          fault.reason};
}

}  // namespace

auto ReadConfig(std::string_view text, const std::string& name,
                const std::vector<Setting>& settings) -> std::vector<std::string> {
  Watcher watcher;
  Json config;
  try {
    config = Json::parse(text.begin(), text.end(), std::ref(watcher), true, true);
  } catch (const Json::parse_error& error) {
    return WrongAt(name, FindJsonFault(text, error.byte));
  } catch (const Json::out_of_range&) {  // 1e999
    return {name + ": a number is too large"};
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return WrongAt(name, FindJsonFault(text, nul + 1));  // the parser takes it for the end
  }
  std::vector<std::string> faults = watcher.TakeFaults();
  if (faults.empty()) {
    faults = ReadValues(config, settings);
  }
  for (std::string& fault : faults) {
    fault.insert(0, name + ": ");
  }
  return faults;
}

auto ReadConfigFile(const std::string& path, const std::vector<Setting>& settings)
    -> std::vector<std::string> {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxConfigBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    return {path + ": " + std::generic_category().message(errno)};
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxConfigBytes) {
    return {path + ": longer than " + std::to_string(kMaxConfigBytes) + " bytes"};
  }
  return ReadConfig(text, path, settings);
}

}  // namespace TURTLE_SERVER
