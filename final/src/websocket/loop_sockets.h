// The buffers and options that the WebSockets of one path share on one loop.
//
// A socket that is between two messages keeps no buffer. It borrows a MessageReader when bytes come
// in, and gives it back after the last whole message. So ten thousand silent clients cost no more
// than their sessions, and a busy one allocates nothing.
//
// Interface:
//  * TakeReader() and GiveBack() lend a reader.
//  * DeflaterFor() and Scratch() serve the sockets that keep no context.
//  * Options() and Handlers() are the path's.
//
// Thread: the loop's.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "compress/raw_deflate.h"
#include "websocket/message_reader.h"
#include "websocket/websocket_handlers.h"
#include "websocket/websocket_options.h"

namespace TURTLE_SERVER {

/// The functions and limits of a path.
struct WebSocketRoute {
  WebSocketHandlers handlers;  ///< its functions
  WebSocketOptions options;    ///< its limits
};

/// One loop's part of a path.
class LoopSockets {
 public:
  /// The readers that are kept for the next message.
  static constexpr std::size_t kSpareReaders = 16;
  /// The memory that a spare reader, or the scratch, may keep.
  static constexpr std::size_t kSpareBytes = MessageReader::kKeptBytes;

  /// @param route shared by the loops, which never change it
  explicit LoopSockets(std::shared_ptr<const WebSocketRoute> route) : route_(std::move(route)) {
    spare_.reserve(kSpareReaders);
  }

  /// Returns the path's limits.
  [[nodiscard]] auto Options() const noexcept -> const WebSocketOptions& { return route_->options; }

  /// Returns the path's functions.
  [[nodiscard]] auto Handlers() const noexcept -> const WebSocketHandlers& {
    return route_->handlers;
  }

  /// Lends a reader. Throws std::bad_alloc.
  [[nodiscard]] auto TakeReader(const ReaderRules& rules) -> std::unique_ptr<MessageReader> {
    std::unique_ptr<MessageReader> reader;
    if (spare_.empty()) {
      reader = std::make_unique<MessageReader>();
    } else {
      reader = std::move(spare_.back());
      spare_.pop_back();
    }
    reader->Begin(rules);
    return reader;
  }

  /// Takes a reader back.
  void GiveBack(std::unique_ptr<MessageReader> reader) noexcept {
    if (spare_.size() < kSpareReaders && reader->Capacity() <= kSpareBytes) {
      spare_.push_back(std::move(reader));
    }
  }

  /// Returns a deflater that knows no earlier message. Throws std::bad_alloc.
  [[nodiscard]] auto DeflaterFor(int window_bits) -> RawDeflater& {
    std::unique_ptr<RawDeflater>& deflater =
        deflaters_[static_cast<std::size_t>(window_bits - kLeastWindowBits)];
    if (deflater) {
      deflater->Reset();
    } else {
      deflater = std::make_unique<RawDeflater>(window_bits);
    }
    return *deflater;
  }

  /// Returns an empty text for a compressed message; valid until the next call.
  [[nodiscard]] auto Scratch() -> std::string& {
    if (scratch_.capacity() > kSpareBytes) {
      std::string().swap(scratch_);
    }
    scratch_.clear();
    return scratch_;
  }

 private:
  const std::shared_ptr<const WebSocketRoute> route_;
  std::vector<std::unique_ptr<MessageReader>> spare_;
  std::array<std::unique_ptr<RawDeflater>, kMostWindowBits - kLeastWindowBits + 1> deflaters_;
  std::string scratch_;
};

}  // namespace TURTLE_SERVER
