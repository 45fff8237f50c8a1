// JSON that comes from strangers (RFC 8259).
//
// Interface:
//  * ParseJson() understands a body, or throws what becomes a 400 with the place of the mistake.
//  * FormatJson() writes a value.
//  * RequestJson is the JSON of a request, for a handler to take apart. Its at(), value() and get()
//    are those of nlohmann::json. Value(), and the conversion, give the plain value: from there on
//    mistakes are the handler's.
//
//   const int n = req.Json().at("n").get<int>();  // 400: "n is missing", or
//                                                 // "n: an integer is wanted, not a string"
//
// An exception of nlohmann::json does not say whose JSON it is about. If a handler parses a
// database's JSON or its own file, a member that is missing there is the server's mistake, and has
// to be a logged 500. So what a client has sent is read by way of this class, whose functions throw
// HttpError 400; every exception of nlohmann::json that a handler lets through is the server's own.
//
// Callers include <nlohmann/json.hpp>; here its name will do.
//
// Thread: pure functions. Copies of a RequestJson may be used by several threads: they share what
// they look at, which never changes.
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

/// How deep arrays and objects may be nested. The parser needs no stack for that, but many a
/// function that walks through a value does.
inline constexpr int kMaxJsonDepth = 64;

/// Understands `text`.
/// @throws HttpError 400 when it is no JSON, or too deep; the text names line and column, and what
///     was found there
[[nodiscard]] auto ParseJson(std::string_view text) -> nlohmann::json;

/// Writes `value`, on one line. Bytes in it that are no UTF-8 come out as U+FFFD.
[[nodiscard]] auto FormatJson(const nlohmann::json& value) -> std::string;

/// A value within a request's JSON.
class RequestJson {
 public:
  /// Takes over `root`.
  explicit RequestJson(nlohmann::json root);

  /// The plain value. Valid as long as this object, or a copy of it.
  [[nodiscard]] auto Value() const& noexcept -> const nlohmann::json& { return *value_; }

  /// The same of an object that is about to go: a copy.
  [[nodiscard]] auto Value() const&& -> nlohmann::json;

  /// A copy of the plain value, where one is asked for.
  operator nlohmann::json() const;  // NOLINT: it is used so

  // NOLINTBEGIN(readability-identifier-naming): the names of nlohmann::json

  /// The member or element `key`. Throws HttpError 400 if there is none.
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

  /// The value as a `Wanted`. Throws HttpError 400 if it is of another type, or a number that does
  /// not fit: 3.7 and 1e300 are no `int`, nor an element of a std::vector<int>. Within your own
  /// types and other containers, nlohmann::json cuts such numbers short: take them one by one.
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

  /// The member `key` as a `Wanted`, or `otherwise` if there is none. Throws HttpError 400 if it is
  /// of another type, or if this is no object.
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

  /// The same, for a text.
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

  // A number that does not fit is none: nlohmann::json would cut it short without a word.
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

  // The name of a `Wanted` in a refusal; empty for a type of the handler's.
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

  // Where this is in the root, such as "items[2].from".
  [[nodiscard]] auto Path() const -> std::string;

  [[noreturn]] void RefuseInteger(const std::string& min, const std::string& max) const;

  // Within a catch block these throw on, an exception of nlohmann::json as HttpError 400.
  [[noreturn]] void RefuseMember(std::string_view name) const;
  [[noreturn]] void RefuseElement(std::size_t index) const;
  [[noreturn]] void Refuse(std::string_view wanted) const;

  std::shared_ptr<const nlohmann::json> root_;  // shared with the copies, and with what is inside
  const nlohmann::json* value_;
};

}  // namespace TURTLE_SERVER
