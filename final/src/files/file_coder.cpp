#include "files/file_coder.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "compress/make_encoder.h"
#include "files/read_file.h"
#include "log/log.h"

namespace TURTLE_SERVER {

FileCoder::~FileCoder() {
  if (round_) {
    looper_.Cancel(*round_);
  }
}

auto FileCoder::Code(const PinTo<CachedFile>& file, Coding coding) -> PinTo<CachedFile> {
  const std::size_t size = file->BodyBytes();
  if (file->IsUseless(coding) || size > kMaxBytes || IsUnderWay(*file, coding)) {
    return {};
  }
  const bool is_short = size <= kStep;
  if (!is_short && jobs_.size() == kMaxJobs) {
    return {};  // the next client asks again
  }
  Job job{file, coding, MakeEncoder(coding, Effort::kHigh, size)};
  if (is_short) {
    return Step(job) ? Finish(job) : PinTo<CachedFile>();
  }
  jobs_.push_back(std::move(job));
  AwaitRound();
  return {};
}

auto FileCoder::IsUnderWay(const CachedFile& file, Coding coding) const noexcept -> bool {
  return std::any_of(jobs_.begin(), jobs_.end(),
                     [&](const Job& job) { return &*job.file == &file && job.coding == coding; });
}

// A timer that is due runs in the next round, so the clients are served in between.
void FileCoder::AwaitRound() {
  if (!round_) {
    round_ = looper_.RunAfter(Clock::duration::zero(), [this] { OnRound(); });
  }
}

void FileCoder::OnRound() {
  round_.reset();
  Job& job = jobs_.front();
  bool is_over = true;
  try {
    is_over = !Step(job) || job.done == job.file->BodyBytes();
    if (is_over) {
      Finish(job);
    }
  } catch (...) {
    LogException("compressing a file");
  }
  if (is_over) {
    jobs_.pop_front();
  }
  if (!jobs_.empty()) {
    AwaitRound();
  }
}

// Encodes the next piece. @return false if the file no longer has it
auto FileCoder::Step(Job& job) -> bool {
  const CachedFile& file = *job.file;
  const std::size_t count = std::min(kStep, file.BodyBytes() - job.done);
  const Flush flush = job.done + count == file.BodyBytes() ? Flush::kEnd : Flush::kNone;
  if (file.GetFd() < 0) {
    job.encoder->Encode(file.Content().substr(job.done, count), flush, job.coded);
  } else if (const auto piece = ReadFile(file.GetFd(), job.done, count)) {
    job.encoder->Encode(*piece, flush, job.coded);
  } else {
    return false;
  }
  job.done += count;
  return true;
}

auto FileCoder::Finish(const Job& job) -> PinTo<CachedFile> {
  PinTo<CachedFile> variant;
  if (job.done == job.file->BodyBytes() && job.coded.size() < job.done) {
    variant = cache_.AddVariant(job.file, job.coding, job.coded);
  }
  if (!variant) {
    job.file->SetUseless(job.coding);
  }
  return variant;
}

}  // namespace TURTLE_SERVER
