// Makes one call of the C library fail, in a program that knows nothing of it (LD_PRELOAD).
//
//   TURTLE_FAULT="recv 104 3 1"   the third recv(2), and one call in all, fails with errno 104
//   TURTLE_FAULT_CALLS=FILE       4096 bytes, which are mapped: how often each was called, and
//                                 what fails. A test that maps them chooses the next fault
//
// Besides errno values there are two other outcomes: -1, the call moves only one byte, and 0, it
// returns 0 without having done anything (the end of a file, or no child to wait for).
//
// Only outcomes that a caller may really meet are produced. A short read of a socket tells an
// edge-triggered reader that the socket is empty, and EAGAIN that an event will follow (epoll(7));
// to invent either would be a lie. So neither is done to a socket's input, nor EAGAIN to its
// output, and calls that can't fail on the descriptors in question are not counted.
//
// Requests that the server submits to io_uring(7) fail too, and are counted as ring_receive,
// ring_send, ring_accept and ring_poll. Such a request gets a descriptor that doesn't exist, so
// nothing is done for it, and its completion gets the requested errno value.
//
// Nothing is counted before main() or after it. vfork(2) becomes fork(2), since a function that
// returns twice can't be wrapped; the counters are shared with the child.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kShort = -1;
constexpr int kNothing = 0;
constexpr int kPass = -2;

struct Counter {
  char name[24];
  std::atomic<std::uint64_t> calls;
};

struct Fault {
  char name[24];
  std::int64_t outcome;
  std::uint64_t first;
  std::atomic<std::uint64_t> times;  // 0: nothing fails; set last
};

struct Shared {
  std::atomic<std::uint64_t> fired;
  std::atomic<std::uint64_t> taken;  // a lock that a forked child shares, so it is always released
  Counter counters[64];
  Fault fault;
};

Shared* shared = nullptr;
std::atomic<bool> armed{false};

// Decides what happens to this call.
auto Next(const char* name) -> int {
  if (!armed.load(std::memory_order_relaxed)) {
    return kPass;
  }
  while (shared->taken.exchange(1) != 0) {
  }
  Counter* counter = shared->counters;
  while (counter->name[0] != '\0' && std::strcmp(counter->name, name) != 0) {
    ++counter;
  }
  std::strcpy(counter->name, name);
  const std::uint64_t number = ++counter->calls;
  const Fault& fault = shared->fault;
  const std::uint64_t times = fault.times;  // first
  const bool hit = times > 0 && std::strcmp(fault.name, name) == 0 && number >= fault.first &&
                   number < fault.first + times;
  const auto outcome = static_cast<int>(fault.outcome);
  shared->fired += hit ? 1 : 0;
  shared->taken = 0;
  return hit ? outcome : kPass;
}

auto Real(const char* name) -> void* { return dlsym(RTLD_NEXT, name); }

auto Kind(int fd) -> mode_t {
  static const auto real = reinterpret_cast<int (*)(int, struct stat*)>(Real("fstat"));
  struct stat status {};
  return real(fd, &status) == 0 ? status.st_mode & S_IFMT : 0;
}

auto IsProgramsOutput(int fd) -> bool {  // the other pipe reports a failed start, and can't fail
  return Kind(fd) == S_IFIFO && (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0;
}

// Returns the first byte of a message.
auto OneByte(const msghdr* message, iovec& piece) -> msghdr {
  msghdr less = *message;
  piece = {message->msg_iov->iov_base, 1};
  less.msg_iov = &piece;
  less.msg_iovlen = 1;
  return less;
}

}  // namespace

