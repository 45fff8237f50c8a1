#include "websocket/accept_key.h"

#include <cstddef>

namespace TURTLE_SERVER {

namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t kBlock = 64;  // bytes, of SHA-1

using Words = std::array<std::uint32_t, 5>;

constexpr auto Rotate(std::uint32_t word, int bits) noexcept -> std::uint32_t {
  return word << bits | word >> (32 - bits);
}

// Mixes one block into the state.
void MixBlock(const char* block, Words& state) noexcept {
  std::array<std::uint32_t, 80> words{};
  for (std::size_t i = 0; i < kBlock; ++i) {
    words[i / 4] = words[i / 4] << 8 | static_cast<std::uint8_t>(block[i]);
  }
  for (std::size_t i = 16; i < words.size(); ++i) {
    words[i] = Rotate(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  }
  auto [a, b, c, d, e] = state;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t mixed = i < 20   ? ((b & c) | (~b & d)) + 0x5A827999
                                : i < 40 ? (b ^ c ^ d) + 0x6ED9EBA1
                                : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDC
                                         : (b ^ c ^ d) + 0xCA62C1D6;
    const std::uint32_t next = Rotate(a, 5) + mixed + e + words[i];
    e = d;
    d = c;
    c = Rotate(b, 30);
    b = a;
    a = next;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

}  // namespace

auto Sha1(std::string_view text) -> std::array<std::uint8_t, 20> {
  std::string padded(text);
  padded.push_back('\x80');
  padded.resize((padded.size() + 8 + kBlock - 1) / kBlock * kBlock - 8);
  for (int shift = 56; shift >= 0; shift -= 8) {
    padded.push_back(static_cast<char>(std::uint64_t{text.size()} * 8 >> shift & 0xFF));
  }
  Words state = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  for (std::size_t at = 0; at < padded.size(); at += kBlock) {
    MixBlock(padded.data() + at, state);
  }
  std::array<std::uint8_t, 20> digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(state[i / 4] >> 8 * (3 - i % 4) & 0xFF);
  }
  return digest;
}

auto Base64(std::string_view bytes) -> std::string {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view three = bytes.substr(at, 3);
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      word = word << 8 | (i < three.size() ? static_cast<std::uint8_t>(three[i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text.push_back(i <= three.size() ? kAlphabet[word >> 6 * (3 - i) & 0x3F] : '=');
    }
  }
  return text;
}

auto IsClientKey(std::string_view key) noexcept -> bool {
  constexpr std::size_t kDigits = 22;  // of six bits: 128, and four that are zero
  return key.size() == kDigits + 2 && key.substr(kDigits) == "==" &&
         key.substr(0, kDigits).find_first_not_of(kAlphabet) == std::string_view::npos;
}

auto AcceptKey(std::string_view key) -> std::string {
  constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  const auto digest = Sha1(std::string(key).append(kGuid));
  return Base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace TURTLE_SERVER
