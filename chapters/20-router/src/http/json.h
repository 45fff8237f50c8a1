// JSON from strangers (RFC 8259).
//
// Interface:
//  * ParseJson() parses a body, or throws an HttpError 400 with the place of the mistake.
//  * FormatJson() writes a value.
//  * RequestJson is the JSON of a request, for a handler to take apart. Its at(), value() and get()
//    are those of nlohmann::json. Value(), and the conversion, return the plain value: from there
//    on mistakes are the handler's.
//
//   const int n = req.Json().at("n").get<int>();  // 400: "n is missing", or
//                                                 // "n: expected an integer, not a string"
//
// An exception of nlohmann::json does not say whose JSON it is about. If a handler parses a
// database's JSON or its own file, a missing member is the server's mistake, and must be a logged
// 500. So a client's JSON is read through this class, whose functions throw HttpError 400; every
// nlohmann::json exception that leaves a handler is the server's own.
//
// Callers include <nlohmann/json.hpp>; this header only declares its name.
//
// Thread: pure functions. Several threads may use copies of a RequestJson: they share data that
// never changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/namespace.h"
#include "http/http_error.h"

namespace TURTLE_SERVER {

/// How deep arrays and objects may be nested. The parser needs no stack for that, but many
/// functions that walk through a value do.
inline constexpr int kMaxJsonDepth = 64;

/// Parses `text`.
/// @throws HttpError 400 if it is not JSON, or nested too deep; the text names line and column, and
///     what was found there
[[nodiscard]] auto ParseJson(std::string_view text) -> nlohmann::json;

/// Writes `value` on one line. Bytes that are not valid UTF-8 become U+FFFD.
[[nodiscard]] auto FormatJson(const nlohmann::json& value) -> std::string;

/// A value within a request's JSON.
class RequestJson {
 public:
  /// Takes over `root`.
  explicit RequestJson(nlohmann::json root);

  /// Returns the plain value. Valid as long as this object, or a copy of it.
  [[nodiscard]] auto Value() const& noexcept -> const nlohmann::json& { return *value_; }

  /// Returns a copy of the value, for an object that is about to be destroyed.
  [[nodiscard]] auto Value() const&& -> nlohmann::json;

  /// Converts to a copy of the plain value.
  operator nlohmann::json() const;  // NOLINT: it is used so

  // NOLINTBEGIN(readability-identifier-naming): the names of nlohmann::json

  /// Returns the member or element `key`. Throws HttpError 400 if there is none.
  template <typename Key, typename Json = nlohmann::json>
  [[nodiscard]] auto at(const Key& key) const -> RequestJson {
    const Json& node = *value_;
    try {
      return RequestJson(root_, &node.at(key));
    } catch (...) {
      if constexpr (std::is_convertible_v<const Key&, std::string_view>) {
        RefuseMember(key);
      } else if constexpr (std::is_integral_v<Key>) {
        RefuseElement(static_cast<std::size_t>(key));
      } else {
        Refuse({});
      }
    }
  }

  /// Returns the value as a `Wanted`. Throws HttpError 400 if it has another type, or is a number
  /// that does not fit: 3.7 and 1e300 are no `int`, nor an element of a std::vector<int>. In your
  /// own types and other containers, nlohmann::json truncates such numbers: take them one by one.
  template <typename Wanted, typename Json = nlohmann::json>
  [[nodiscard]] auto get() const -> Wanted {
    const Json& node = *value_;
    if constexpr (kIsVector<Wanted>) {
      return Elements<Wanted, Json>(node);
    } else {
      if constexpr (kIsInteger<Wanted>) {
        RequireFit<Wanted>(node);
      }
      try {
        return node.template get<Wanted>();
      } catch (...) {
        Refuse(NameOf<Wanted>());
      }
    }
  }

