// Encoders for gzip that don't begin with an allocation.
//
//   GzipPool pool(4);  // one for each loop
//   std::unique_ptr<Encoder> encoder = pool.Take(Effort::kLow, body.size());
//   encoder->Encode(body, Flush::kEnd, coded);
//   encoder.reset();  // its stream is ready for the next body
//
// A new stream of zlib allocates and clears some 256 KiB. For a short body that takes longer than
// the compression. deflateReset() makes a stream that has been used as good as new, and keeps its
// memory.
//
// Interface:
//  * Take() returns an encoder, with a spare stream if there is one that fits.
//  * Made() and Spare() count streams.
//
// Thread: one at a time, and so are the encoders: give each loop its own pool.
// Source: https://zlib.net/manual.html
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/namespace.h"
#include "compress/encoder.h"

namespace TURTLE_SERVER {

/// Spare streams of one loop.
class GzipPool {
 public:
  /// @param most streams that are spare at a time; 0: none is kept. Any number is allowed: it costs
  ///     nothing until there are so many.
  explicit GzipPool(std::size_t most);

  /// Encoders that are still in use may be destroyed afterwards: they free their streams then.
  ~GzipPool();

  GzipPool(const GzipPool&) = delete;
  auto operator=(const GzipPool&) -> GzipPool& = delete;

  /// Returns an encoder for one body. It makes the same bytes as MakeEncoder() with Coding::kGzip
  /// and these parameters, whatever its stream was used for before.
  ///
  /// A spare stream fits if it was made for the same effort and the same window. The window follows
  /// from `size`, so 900 and 1000 bytes share streams, and 900 and 9000 don't. If several fit, it
  /// is the one that was given back last: its memory is the likeliest to be in the core's cache.
  /// With a spare stream, zlib allocates nothing.
  ///
  /// The encoder's destructor gives the stream back, whether the body has come to its end or not.
  /// That neither throws nor allocates. If there are more than `most` spare streams afterwards, the
  /// one that was given back first is freed. So those that nobody takes make room.
  ///
  /// @param effort how hard it tries
  /// @param size of the whole body in bytes, if it is known
  /// @throws std::bad_alloc; no stream is lost then
  [[nodiscard]] auto Take(Effort effort, std::optional<std::size_t> size = std::nullopt)
      -> std::unique_ptr<Encoder>;

  /// Returns how many streams the pool has made so far, because none that was spare fitted.
  [[nodiscard]] auto Made() const noexcept -> std::uint64_t;

  /// Returns how many streams are spare now.
  [[nodiscard]] auto Spare() const noexcept -> std::size_t;

 private:
  // TODO: its data
};

}  // namespace TURTLE_SERVER
