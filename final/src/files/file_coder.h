// Encodes files of a cache while their loop serves others.
//
// A short file is encoded when the first client asks for it. A long one would keep the other
// clients waiting, so it is encoded in steps, one in each round of the loop. Until it is ready,
// clients get the file as it is.
//
// Interface:
//  * Code() returns the encoded file, or begins to make it.
//
// Thread: the loop's.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "compress/coding.h"
#include "compress/encoder.h"
#include "core/looper.h"
#include "core/timer_queue.h"
#include "files/file_cache.h"

namespace TURTLE_SERVER {

/// Makes variants of cached files.
class FileCoder {
 public:
  /// The bytes that are encoded in one round: some 1 ms.
  static constexpr std::size_t kStep = std::size_t{32} * 1024;
  /// A longer file is sent as it is, in bytes, unless it has been encoded in advance.
  static constexpr std::size_t kMaxBytes = std::size_t{8} * 1024 * 1024;

  /// The files that wait, or are being encoded. Each keeps its entry, and so an open file.
  static constexpr std::size_t kMaxJobs = 16;

  /// @param looper outlives this object
  /// @param cache of the files; outlives this object
  FileCoder(Looper& looper, FileCache& cache) : looper_(looper), cache_(cache) {}
  ~FileCoder();
  FileCoder(const FileCoder&) = delete;
  auto operator=(const FileCoder&) -> FileCoder& = delete;

  /// Encodes a file, or begins to.
  /// @param file an entry of the cache, without a variant of this coding
  /// @param coding not kIdentity
  /// @return the variant; empty: it is not ready, or it would be of no use, or too many others are
  ///     under way
  auto Code(const PinTo<CachedFile>& file, Coding coding) -> PinTo<CachedFile>;

 private:
  // A file that is being encoded.
  struct Job {
    PinTo<CachedFile> file;
    Coding coding;
    std::unique_ptr<Encoder> encoder;
    std::size_t done = 0;  // plain bytes
    std::string coded{};
  };

  [[nodiscard]] auto IsUnderWay(const CachedFile& file, Coding coding) const noexcept -> bool;
  static auto Step(Job& job) -> bool;
  auto Finish(const Job& job) -> PinTo<CachedFile>;
  void AwaitRound();
  void OnRound();

  Looper& looper_;
  FileCache& cache_;
  std::deque<Job> jobs_;
  std::optional<TimerId> round_;  // set while there are jobs
};

}  // namespace TURTLE_SERVER
