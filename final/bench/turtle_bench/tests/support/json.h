// A JSON object, flattened: {"errors": {"reset": 2}} is "errors.reset" -> "2".
#pragma once

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace TURTLE_SERVER::test {

/// Parses one JSON object of strings, numbers, booleans and objects; throws std::runtime_error for
/// anything else.
class FlatJson {
 public:
  explicit FlatJson(std::string_view text) : rest_(text) {
    ReadObject("");
    Skip();
    Expect(rest_.empty(), "the end");
  }

  /// Returns a value as text; throws if it is missing.
  [[nodiscard]] auto Text(const std::string& key) const -> const std::string& {
    const auto found = values_.find(key);
    if (found == values_.end()) {
      throw std::runtime_error("no " + key);
    }
    return found->second;
  }

  /// Returns a number; throws if it is missing.
  [[nodiscard]] auto Number(const std::string& key) const -> double { return std::stod(Text(key)); }

  /// Returns all keys and values.
  [[nodiscard]] auto All() const -> const std::map<std::string, std::string>& { return values_; }

 private:
  void Expect(bool holds, const std::string& what) const {
    if (!holds) {
      throw std::runtime_error("no " + what + " at: " + std::string(rest_.substr(0, 40)));
    }
  }

  void Skip() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) {
      rest_.remove_prefix(1);
    }
  }

  auto Eat(char c) -> bool {
    Skip();
    if (rest_.empty() || rest_.front() != c) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  auto ReadString() -> std::string {
    Expect(Eat('"'), "string");
    std::string text;
    while (!rest_.empty() && rest_.front() != '"') {
      Expect(static_cast<unsigned char>(rest_.front()) >= ' ', "control character");
      if (rest_.front() == '\\') {
        rest_.remove_prefix(1);
        Expect(!rest_.empty(), "escape");
        if (rest_.front() == 'u') {
          text += static_cast<char>(std::stoi(std::string(rest_.substr(1, 4)), nullptr, 16));
          rest_.remove_prefix(5);
          continue;
        }
      }
      text += rest_.front();
      rest_.remove_prefix(1);
    }
    Expect(Eat('"'), "end of string");
    return text;
  }

  void ReadObject(const std::string& prefix) {
    Expect(Eat('{'), "object");
    do {
      const std::string key = prefix + ReadString();
      Expect(Eat(':'), "colon");
      Skip();
      Expect(values_.count(key) == 0 && !rest_.empty(), "new key");
      if (rest_.front() == '{') {
        ReadObject(key + ".");
      } else if (rest_.front() == '"') {
        values_[key] = ReadString();
      } else {
        const std::size_t size = rest_.find_first_of(",}");
        Expect(size != std::string_view::npos, "end of value");
        const std::string value(rest_.substr(0, size));
        std::size_t used = 0;
        Expect(value == "true" || value == "false" ||
                   (static_cast<void>(std::stod(value, &used)), used == size),
               "value");
        values_[key] = value;
        rest_.remove_prefix(size);
      }
    } while (Eat(','));
    Expect(Eat('}'), "end of object");
  }

  std::string_view rest_;
  std::map<std::string, std::string> values_;
};

}  // namespace TURTLE_SERVER::test
