#include "compress/raw_deflate.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <new>

namespace TURTLE_SERVER {

namespace {

constexpr std::string_view kTail("\x00\x00\xff\xff", 4);  // of an empty block that isn't compressed
constexpr std::size_t kStep = std::size_t{16} * 1024;     // bytes of output at a time
constexpr std::size_t kMaxInput = std::numeric_limits<uInt>::max();

auto InputOf(std::string_view text) noexcept -> Bytef* {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // NOLINT: z_const
}

}  // namespace

// zlib has no window of 8 bits. With 9 it refers back at most 512 - 262 = 250 bytes, which a peer
// with a window of 256 can follow.
RawDeflater::RawDeflater(int window_bits) : stream_(std::make_unique<z_stream_s>()) {
  constexpr int kLevel = 4;  // beyond it, each level takes much longer for few bytes
  constexpr int kMemory = 8;
  const int bits = std::max(window_bits, kLeastWindowBits + 1);
  if (deflateInit2(stream_.get(), kLevel, Z_DEFLATED, -bits, std::min(bits - 7, kMemory),
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
}

RawDeflater::~RawDeflater() { deflateEnd(stream_.get()); }

void RawDeflater::Add(std::string_view plain, std::string& coded) {
  if (plain.empty()) {
    coded.push_back('\0');  // zlib would not flush a second time (RFC 7692, section 7.2.3.6)
    return;
  }
  std::size_t used = coded.size();
  do {
    const std::string_view piece = plain.substr(0, kMaxInput);
    plain.remove_prefix(piece.size());
    stream_->next_in = InputOf(piece);
    stream_->avail_in = static_cast<uInt>(piece.size());
    do {
      coded.resize(used + std::min(kStep, piece.size() + 64));
      stream_->next_out = reinterpret_cast<Bytef*>(&coded[used]);
      stream_->avail_out = static_cast<uInt>(coded.size() - used);
      const int result = deflate(stream_.get(), plain.empty() ? Z_SYNC_FLUSH : Z_NO_FLUSH);
      assert(result != Z_STREAM_ERROR);
      static_cast<void>(result);
      used = coded.size() - stream_->avail_out;
    } while (stream_->avail_out == 0);
  } while (!plain.empty());
  coded.resize(used - kTail.size());
}

void RawDeflater::Reset() noexcept { deflateReset(stream_.get()); }

RawInflater::RawInflater(int window_bits) : stream_(std::make_unique<z_stream_s>()) {
  if (inflateInit2(stream_.get(), -window_bits) != Z_OK) {
    throw std::bad_alloc();
  }
}

RawInflater::~RawInflater() { inflateEnd(stream_.get()); }

auto RawInflater::Add(std::string_view coded, std::string& plain, std::size_t most)
    -> InflateState {
  std::array<char, kStep> room;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
  while (!coded.empty()) {
    const std::string_view piece = coded.substr(0, kMaxInput);
    stream_->next_in = InputOf(piece);
    stream_->avail_in = static_cast<uInt>(piece.size());
    int result = Z_OK;
    do {
      stream_->next_out = reinterpret_cast<Bytef*>(room.data());
      stream_->avail_out = static_cast<uInt>(room.size());
      result = inflate(stream_.get(), Z_SYNC_FLUSH);
      if (result == Z_MEM_ERROR) {
        throw std::bad_alloc();  // the window is allocated when it is needed
      }
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
        return InflateState::kDamaged;
      }
      const std::size_t count = room.size() - stream_->avail_out;
      if (count > most - plain.size()) {
        return InflateState::kTooLarge;
      }
      plain.append(room.data(), count);
    } while (stream_->avail_out == 0 && result != Z_STREAM_END);
    coded.remove_prefix(piece.size() - stream_->avail_in);
    if (result == Z_STREAM_END && !GoOnAfterEnd()) {
      return InflateState::kDamaged;
    }
  }
  return InflateState::kOk;
}

auto RawInflater::End(std::string& plain, std::size_t most) -> InflateState {
  constexpr int kBlockHasEnded = 128;  // zlib.h, data_type
  const InflateState state = Add(kTail, plain, most);
  last_blocks_ = 0;
  const bool is_whole = (stream_->data_type & kBlockHasEnded) != 0;
  return state == InflateState::kOk && !is_whole ? InflateState::kDamaged : state;
}

void RawInflater::Reset() noexcept {
  inflateReset(stream_.get());
  last_blocks_ = 0;
}

// A block may be marked as the last one, and others follow anyway (RFC 7692, section 7.2.3.4). zlib
// then has to begin again, with the same window.
auto RawInflater::GoOnAfterEnd() -> bool {
  std::array<Bytef, std::size_t{1} << kMostWindowBits> window;  // NOLINT: zlib fills it in
  uInt size = 0;
  return ++last_blocks_ <= kMostLastBlocks &&
         inflateGetDictionary(stream_.get(), window.data(), &size) == Z_OK &&
         inflateReset(stream_.get()) == Z_OK &&
         inflateSetDictionary(stream_.get(), window.data(), size) == Z_OK;
}

}  // namespace TURTLE_SERVER
