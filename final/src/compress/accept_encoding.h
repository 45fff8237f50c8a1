// The content codings that a client accepts, and how much it likes each.
//
//     Accept-Encoding: br;q=1.0, gzip;q=0.8, *;q=0
//
// Interface:
//  * The constructor reads the field.
//  * Choose() returns the coding for a response.
//  * Accepts() tells whether a client can read a coding.
//
// An element that is malformed counts as missing: the worst result is a response that is not
// encoded.
//
// Thread: a value; nothing is allocated.
// Source: RFC 9110, sections 12.4.2 and 12.5.3
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "compress/coding.h"
#include "http/headers.h"

namespace TURTLE_SERVER {

/// Codings in an order, the preferred first.
class CodingOrder {
 public:
  /// An order without codings.
  constexpr CodingOrder() = default;

  /// Returns all codings, the one that makes the fewest bytes first.
  [[nodiscard]] static constexpr auto All() noexcept -> CodingOrder {
    CodingOrder all;
    all.Add(Coding::kBrotli);
    all.Add(Coding::kZstd);
    all.Add(Coding::kGzip);
    return all;
  }

  /// Appends a coding, unless it is there already.
  constexpr void Add(Coding coding) noexcept {
    if (!Has(coding)) {
      codings_[size_++] = coding;
    }
  }

  /// Returns whether a coding is among them.
  [[nodiscard]] constexpr auto Has(Coding coding) const noexcept -> bool {
    for (std::size_t i = 0; i < size_; ++i) {
      if (codings_[i] == coding) {
        return true;
      }
    }
    return false;
  }

  /// Returns the first coding, for range-based loops.
  [[nodiscard]] constexpr auto begin() const noexcept { return codings_.begin(); }

  /// Returns the end of the codings.
  [[nodiscard]] constexpr auto end() const noexcept { return codings_.begin() + size_; }

 private:
  std::array<Coding, kCodingCount> codings_{};
  std::size_t size_ = 0;
};

/// One client's wishes.
class AcceptEncoding {
 public:
  /// @param fields of a request. Without the field, only kIdentity is accepted: a client that says
  ///     nothing may be very simple.
  explicit AcceptEncoding(const Headers& fields) noexcept;

  /// Returns whether the client accepts a coding.
  [[nodiscard]] auto Accepts(Coding coding) const noexcept -> bool { return WeightOf(coding) > 0; }

  /// Returns the coding that the client likes best.
  /// @param offered those that we have, the preferred first: it decides between equal weights
  /// @return one of `offered`, or kIdentity
  [[nodiscard]] auto Choose(const CodingOrder& offered) const noexcept -> Coding;

 private:
  [[nodiscard]] auto WeightOf(Coding coding) const noexcept -> int {
    return weights_[static_cast<std::size_t>(coding)];
  }

  void Read(std::string_view list) noexcept;

  static constexpr int kUnset = -1;
  std::array<int, kCodingCount> weights_{};  // from 0 to 1000; while the field is read, also kUnset
  int others_ = kUnset;                      // of '*'
};

}  // namespace TURTLE_SERVER