  /// Returns the member `key` as a `Wanted`, or `otherwise` if there is none. Throws HttpError 400
  /// if it has another type, or if this is no object.
  template <typename Wanted, typename Json = nlohmann::json>
  [[nodiscard]] auto value(const std::string& key, const Wanted& otherwise) const -> Wanted {
    if (contains<Json>(key)) {
      return at<std::string, Json>(key).template get<Wanted, Json>();
    }
    try {
      return static_cast<const Json&>(*value_).value(key, otherwise);
    } catch (...) {
      Refuse("an object");
    }
  }

  /// Does the same, for a text.
  template <typename Json = nlohmann::json>
  [[nodiscard]] auto value(const std::string& key, const char* otherwise) const -> std::string {
    return value<std::string, Json>(key, otherwise);
  }

  /// True if this is an object that has the member `key`.
  template <typename Json = nlohmann::json>
  [[nodiscard]] auto contains(const std::string& key) const -> bool {
    return static_cast<const Json&>(*value_).contains(key);
  }

  // NOLINTEND(readability-identifier-naming)

 private:
  RequestJson(std::shared_ptr<const nlohmann::json> root, const nlohmann::json* value) noexcept
      : root_(std::move(root)), value_(value) {}

  template <typename Wanted>
  static constexpr bool kIsInteger = std::is_integral_v<Wanted> && !std::is_same_v<Wanted, bool>;

  template <typename Element>
  static auto IsVector(const std::vector<Element>*) -> std::true_type;
  static auto IsVector(const void*) -> std::false_type;
  template <typename Wanted>
  static constexpr bool kIsVector = decltype(IsVector(static_cast<Wanted*>(nullptr)))::value;

  template <typename Wanted, typename Json>
  [[nodiscard]] auto Elements(const Json& node) const -> Wanted {
    std::size_t count = 0;
    try {
      count = node.template get_ref<const typename Json::array_t&>().size();
    } catch (...) {
      Refuse("an array");
    }
    Wanted elements;
    for (std::size_t i = 0; i < count; ++i) {
      elements.push_back(
          at<std::size_t, Json>(i).template get<typename Wanted::value_type, Json>());
    }
    return elements;
  }

  // A number that does not fit is refused: nlohmann::json would truncate it silently.
  template <typename Wanted, typename Json>
  void RequireFit(const Json& node) const {
    using Limits = std::numeric_limits<Wanted>;
    bool fits = node.is_number_integer();
    if (fits) {
      const auto number = node.template get<std::int64_t>();
      const bool is_negative = !node.is_number_unsigned() && number < 0;
      fits = is_negative
                 ? number >= static_cast<std::int64_t>(Limits::min())
                 : node.template get<std::uint64_t>() <= static_cast<std::uint64_t>(Limits::max());
    }
    if (!fits) {
      RefuseInteger(std::to_string(Limits::min()), std::to_string(Limits::max()));
    }
  }

  // Returns the name of a `Wanted` for a refusal; empty for a handler's own type.
  template <typename Wanted>
  static constexpr auto NameOf() -> std::string_view {
    if constexpr (std::is_same_v<Wanted, bool>) {
      return "a boolean";
    } else if constexpr (std::is_arithmetic_v<Wanted>) {
      return "a number";
    } else if constexpr (std::is_same_v<Wanted, std::string>) {
      return "a string";
    }
    return {};
  }

  [[nodiscard]] auto IsRoot() const noexcept -> bool { return value_ == root_.get(); }

  // Returns the position of this value in the root, such as "items[2].from".
  [[nodiscard]] auto Path() const -> std::string;

  [[noreturn]] void RefuseInteger(const std::string& min, const std::string& max) const;

  // Within a catch block these rethrow, an exception of nlohmann::json as HttpError 400.
  [[noreturn]] void RefuseMember(std::string_view name) const;
  [[noreturn]] void RefuseElement(std::size_t index) const;
  [[noreturn]] void Refuse(std::string_view wanted) const;

  std::shared_ptr<const nlohmann::json> root_;  // shared with the copies and the values inside
  const nlohmann::json* value_;
};

}  // namespace TURTLE_SERVER
