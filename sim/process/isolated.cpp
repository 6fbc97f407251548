#include "sim/process/isolated.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <regex>
#include <string_view>
#include <system_error>
#include <utility>

#include "sim/base/interrupt.hpp"
#include "sim/base/replay_error.hpp"

namespace syncline {

namespace {

/// See isolated_already().
bool alone = false;

/// First character of the child's answer.
enum class Outcome : char { done = 'd', failed = 'f', bug = 'b' };

std::string answer_of(const std::function<std::string()>& work) {
    const auto tell = [](Outcome outcome, const std::string& text) { return static_cast<char>(outcome) + text; };
    try {
        return tell(Outcome::done, work());
    } catch (const std::logic_error& error) {
        return tell(Outcome::bug, error.what());
    } catch (const std::bad_alloc&) {
        return tell(Outcome::failed, "the simulation needs more memory than is available");
    } catch (const std::exception& error) {
        return tell(Outcome::failed, error.what());
    }
}

/// Writes all of the text and returns true on success.
bool write_all(int out, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(out, text.data(), text.size());
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

void become_worker(int said) {
    setpgid(0, 0);
    // A signal to a whole job may arrive here first, and is no failure of the work.
    ignore_interrupts();
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    dup2(said, STDERR_FILENO);
    write_all(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC), "500");
}

[[noreturn]] void run_child(pid_t parent, int out, const std::function<std::string()>& work) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);   // a killed parent leaves no process running ...
    if (getppid() != parent) _exit(1);  // ... nor does a parent that died before that call
    // _exit(), not exit(): the parent's buffered output is for the parent to write.
    _exit(write_all(out, answer_of(work)) ? 0 : 1);
}

[[noreturn]] void no_process() {
    throw ReplayError(fmt::format("cannot start a process: {}", std::strerror(errno)));
}

}  // namespace

Isolated::Isolated(const std::function<std::string()>& work, Role role) : role_(role) {
    if (role == Role::worker) {
        said_.set(memfd_create("said", MFD_CLOEXEC));
        if (said_.get() < 0) no_process();
    }
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) no_process();
    in_.set(ends[0]);
    const Descriptor out(ends[1]);
    fcntl(in_.get(), F_SETFL, O_NONBLOCK);
    std::fflush(nullptr);  // otherwise the child would write buffered output again
    const pid_t parent = getpid();
    {
        const DelayedInterrupts delayed;
        process_ = fork();
        if (process_ < 0) no_process();
        if (process_ == 0) {
            close(in_.get());
            release_interrupts();
            if (role == Role::worker) become_worker(said_.get());
        } else if (role == Role::part) {
            end_when_interrupted(process_);
        }
    }
    if (process_ == 0) run_child(parent, out.get(), work);
    if (role == Role::worker) setpgid(process_, process_);  // both processes do it, whichever runs first
}

Isolated::~Isolated() {
    if (process_ > 0) {
        kill();
        reap();
    }
}

bool Isolated::take() {
    char buffer[65536];
    while (true) {
        const ssize_t count = read(in_.get(), buffer, sizeof buffer);
        if (count > 0) answer_.append(buffer, static_cast<std::size_t>(count));
        if (count == 0) return false;
        if (count < 0 && errno == EAGAIN) return true;
        if (count < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "read");
    }
}

void Isolated::kill() const {
    if (process_ == 0) return;  // 0 would be our own group
    ::kill(role_ == Role::worker ? -process_ : process_, SIGKILL);
}

int Isolated::reap() {
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
    if (role_ == Role::part) end_when_interrupted(0);
    return status;
}

std::string Isolated::last_words() const {
    constexpr off_t few = 400;
    const off_t size = said_.get() < 0 ? 0 : lseek(said_.get(), 0, SEEK_END), from = std::max<off_t>(0, size - few);
    std::string text(static_cast<std::size_t>(size - from), '\0');
    const ssize_t count = pread(said_.get(), text.data(), text.size(), from);
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    if (from > 0) text.erase(0, text.find('\n') + 1);
    text.erase(text.find_last_not_of(" \n") + 1);
    // Addresses differ between runs; the message of a failing run must not.
    text = std::regex_replace(text, std::regex("0x[0-9a-fA-F]+"), "0x...");
    return text.empty() ? text : "; its output: " + text;
}

std::string Isolated::outcome() {
    while (take()) {
        pollfd ready{in_.get(), POLLIN, 0};
        poll(&ready, 1, -1);
    }
    const int status = reap();
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        // SimGrid aborts if it cannot allocate a stack; the kernel kills on memory pressure.
        const bool memory = signal == SIGABRT || signal == SIGKILL;
        throw ReplayError(fmt::format("the simulation was killed by signal {} ({}){}{}", signal, strsignal(signal),
                                      memory ? "; it may have run out of memory" : "",
                                      signal == SIGKILL ? "" : last_words()));  // killed: unrelated output
    }
    if (WEXITSTATUS(status) != 0 || answer_.empty())
        throw std::logic_error("the simulation ended without an answer" + last_words());
    const auto outcome = static_cast<Outcome>(answer_.front());
    answer_.erase(0, 1);
    if (outcome == Outcome::bug) throw std::logic_error(answer_);
    if (outcome == Outcome::failed) throw ReplayError(answer_);
    return std::move(answer_);
}

std::string isolate(const std::function<std::string()>& work, bool last) {
    if (last && std::exchange(alone, false)) return work();
    return Isolated(work, Isolated::Role::part).outcome();
}

void isolated_already() {
    alone = true;
}

}  // namespace syncline
