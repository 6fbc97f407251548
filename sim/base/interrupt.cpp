#include "sim/base/interrupt.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <initializer_list>
#include <string_view>

namespace syncline {

namespace {

std::atomic<pid_t> child_to_end = 0;
std::atomic<const char*> file_to_remove = nullptr;

static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<const char*>::is_always_lock_free);

/// Nothing but what may be called in a signal's handler.
void end_program(int) {
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

void set_handler(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGINT, SIGTERM}) sigaddset(&action.sa_mask, signal);
    for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

}  // namespace

void catch_interrupts() {
    std::signal(SIGXFSZ, SIG_IGN);  // a file that becomes too large is an error of writing it
    set_handler(end_program);
}

void release_interrupts() {
    set_handler(SIG_DFL);
}

void end_when_interrupted(pid_t child) {
    child_to_end = child;
}

void remove_when_interrupted(const char* path) {
    file_to_remove = path;
}

}  // namespace syncline
