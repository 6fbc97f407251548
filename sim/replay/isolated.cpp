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
#include "sim/replay/replay.hpp"

namespace syncline {

namespace {

/// What the child says first.
enum class Outcome : char { done = 'd', failed = 'f', bug = 'b' };

template <class Value>
void append(std::string& out, const Value* values, std::size_t count) {
    out.append(reinterpret_cast<const char*>(values), count * sizeof(Value));
}

template <class Value>
void append(std::string& out, const std::vector<Value>& values) {
    const std::uint64_t size = values.size();
    append(out, &size, 1);
    append(out, values.data(), values.size());
}

template <class Value>
void take(const char*& in, Value* values, std::size_t count) {
    std::memcpy(values, in, count * sizeof(Value));
    in += count * sizeof(Value);
}

template <class Value>
void take(const char*& in, std::vector<Value>& values) {
    std::uint64_t size = 0;
    take(in, &size, 1);
    values.resize(size);
    if (size > 0) take(in, values.data(), values.size());
}

std::string encode(const Timeline& timeline) {
    std::string out;
    append(out, timeline.iteration_end_s);
    const std::uint64_t recorded = timeline.recorded.size();
    append(out, &recorded, 1);
    for (const std::vector<Interval>& intervals : timeline.recorded) append(out, intervals);
    append(out, &timeline.messages, 1);
    append(out, &timeline.bytes_sent, 1);
    return out;
}

Timeline decode(const char* in) {
    Timeline timeline;
    take(in, timeline.iteration_end_s);
    std::uint64_t recorded = 0;
    take(in, &recorded, 1);
    timeline.recorded.resize(recorded);
    for (std::vector<Interval>& intervals : timeline.recorded) take(in, intervals);
    take(in, &timeline.messages, 1);
    take(in, &timeline.bytes_sent, 1);
    return timeline;
}

std::string replay_and_encode(const Cluster& cluster, const TaskGraph& graph, const ReplayOptions& options) {
    const auto tell = [](Outcome outcome, const std::string& text) { return static_cast<char>(outcome) + text; };
    try {
        return tell(Outcome::done, encode(replay(cluster, graph, options)));
    } catch (const std::logic_error& error) {
        return tell(Outcome::bug, error.what());
    } catch (const std::bad_alloc&) {
        return tell(Outcome::failed, "the simulation needs more memory than there is");
    } catch (const std::exception& error) {
        return tell(Outcome::failed, error.what());
    }
}

[[noreturn]] void run_child(pid_t parent, int out, const Cluster& cluster, const TaskGraph& graph,
                            const ReplayOptions& options) {
    release_interrupts();
    prctl(PR_SET_PDEATHSIG, SIGKILL);   // a killed parent leaves nothing running behind ...
    if (getppid() != parent) _exit(1);  // ... nor does one that died before that
    const std::string answer = replay_and_encode(cluster, graph, options);
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

Timeline replay_isolated(const Cluster& cluster, const TaskGraph& graph, const ReplayOptions& options) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    std::fflush(nullptr);  // or the child would write what is buffered once more
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child == 0) {
        close(ends[0]);
        run_child(parent, ends[1], cluster, graph, options);
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
    return decode(answer.data() + 1);
}

}  // namespace syncline
