#include "tests/cli/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>

#include "tests/catch.hpp"

namespace syncline::test {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

void require(bool good, const char* doing) {
    if (!good) throw std::system_error(errno, std::generic_category(), doing);
}

/// Returns whether process `pid` has a handler of its own for the signal, according to /proc.
bool catches(pid_t pid, int signal) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.rfind("SigCgt:", 0) == 0) return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0;
    }
    return false;
}

/// Two ends of a pipe or of a terminal: the program's output to `write` arrives at `read`. -1 means no descriptor.
struct Channel {
    int read = -1;
    int write = -1;
};

Channel make_pipe() {
    int ends[2];
    require(pipe2(ends, O_CLOEXEC) == 0, "pipe");
    return {ends[0], ends[1]};
}

Channel make_terminal() {
    Channel channel;
    require(openpty(&channel.read, &channel.write, nullptr, nullptr, nullptr) == 0, "openpty");
    for (const int end : {channel.read, channel.write}) fcntl(end, F_SETFD, FD_CLOEXEC);
    return channel;
}

Channel make_full() {
    const int device = open("/dev/full", O_WRONLY | O_CLOEXEC);
    require(device >= 0, "open /dev/full");
    return {-1, device};
}

Channel channel_for(Stdout out) {
    if (out == Stdout::closed) return {};
    return out == Stdout::full ? make_full() : make_pipe();
}

Channel channel_for(Stderr err) {
    if (err == Stderr::closed) return {};
    if (err == Stderr::terminal) return make_terminal();
    return err == Stderr::full ? make_full() : make_pipe();
}

void put_in_place(int descriptor, int standard) {
    if (descriptor < 0)
        close(standard);
    else
        dup2(descriptor, standard);
}

[[noreturn]] void become_program(const Invocation& invocation, const Channel& out, const Channel& err) {
    setpgid(0, 0);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    if (!invocation.directory.empty() && chdir(invocation.directory.c_str()) != 0) _exit(126);
    std::vector<char*> arguments{const_cast<char*>(invocation.program.c_str())};
    for (const std::string& argument : invocation.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    put_in_place(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    put_in_place(out.write, STDOUT_FILENO);
    put_in_place(err.write, STDERR_FILENO);
    execv(invocation.program.c_str(), arguments.data());
    _exit(127);
}

/// Reads the available output; closes the descriptor and sets it to -1 at the end.
void drain(int& descriptor, std::string& text) {
    char buffer[65536];
    const ssize_t count = read(descriptor, buffer, sizeof buffer);
    if (count > 0) {
        text.append(buffer, static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {  // a terminal without a writer says EIO
        close(descriptor);
        descriptor = -1;
    }
}

void send(const Signal& signal, pid_t program) {
    if (signal.to == To::workers) {
        for (const pid_t worker : children_of(program)) kill(worker, signal.number);
    } else {
        kill(signal.to == To::group ? -program : program, signal.number);
    }
}

/// Returns whether processes of the group outlive its leader. Those that the kernel has just killed may take a moment.
bool group_is_there(pid_t group) {
    const Clock::time_point start = Clock::now();
    do {
        if (kill(-group, 0) != 0 && errno != EPERM) return false;
        usleep(1000);
    } while (seconds_since(start) < 0.2 * patience);
    return true;
}

}  // namespace

TempDir::TempDir() {
    std::string name = (fs::temp_directory_path() / "syncline-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
    path_ = name;
}

TempDir::~TempDir() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

fs::path TempDir::write(const fs::path& name, std::string_view text) const {
    const fs::path path = path_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    if (!file) throw std::runtime_error("write " + path.string());
    return path;
}

std::vector<std::string> TempDir::list() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(path_))
        names.push_back(entry.path().lexically_relative(path_).string());
    std::sort(names.begin(), names.end());
    return names;
}

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("read " + path.string());
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string shipped(const std::string& path) {
    return (fs::path(SYNCLINE_SOURCE_DIR) / path).string();
}

std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> children;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        std::ifstream file(entry.path() / "stat");
        std::ostringstream text;
        text << file.rdbuf();  // catches the error of reading a process that has just ended
        const std::string stat = text.str();
        if (stat.rfind(')') == std::string::npos) continue;
        std::istringstream rest(stat.substr(stat.rfind(')') + 1));
        char state = 0;
        pid_t of = 0;
        std::string skipped;
        int at_end = 0;  // the signal that the parent gets: field 38 of proc(5), where the parent is field 4
        rest >> state >> of;
        for (int field = 5; field < 38; ++field) rest >> skipped;
        rest >> at_end;
        if (of == parent && state != 'Z' && at_end == SIGCHLD) children.push_back(std::stoi(name));
    }
    return children;
}

Limit::Limit(int resource, rlim_t value) : resource_(resource) {
    require(getrlimit(static_cast<__rlimit_resource>(resource_), &before_) == 0, "getrlimit");
    const rlimit lower{value, before_.rlim_max};
    require(setrlimit(static_cast<__rlimit_resource>(resource_), &lower) == 0, "setrlimit");
}

Limit::~Limit() {
    setrlimit(static_cast<__rlimit_resource>(resource_), &before_);
}

Outcome run_program(const Invocation& invocation) {
    Channel out = channel_for(invocation.out), err = channel_for(invocation.err);
    const Clock::time_point start = Clock::now();
    const pid_t child = fork();
    require(child >= 0, "fork");
    if (child == 0) become_program(invocation, out, err);
    setpgid(child, child);  // whichever of the two comes first
    for (const int end : {out.write, err.write})
        if (end >= 0) close(end);

    Outcome outcome;
    bool minds = false, signalled = false, ended = false, too_long = false;
    Clock::time_point minded_at = start, signalled_at = start;
    int status = 0;
    rusage usage{};
    while (!ended || out.read >= 0 || err.read >= 0) {
        pollfd ready[2] = {{out.read, POLLIN, 0}, {err.read, POLLIN, 0}};
        poll(ready, 2, ended ? 100 : 5);
        if (ready[0].revents != 0) drain(out.read, outcome.out);
        if (ready[1].revents != 0) drain(err.read, outcome.err);
        if (!ended && wait4(child, &status, WNOHANG, &usage) == child) {
            ended = true;
            outcome.seconds = seconds_since(start);
            outcome.after_signal_s = seconds_since(signalled_at);
            outcome.left_behind = group_is_there(child);
        }
        // A program that is still being loaded, on a busy machine, cannot handle a signal yet.
        if (!ended && invocation.signal && !minds) {
            minds = invocation.signal->number == SIGKILL || catches(child, invocation.signal->number);
            minded_at = Clock::now();
        }
        if (!ended && minds && !signalled && seconds_since(minded_at) >= invocation.signal->after_s) {
            send(*invocation.signal, child);
            signalled = true;
            signalled_at = Clock::now();
        }
        if (!too_long && seconds_since(start) > invocation.limit_s * patience) {
            too_long = true;
            kill(-child, SIGKILL);
        }
    }
    if (outcome.left_behind) kill(-child, SIGKILL);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome.peak_kib = usage.ru_maxrss;
    if (too_long)
        FAIL("the program took longer than " << invocation.limit_s * patience << " s; its output: " << outcome.out
                                             << "; its messages: " << outcome.err);
    return outcome;
}

Outcome run_in(const TempDir& directory, std::vector<std::string> arguments) {
    return run_program({.arguments = std::move(arguments), .directory = directory.path()});
}

}  // namespace syncline::test
