#ifdef TURTLE_WITH_IO_URING

#include "uring/ring.h"

#include <linux/time_types.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#if defined(__SANITIZE_THREAD__)
#define TURTLE_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TURTLE_THREAD_SANITIZER
#endif
#endif

namespace TURTLE_SERVER {

namespace {

// This is longer than any wait, and short enough to be expressed in nanoseconds.
constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);

// ThreadSanitizer orders what one thread sends before what another thread receives after it. It
// learns that from calls of send() and recv(), and does not see those of a ring. So for it alone, a
// thread that enters the kernel sends itself a byte. Annotations, such as __tsan_release(), can't
// do that: a client calls recv(), whose order has no address to name.
#ifdef TURTLE_THREAD_SANITIZER
auto ConnectedToItself() noexcept -> UniqueFd {
  UniqueFd own(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const bool connected = ::bind(own.Get(), any, size) == 0 &&
                         ::getsockname(own.Get(), any, &size) == 0 &&
                         ::connect(own.Get(), any, size) == 0;
  return connected ? std::move(own) : UniqueFd();
}

void ShowOrder() noexcept {
  const int error = errno;
  static thread_local const UniqueFd own = ConnectedToItself();
  char byte = 0;
  static_cast<void>(::send(own.Get(), &byte, 1, 0));
  static_cast<void>(::recv(own.Get(), &byte, 1, 0));
  errno = error;
}
#else
void ShowOrder() noexcept {}
#endif

auto Check(std::int64_t result, const char* what) -> int {
  if (result < 0) {
    throw std::system_error(errno, std::generic_category(), what);
  }
  return static_cast<int>(result);
}

auto Wanted() -> io_uring_params {
  io_uring_params params{};
  // One thread submits, and the kernel works when that thread asks for completions, not in between.
  // Which thread is not known yet: so the ring starts disabled.
  params.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE |
                 IORING_SETUP_R_DISABLED;
  params.cq_entries = Ring::kCompletions;
  return params;
}

// The kernel always sets close-on-exec on the descriptor.
auto SetUp(io_uring_params& params) -> UniqueFd {
  return UniqueFd(
      Check(::syscall(SYS_io_uring_setup, Ring::kSubmissions, &params), "io_uring_setup"));
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
    throw std::system_error(errno, std::generic_category(), "mmap of a ring");
  }
  start_ = static_cast<char*>(start);
}

Mapping::~Mapping() { ::munmap(start_, size_); }

Ring::Ring() : Ring(Wanted()) {}

// `params` holds the requested values; the first member's initialiser lets the kernel fill in the
// rest.
Ring::Ring(io_uring_params params)
    : ring_(SetUp(params)),
      queues_(ring_.Get(), QueuesSize(params), IORING_OFF_SQ_RING),
      submission_memory_(ring_.Get(), params.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES),
      buffer_ring_(-1, kBufferCount * sizeof(io_uring_buf), 0),
      memory_(-1, kBufferCount * kBufferSize, 0),
      submissions_(submission_memory_.At<io_uring_sqe>(0)),
      submission_head_(queues_.At<unsigned>(params.sq_off.head)),
      submission_tail_(queues_.At<unsigned>(params.sq_off.tail)),
      completions_(queues_.At<io_uring_cqe>(params.cq_off.cqes)),
      completion_head_(queues_.At<unsigned>(params.cq_off.head)),
      completion_tail_(queues_.At<unsigned>(params.cq_off.tail)),
      completion_mask_(params.cq_entries - 1) {
  auto* order = queues_.At<unsigned>(params.sq_off.array);
  for (unsigned i = 0; i < kSubmissions; ++i) {
    order[i] = i;  // entry by entry
  }
  OfferBuffers();
}

void Ring::OfferBuffers() {
  io_uring_buf_reg offer{};
  offer.ring_addr = reinterpret_cast<std::uintptr_t>(buffer_ring_.At<char>(0));
  offer.ring_entries = kBufferCount;
  Check(::syscall(SYS_io_uring_register, ring_.Get(), IORING_REGISTER_PBUF_RING, &offer, 1),
        "io_uring_register: buffers");
  for (unsigned id = 0; id < kBufferCount; ++id) {
    GiveBack(id);
  }
}

void Ring::GiveBack(unsigned id) noexcept {
  // The kernel's `tail` is within the first entry, so an entry's members are set one by one. The
  // array begins where the ring does: C++ has no name for it that all headers agree on.
  io_uring_buf& entry = buffer_ring_.At<io_uring_buf>(0)[buffer_tail_ & (kBufferCount - 1)];
  entry.addr = reinterpret_cast<std::uintptr_t>(Buffer(id));
  entry.len = kBufferSize;
  entry.bid = static_cast<std::uint16_t>(id);
  ++buffer_tail_;
  __atomic_store_n(&buffer_ring_.At<io_uring_buf_ring>(0)->tail, buffer_tail_, __ATOMIC_RELEASE);
}

auto Ring::HasRoom(unsigned count) noexcept -> bool {
  const auto room = [this] {
    return kSubmissions - (prepared_ - __atomic_load_n(submission_head_, __ATOMIC_ACQUIRE));
  };
  if (room() < count && has_owner_) {
    Submit(0, 0, nullptr);  // their completions are reaped as usual
  }
  return room() >= count;
}

auto Ring::Next() noexcept -> io_uring_sqe& {
  io_uring_sqe& submission = submissions_[prepared_ & (kSubmissions - 1)];
  submission = io_uring_sqe{};
  ++prepared_;
  return submission;
}

void Ring::Close(int fd) noexcept {
#ifdef TURTLE_THREAD_SANITIZER
  // This shows the sanitizer that the number is free. Prepared submissions still refer to this
  // descriptor.
  if (has_owner_) {
    HandOver();
    ::close(fd);
    return;
  }
#endif
  io_uring_sqe& submission = Next();
  submission.opcode = IORING_OP_CLOSE;
  submission.fd = fd;
  submission.flags = IOSQE_CQE_SKIP_SUCCESS;
}

auto Ring::Withdraw(std::uint32_t submission) noexcept -> bool {
  const std::uint32_t taken = __atomic_load_n(submission_head_, __ATOMIC_ACQUIRE);
  if (prepared_ - submission > prepared_ - taken) {
    return false;
  }
  io_uring_sqe& withdrawn = submissions_[submission & (kSubmissions - 1)];
  withdrawn = io_uring_sqe{};
  withdrawn.opcode = IORING_OP_NOP;
  withdrawn.flags = IOSQE_CQE_SKIP_SUCCESS;
  return true;
}

void Ring::Enter(std::optional<std::chrono::milliseconds> timeout) {
  if (!has_owner_) {
    TakeOver();
  }
  constexpr std::chrono::milliseconds kNone{0};
  const std::int64_t limit = std::clamp(timeout.value_or(kLongest), kNone, kLongest).count();
  __kernel_timespec time{limit / 1000, limit % 1000 * 1'000'000};
  io_uring_getevents_arg wait{};
  wait.ts = timeout ? reinterpret_cast<std::uintptr_t>(&time) : 0;
  const bool waits = limit != 0;
  const int error = Submit(IORING_ENTER_GETEVENTS | (waits ? IORING_ENTER_EXT_ARG : 0),
                           waits ? 1 : 0, waits ? &wait : nullptr);
  // ETIME: the time is over. EINTR: a signal. The others: no memory at present, for a request or
  // for the waiting completions; the next call tries again. EBADR: there was no memory for a
  // completion, which is lost; the waiting caller has its deadlines.
  if (error != 0 && error != ETIME && error != EINTR && error != EAGAIN && error != EBUSY &&
      error != ENOMEM && error != EBADR) {
    throw std::system_error(error, std::generic_category(), "io_uring_enter");
  }
}

void Ring::TakeOver() {
  Check(::syscall(SYS_io_uring_register, ring_.Get(), IORING_REGISTER_ENABLE_RINGS, nullptr, 0),
        "io_uring_register: enable");
  has_owner_ = true;
}

// Returns 0 or an errno value.
auto Ring::Submit(unsigned flags, unsigned wait_for, const io_uring_getevents_arg* limit) noexcept
    -> int {
  ShowOrder();
  __atomic_store_n(submission_tail_, prepared_, __ATOMIC_RELEASE);
  const std::uint32_t count = prepared_ - __atomic_load_n(submission_head_, __ATOMIC_ACQUIRE);
  const std::int64_t taken =
      ::syscall(SYS_io_uring_enter, ring_.Get(), count, wait_for, flags, limit,
                limit != nullptr ? sizeof(io_uring_getevents_arg) : 0);
  ShowOrder();
  return taken < 0 ? errno : 0;
}

}  // namespace TURTLE_SERVER

#endif  // TURTLE_WITH_IO_URING