// A function of the C library. `counts`: this call may fail; `less`: makes it move only one byte;
// `failure`: its return value then.
#define WRAP(result, name, parameters, arguments, counts, less, failure)               \
  static const auto real_##name = reinterpret_cast<result(*) parameters>(Real(#name)); \
  extern "C" auto name parameters->result {                                            \
    const int what = (counts) ? Next(#name) : kPass;                                   \
    if (what == kNothing) {                                                            \
      return {};                                                                       \
    }                                                                                  \
    if (what > 0 || what < kPass) {                                                    \
      errno = what;                                                                    \
      return failure;                                                                  \
    }                                                                                  \
    if (what == kShort) {                                                              \
      less;                                                                            \
    }                                                                                  \
    return real_##name arguments;                                                      \
  }

WRAP(int, socket, (int a, int b, int c), (a, b, c), true, , -1)
WRAP(int, bind, (int fd, const sockaddr* a, socklen_t n), (fd, a, n), true, , -1)
WRAP(int, listen, (int fd, int n), (fd, n), true, , -1)
WRAP(int, setsockopt, (int fd, int a, int b, const void* c, socklen_t d), (fd, a, b, c, d), true, ,
     -1)
WRAP(int, getsockname, (int fd, sockaddr* a, socklen_t* n), (fd, a, n), true, , -1)
WRAP(int, getpeername, (int fd, sockaddr* a, socklen_t* n), (fd, a, n), true, , -1)
WRAP(int, accept4, (int fd, sockaddr* a, socklen_t* n, int f), (fd, a, n, f), true, , -1)
WRAP(int, shutdown, (int fd, int how), (fd, how), true, , -1)
WRAP(ssize_t, recv, (int fd, void* to, size_t n, int f), (fd, to, n, f), true, , -1)
WRAP(ssize_t, send, (int fd, const void* from, size_t n, int f), (fd, from, n, f), true, n = 1, -1)
WRAP(ssize_t, sendmsg, (int fd, const msghdr* m, int f), (fd, m, f), true, iovec piece{};
     const msghdr one = OneByte(m, piece); return real_sendmsg(fd, &one, f), -1)
WRAP(ssize_t, sendfile, (int to, int from, off_t* at, size_t n), (to, from, at, n), true, n = 1, -1)
WRAP(ssize_t, read, (int fd, void* to, size_t n), (fd, to, n), IsProgramsOutput(fd), n = 1, -1)
WRAP(ssize_t, pread, (int fd, void* to, size_t n, off_t at), (fd, to, n, at), true, n = 1, -1)
WRAP(ssize_t, write, (int fd, const void* from, size_t n), (fd, from, n),
     fd > 2 && Kind(fd) == S_IFREG, n = 1, -1)
WRAP(int, epoll_create1, (int f), (f), true, , -1)
WRAP(int, epoll_ctl, (int fd, int what_to_do, int other, epoll_event* e),
     (fd, what_to_do, other, e), what_to_do == EPOLL_CTL_ADD, , -1)
WRAP(int, epoll_wait, (int fd, epoll_event* e, int n, int t), (fd, e, n, t), true, n = 1, -1)
WRAP(int, eventfd, (unsigned n, int f), (n, f), true, , -1)
WRAP(int, inotify_init1, (int f), (f), true, , -1)
WRAP(int, inotify_add_watch, (int fd, const char* path, std::uint32_t m), (fd, path, m), true, , -1)
WRAP(int, stat, (const char* path, struct stat* s), (path, s), true, , -1)
WRAP(int, fstat, (int fd, struct stat* s), (fd, s), true, , -1)
WRAP(int, fstatat, (int fd, const char* path, struct stat* s, int f), (fd, path, s, f), true, , -1)
WRAP(int, mkostemp, (char* name, int f), (name, f), true, , -1)
WRAP(int, unlink, (const char* path), (path), true, , -1)
WRAP(int, rename, (const char* from, const char* to), (from, to), true, , -1)
WRAP(int, pipe2, (int* ends, int f), (ends, f), true, , -1)
WRAP(int, dup2, (int from, int to), (from, to), true, , -1)
WRAP(int, fchdir, (int fd), (fd), true, , -1)
WRAP(int, setrlimit, (__rlimit_resource_t which, const rlimit* l), (which, l), true, , -1)
WRAP(int, execve, (const char* path, char* const* a, char* const* e), (path, a, e), true, , -1)
WRAP(pid_t, waitpid, (pid_t pid, int* s, int f), (pid, s, f), true, , -1)
WRAP(int, getaddrinfo, (const char* h, const char* s, const addrinfo* a, addrinfo** r),
     (h, s, a, r), true, , what)
WRAP(int, getnameinfo,
     (const sockaddr* a, socklen_t n, char* h, socklen_t hn, char* s, socklen_t sn, int f),
     (a, n, h, hn, s, sn, f), true, , what)
WRAP(int, pthread_create, (pthread_t * t, const pthread_attr_t* a, void* (*run)(void*), void* x),
     (t, a, run, x), true, , what)

extern "C" auto open(const char* path, int flags, ...) -> int {
  static const auto real = reinterpret_cast<int (*)(const char*, int, ...)>(Real("open"));
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  const int what = Next("open");
  if (what > 0) {
    errno = what;
    return -1;
  }
  return real(path, flags, mode);
}

extern "C" auto vfork() -> pid_t {
  const int what = Next("vfork");
  if (what > 0) {
    errno = what;
    return -1;
  }
  return fork();
}

namespace {

// A ring as the kernel and its owner see it.
struct WrappedRing {
  int fd;
  char* queues;
  io_uring_sqe* submissions;
  io_uring_params params;
  unsigned submitted;  // looked at, of all submissions
  unsigned completed;  // looked at, of all completions

  auto At(unsigned offset) const -> unsigned* {
    return reinterpret_cast<unsigned*>(queues + offset);
  }
};

// A request that will fail, by the name that comes back with its completion.
struct Doomed {
  std::uint64_t name;
  int error;
  bool waits;
};

WrappedRing rings[16];
std::atomic<int> ring_count{0};
thread_local Doomed doomed[64];

auto FindRing(int fd) -> WrappedRing* {
  for (int i = 0; i < ring_count; ++i) {
    if (rings[i].fd == fd) {
      return &rings[i];
    }
  }
  return nullptr;
}

void AddRing(int fd, const io_uring_params& params) {
  WrappedRing* ring = FindRing(fd);  // the number of a ring that is gone
  if (ring == nullptr && ring_count < 16) {
    ring = &rings[ring_count++];
  }
  if (ring == nullptr) {
    return;
  }
  const auto map = [fd](std::size_t size, off_t offset) {
    return mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
  };
  const std::size_t size = params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe);
  void* queues = map(size, IORING_OFF_SQ_RING);
  void* submissions = map(params.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES);
  *ring = {fd, static_cast<char*>(queues), static_cast<io_uring_sqe*>(submissions), params, 0, 0};
}

auto RequestName(const io_uring_sqe& request) -> const char* {
  switch (request.opcode) {
    case IORING_OP_RECV:
      return "ring_receive";
    case IORING_OP_SEND:
    case IORING_OP_SENDMSG:
      return "ring_send";
    case IORING_OP_ACCEPT:
      return "ring_accept";
    case IORING_OP_POLL_ADD:
      return "ring_poll";
    default:
      return nullptr;
  }
}

// Runs before they are submitted.
void DoomRequests(WrappedRing& ring) {
  const unsigned tail = *ring.At(ring.params.sq_off.tail);
  for (; ring.submitted != tail; ++ring.submitted) {
    io_uring_sqe& request = ring.submissions[ring.submitted & (ring.params.sq_entries - 1)];
    const char* const name = RequestName(request);
    const int what = name != nullptr ? Next(name) : kPass;
    for (Doomed& each : doomed) {
      if (what > 0 && !each.waits) {
        each = {request.user_data, what, true};
        request.fd = -1;
        break;
      }
    }
  }
}

// After the kernel has worked.
void ChangeCompletions(WrappedRing& ring) {
  auto* const all = reinterpret_cast<io_uring_cqe*>(ring.queues + ring.params.cq_off.cqes);
  const unsigned tail = __atomic_load_n(ring.At(ring.params.cq_off.tail), __ATOMIC_ACQUIRE);
  for (; ring.completed != tail; ++ring.completed) {
    io_uring_cqe& done = all[ring.completed & (ring.params.cq_entries - 1)];
    for (Doomed& each : doomed) {
      if (each.waits && each.name == done.user_data && done.res == -EBADF) {
        done.res = -each.error;
        each.waits = false;
      }
    }
  }
}

}  // namespace

