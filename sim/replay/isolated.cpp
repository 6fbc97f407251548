#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>

#include "sim/base/interrupt.hpp"
#include "sim/replay/isolated.hpp"
#include "sim/replay/replay.hpp"

namespace syncline {

namespace {

/// What the child says first.
enum class Outcome : char { done = 'd', failed = 'f', bug = 'b' };

std::string answer_of(const std::function<std::string()>& work) {
    const auto tell = [](Outcome outcome, const std::string& text) { return static_cast<char>(outcome) + text; };
    try {
        return tell(Outcome::done, work());
    } catch (const std::logic_error& error) {
        return tell(Outcome::bug, error.what());
    } catch (const std::bad_alloc&) {
        return tell(Outcome::failed, "the simulation needs more memory than there is");
    } catch (const std::exception& error) {
        return tell(Outcome::failed, error.what());
    }
}

[[noreturn]] void run_child(pid_t parent, int out, const std::function<std::string()>& work) {
    release_interrupts();
    prctl(PR_SET_PDEATHSIG, SIGKILL);   // a killed parent leaves nothing running behind ...
    if (getppid() != parent) _exit(1);  // ... nor does one that died before that
    const std::string answer = answer_of(work);
    const char* from = answer.data();
    for (std::size_t left = answer.size(); left > 0;) {
        const ssize_t written = write(out, from, left);
        if (written < 0 && errno != EINTR) _exit(1);
        if (written < 0) continue;
        from += written;
        left -= static_cast<std::size_t>(written);
    }
    _exit(0);  // not exit(): what the parent has buffered is the parent's to write
}

/// Everything that comes through `in`, until its other end is closed.
std::string read_all(int in) {
    std::string answer;
    char buffer[65536];
    while (true) {
        const ssize_t count = read(in, buffer, sizeof buffer);
        if (count > 0) answer.append(buffer, static_cast<std::size_t>(count));
        if (count == 0) return answer;
        if (count < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "read");
    }
}

}  // namespace

std::string isolate(const std::function<std::string()>& work) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    std::fflush(nullptr);  // or the child would write what is buffered once more
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child == 0) {
        close(ends[0]);
        run_child(parent, ends[1], work);
    }
    end_when_interrupted(child);
    close(ends[1]);
    const std::string answer = read_all(ends[0]);
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    end_when_interrupted(0);

    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        const std::string text = fmt::format("the simulation was ended by signal {} ({})", signal, strsignal(signal));
        // SimGrid aborts when it gets no memory for a stack, the kernel kills.
        if (signal == SIGABRT || signal == SIGKILL) throw ReplayError(text + "; was there enough memory?");
        throw ReplayError(text);
    }
    if (WEXITSTATUS(status) != 0 || answer.empty()) throw std::logic_error("the simulation ended without an answer");
    const auto outcome = static_cast<Outcome>(answer.front());
    if (outcome == Outcome::bug) throw std::logic_error(answer.substr(1));
    if (outcome == Outcome::failed) throw ReplayError(answer.substr(1));
    return answer.substr(1);
}

}  // namespace syncline
