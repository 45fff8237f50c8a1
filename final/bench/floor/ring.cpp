#include "ring.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace TURTLE_SERVER {

namespace {

constexpr unsigned kSubmissions = 4096;
constexpr unsigned kCompletions = 32768;

auto Check(int64_t result, const char* what) -> int {
  if (result < 0) {
    throw std::system_error(errno, std::system_category(), what);
  }
  return static_cast<int>(result);
}

auto Parameters() -> io_uring_params {
  io_uring_params params{};
  // One thread submits, and completions are worked on when it asks for them, not in between.
  params.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE;
  params.cq_entries = kCompletions;
  return params;
}

auto SetUp(io_uring_params& params) -> UniqueFd {
  return UniqueFd(Check(::syscall(SYS_io_uring_setup, kSubmissions, &params), "io_uring_setup"));
}

auto QueuesSize(const io_uring_params& params) -> std::size_t {
  return std::max<std::size_t>(params.sq_off.array + params.sq_entries * sizeof(unsigned),
                               params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe));
}

}  // namespace

Mapping::Mapping(int fd, std::size_t size, std::uint64_t offset) : size_(size) {
  const int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED | MAP_POPULATE;
  void* start =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, fd, static_cast<off_t>(offset));
  if (start == MAP_FAILED) {
    throw std::system_error(errno, std::system_category(), "mmap of a ring");
  }
  start_ = static_cast<char*>(start);
}

Mapping::~Mapping() {
  if (start_ != nullptr) {
    ::munmap(start_, size_);
  }
}

Ring::Ring() : Ring(Parameters()) {}

// `params` holds the requested values; the first member's initialiser lets the kernel fill in the
// rest.
Ring::Ring(io_uring_params params)
    : ring_(SetUp(params)),
      queues_(ring_.Get(), QueuesSize(params), IORING_OFF_SQ_RING),
      submission_memory_(ring_.Get(), params.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES),
      buffer_ring_(-1, kBufferCount * sizeof(io_uring_buf), 0),
      submissions_(submission_memory_.At<io_uring_sqe>(0)),
      submission_head_(queues_.At<unsigned>(params.sq_off.head)),
      submission_tail_(queues_.At<unsigned>(params.sq_off.tail)),
      submission_count_(params.sq_entries),
      completions_(queues_.At<io_uring_cqe>(params.cq_off.cqes)),
      completion_head_(queues_.At<unsigned>(params.cq_off.head)),
      completion_tail_(queues_.At<unsigned>(params.cq_off.tail)),
      completion_mask_(params.cq_entries - 1) {
  auto* order = queues_.At<unsigned>(params.sq_off.array);
  for (unsigned i = 0; i < params.sq_entries; ++i) {
    order[i] = i;
  }
  RegisterSlots();
  RegisterBuffers();
}

void Ring::RegisterSlots() {
  io_uring_rsrc_register slots{};
  slots.nr = kSlots;
  slots.flags = IORING_RSRC_REGISTER_SPARSE;
  Check(
      ::syscall(SYS_io_uring_register, ring_.Get(), IORING_REGISTER_FILES2, &slots, sizeof(slots)),
      "io_uring_register: slots for sockets");
}

void Ring::RegisterBuffers() {
  buffers_ = buffer_ring_.At<io_uring_buf_ring>(0);
  io_uring_buf_reg ring{};
  ring.ring_addr = reinterpret_cast<std::uintptr_t>(buffers_);
  ring.ring_entries = kBufferCount;
  Check(::syscall(SYS_io_uring_register, ring_.Get(), IORING_REGISTER_PBUF_RING, &ring, 1),
        "io_uring_register: buffers");
  for (unsigned id = 0; id < kBufferCount; ++id) {
    GiveBack(id);
  }
  __atomic_store_n(&buffers_->tail, buffer_tail_, __ATOMIC_RELEASE);
}

void Ring::GiveBack(unsigned id) {
  // The kernel's `tail` lies within the first entry, so its members are set one by one. The array
  // itself begins where the ring does: C++ has no name for it that all headers agree on.
  io_uring_buf& entry = buffer_ring_.At<io_uring_buf>(0)[buffer_tail_ & (kBufferCount - 1)];
  entry.addr = reinterpret_cast<std::uintptr_t>(memory_.data() + id * kBufferSize);
  entry.len = kBufferSize;
  entry.bid = static_cast<std::uint16_t>(id);
  ++buffer_tail_;
}

auto Ring::Next() -> io_uring_sqe& {
  if (prepared_ - __atomic_load_n(submission_head_, __ATOMIC_ACQUIRE) == submission_count_) {
    Enter(0);
  }
  io_uring_sqe& submission = submissions_[prepared_ & (submission_count_ - 1)];
  submission = io_uring_sqe{};
  ++prepared_;
  return submission;
}

void Ring::Enter(unsigned wait_for) {
  __atomic_store_n(submission_tail_, prepared_, __ATOMIC_RELEASE);
  const int64_t taken = ::syscall(SYS_io_uring_enter, ring_.Get(), prepared_ - submitted_, wait_for,
                                  IORING_ENTER_GETEVENTS, nullptr, 0);
  if (taken < 0 && errno != EINTR) {
    throw std::system_error(errno, std::system_category(), "io_uring_enter");
  }
  submitted_ += taken < 0 ? 0 : static_cast<unsigned>(taken);
}

}  // namespace TURTLE_SERVER