// Calls for which the C library has no function.
extern "C" auto syscall(long number, ...) -> long {
  static const auto real = reinterpret_cast<long (*)(long, ...)>(Real("syscall"));
  va_list rest;
  va_start(rest, number);
  long given[6];
  for (long& argument : given) {
    argument = va_arg(rest, long);
  }
  va_end(rest);
  const int what = number == SYS_openat2             ? Next("openat2")
                   : number == SYS_pidfd_open        ? Next("pidfd_open")
                   : number == SYS_close_range       ? Next("close_range")
                   : number == SYS_io_uring_setup    ? Next("io_uring_setup")
                   : number == SYS_io_uring_register ? Next("io_uring_register")
                   : number == SYS_io_uring_enter    ? Next("io_uring_enter")
                                                     : kPass;
  if (what > 0) {
    errno = what;
    return -1;
  }
  const auto fd = static_cast<int>(given[0]);
  WrappedRing* const ring = number == SYS_io_uring_enter ? FindRing(fd) : nullptr;
  if (ring != nullptr) {
    DoomRequests(*ring);
  }
  const long result = real(number, given[0], given[1], given[2], given[3], given[4], given[5]);
  const int error = errno;
  if (ring != nullptr) {
    ChangeCompletions(*ring);
  } else if (number == SYS_io_uring_setup && result >= 0) {
    AddRing(static_cast<int>(result), *reinterpret_cast<io_uring_params*>(given[1]));
  }
  errno = error;
  return result;
}

extern "C" auto __libc_malloc(size_t bytes) -> void*;

// operator new calls this, too. So may dlsym(3), which must not be asked for the real one then.
extern "C" auto malloc(size_t bytes) -> void* {
  if (Next("malloc") != kPass) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_malloc(bytes);
}

namespace {

int (*real_main)(int, char**, char**) = nullptr;

auto Main(int argc, char** argv, char** environment) -> int {
  const char* fault = std::getenv("TURTLE_FAULT");
  const char* calls = std::getenv("TURTLE_FAULT_CALLS");
  const int file = calls != nullptr ? open(calls, O_RDWR | O_CLOEXEC) : -1;
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) {
    std::perror("TURTLE_FAULT_CALLS");
    return 2;
  }
  close(file);
  shared = static_cast<Shared*>(memory);
  if (fault != nullptr) {
    Fault& chosen = shared->fault;
    std::uint64_t times = 0;
    std::sscanf(fault, "%23s %ld %lu %lu", chosen.name, &chosen.outcome, &chosen.first, &times);
    chosen.times = times;
  }
  armed = true;
  const int code = real_main(argc, argv, environment);
  armed = false;
  return code;
}

}  // namespace

extern "C" auto __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv,
                                  void (*init)(), void (*fini)(), void (*linker_fini)(),
                                  void* stack) -> int {
  real_main = main;
  const auto real = reinterpret_cast<decltype(&__libc_start_main)>(Real("__libc_start_main"));
  return real(Main, argc, argv, init, fini, linker_fini, stack);
}
