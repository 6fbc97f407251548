#include "sim/base/interrupt.hpp"

#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>

namespace syncline {

namespace {

std::atomic<pid_t> child_to_end = 0;
std::atomic<const char*> file_to_remove = nullptr;
/// The event descriptor of the HeldInterrupts that receives the next signal; -1 if there is none.
std::atomic<int> holder = -1;

static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<const char*>::is_always_lock_free);

// The signal handlers below call async-signal-safe functions only.

[[noreturn]] void end_program() {
    if (const pid_t child = child_to_end; child > 0) {
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
    if (const char* path = file_to_remove) unlink(path);
    constexpr std::string_view wiped = "\r\x1b[Kinterrupted\n", plain = "interrupted\n";
    const std::string_view text = isatty(STDERR_FILENO) == 1 ? wiped : plain;
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
    _exit(130);
}

void interrupt(int) {
    const int held = holder.exchange(-1);
    if (held < 0) end_program();
    const int before = errno;
    eventfd_write(held, 1);
    errno = before;
}

constexpr std::array signals{SIGINT, SIGTERM};

sigset_t set_of_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : signals) sigaddset(&set, signal);
    return set;
}

void set_handler(int signal, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;  // a held signal does not interrupt a write
    action.sa_mask = set_of_signals();
    sigaction(signal, &action, nullptr);
}

bool is_ignored(int signal) {
    struct sigaction present {};
    sigaction(signal, nullptr, &present);
    return present.sa_handler == SIG_IGN;
}

}  // namespace

void catch_interrupts() {
    std::signal(SIGXFSZ, SIG_IGN);  // exceeding the file size limit becomes a write error
    for (const int signal : signals) set_handler(signal, interrupt);
}

void release_interrupts() {
    for (const int signal : signals)
        if (!is_ignored(signal)) set_handler(signal, SIG_DFL);
}

void ignore_interrupts() {
    for (const int signal : signals) set_handler(signal, SIG_IGN);
}

DelayedInterrupts::DelayedInterrupts() {
    const sigset_t delayed = set_of_signals();
    sigprocmask(SIG_BLOCK, &delayed, &before_);
}

DelayedInterrupts::~DelayedInterrupts() {
    sigprocmask(SIG_SETMASK, &before_, nullptr);
}

void end_when_interrupted(pid_t child) {
    child_to_end = child;
}

void remove_when_interrupted(const char* path) {
    file_to_remove = path;
}

HeldInterrupts::HeldInterrupts() : descriptor_(eventfd(0, EFD_CLOEXEC)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    holder = descriptor_;
}

HeldInterrupts::~HeldInterrupts() {
    holder = -1;
    close(descriptor_);
}

bool HeldInterrupts::interrupted() const {
    return holder != descriptor_;
}

}  // namespace syncline
