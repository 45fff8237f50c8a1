// A hash function with a secret key: SipHash-1-3 (Aumasson and Bernstein, 2012).
//
// A client that chooses the keys of a hash table, such as the paths it requests, can choose a
// thousand for one bucket, if it knows the function. A secret key drawn at start-up prevents that.
// One round per word and three at the end are what Rust and Python use for tables.
//
// Interface:
//  * SipHash<1, 3>() hashes bytes under a key. SipHash<2, 4>() is the published form with more
//    rounds, and is here because its test vectors prove the code.
//  * KeyedHash is a hash object for tables; RandomHashKey() draws a key.
//
// Thread: pure functions, except RandomHashKey(), which any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>

#include "base/namespace.h"

namespace TURTLE_SERVER {

/// The secret: 128 bits.
struct HashKey {
  std::uint64_t k0 = 0;  ///< First eight bytes, little endian.
  std::uint64_t k1 = 0;  ///< Last eight bytes, little endian.
};

/// Draws a key that nobody can guess, from the system's source of randomness.
[[nodiscard]] inline auto RandomHashKey() -> HashKey {
  std::random_device device;
  const auto word = [&device] {
    const std::uint64_t high = device();
    return (high << 32) | (device() & 0xffffffffU);
  };
  const std::uint64_t k0 = word();
  return {k0, word()};
}

namespace sip_hash_detail {

inline auto RotateLeft(std::uint64_t x, int bits) noexcept -> std::uint64_t {
  return (x << bits) | (x >> (64 - bits));
}

/// The four words of state.
struct State {
  std::uint64_t v0;  ///< takes in each word after the rounds
  std::uint64_t v1;  ///< named as in the paper
  std::uint64_t v2;  ///< marked at the end
  std::uint64_t v3;  ///< takes in each word before the rounds

  /// Runs one SipRound: add, rotate, xor.
  void Round() noexcept {
    v0 += v1;
    v1 = RotateLeft(v1, 13) ^ v0;
    v0 = RotateLeft(v0, 32);
    v2 += v3;
    v3 = RotateLeft(v3, 16) ^ v2;
    v0 += v3;
    v3 = RotateLeft(v3, 21) ^ v0;
    v2 += v1;
    v1 = RotateLeft(v1, 17) ^ v2;
    v2 = RotateLeft(v2, 32);
  }
};

// Reads up to eight bytes as a little-endian number. Compilers turn a full one into one load.
inline auto LoadWord(const char* bytes, std::size_t count) noexcept -> std::uint64_t {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < count; ++i) {
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return word;
}

}  // namespace sip_hash_detail

/// Computes the SipHash-c-d of some bytes.
/// @tparam kCompress the rounds for each eight bytes.
/// @tparam kFinish the rounds at the end.
/// @param key the secret.
/// @param bytes the bytes to hash.
/// @return the hash, 64 bits.
template <int kCompress, int kFinish>
[[nodiscard]] auto SipHash(const HashKey& key, std::string_view bytes) noexcept -> std::uint64_t {
  sip_hash_detail::State state{key.k0 ^ 0x736f6d6570736575U, key.k1 ^ 0x646f72616e646f6dU,
                               key.k0 ^ 0x6c7967656e657261U, key.k1 ^ 0x7465646279746573U};
  const auto absorb = [&state](std::uint64_t word) {
    state.v3 ^= word;
    for (int i = 0; i < kCompress; ++i) {
      state.Round();
    }
    state.v0 ^= word;
  };
  const std::size_t full = bytes.size() & ~std::size_t{7};
  for (std::size_t at = 0; at < full; at += 8) {
    absorb(sip_hash_detail::LoadWord(bytes.data() + at, 8));
  }
  // The top byte is the length, so "a" and "a\0" differ.
  absorb(sip_hash_detail::LoadWord(bytes.data() + full, bytes.size() - full) |
         (static_cast<std::uint64_t>(bytes.size()) << 56));
  state.v2 ^= 0xff;
  for (int i = 0; i < kFinish; ++i) {
    state.Round();
  }
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

/// Hashes text that strangers choose, for use as the keys of a table.
class KeyedHash {
 public:
  /// Draws its own key: no two tables agree.
  KeyedHash() : key_(RandomHashKey()) {}
  /// Uses a known key, for tests.
  explicit KeyedHash(const HashKey& key) noexcept : key_(key) {}

  /// Returns the hash of a text.
  auto operator()(std::string_view text) const noexcept -> std::uint64_t {
    return SipHash<1, 3>(key_, text);
  }

 private:
  HashKey key_;
};

}  // namespace TURTLE_SERVER
