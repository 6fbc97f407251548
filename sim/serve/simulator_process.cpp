#include "sim/serve/simulator_process.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/interrupt.hpp"
#include "sim/base/replay_error.hpp"
#include "sim/process/pool.hpp"

namespace syncline::serve {

namespace {

/// A message on the socket: a kind, the number of a piece of work, and a text.
struct Parcel {
    char kind = 0;
    std::uint64_t number = 0;
    std::string text;
};

constexpr char asks = 'a', cancels = 'c', done = 'd', failed = 'f', cancelled = 'x', full = 'q';

struct Head {
    std::uint64_t number, size;
    char kind;
};

bool write_all(int out, const char* bytes, std::size_t size) {
    while (size > 0) {
        // A closed socket is an error, not a signal that ends the program.
        const ssize_t count = ::send(out, bytes, size, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) return false;
        if (count > 0) {
            bytes += count;
            size -= static_cast<std::size_t>(count);
        }
    }
    return true;
}

bool read_all(int in, char* bytes, std::size_t size) {
    while (size > 0) {
        const ssize_t count = ::read(in, bytes, size);
        if (count == 0 || (count < 0 && errno != EINTR)) return false;
        if (count > 0) {
            bytes += count;
            size -= static_cast<std::size_t>(count);
        }
    }
    return true;
}

bool write_parcel(int out, const Parcel& parcel) {
    const Head head{parcel.number, parcel.text.size(), parcel.kind};
    char bytes[sizeof head];
    std::memcpy(bytes, &head, sizeof head);
    return write_all(out, bytes, sizeof head) && write_all(out, parcel.text.data(), parcel.text.size());
}

/// Waits for a parcel; nothing if the other end is closed.
std::optional<Parcel> read_parcel(int in) {
    char bytes[sizeof(Head)];
    if (!read_all(in, bytes, sizeof bytes)) return {};
    Head head{};
    std::memcpy(&head, bytes, sizeof head);
    Parcel parcel{head.kind, head.number, std::string(head.size, '\0')};
    if (!read_all(in, parcel.text.data(), parcel.text.size())) return {};
    return parcel;
}

/// What the process with the pool does.
class Kitchen {
public:
    Kitchen(int socket, const std::function<std::string(const std::string&)>& work, const SimulationLimits& limits)
        : socket_(socket), work_(work), limits_(limits), pool_(limits.jobs, limits.timeout_s) {}

    void serve() {
        constexpr double long_s = 3600;
        while (true) {
            for (Ended& ended : pool_.ended(long_s, socket_)) answer(std::move(ended));
            // Work may end at the same time as something arrives; what arrived is read without waiting.
            char byte = 0;
            const ssize_t there = recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
            if (there == 0) return;
            if (there > 0) {
                std::optional<Parcel> parcel = read_parcel(socket_);
                if (!parcel) return;
                take(std::move(*parcel));
            }
            start();
        }
    }

private:
    void take(Parcel parcel) {
        if (parcel.kind == cancels) {
            const std::string id = std::to_string(parcel.number);
            const auto waits = std::find_if(queue_.begin(), queue_.end(),
                                            [&](const Parcel& one) { return one.number == parcel.number; });
            const bool waited = waits != queue_.end();
            if (waited) queue_.erase(waits);
            if (waited || pool_.cancel(id)) write_parcel(socket_, {cancelled, parcel.number, ""});
        } else if (queue_.size() >= limits_.queue) {
            write_parcel(socket_, {full, parcel.number, ""});
        } else {
            queue_.push_back(std::move(parcel));
        }
    }

    void start() {
        while (!queue_.empty() && !pool_.full()) {
            const Parcel parcel = std::move(queue_.front());
            queue_.pop_front();
            try {
                pool_.start(std::to_string(parcel.number), [&] { return work_(parcel.text); });
            } catch (const ReplayError& error) {
                write_parcel(socket_, {failed, parcel.number, error.what()});
            }
        }
    }

    void answer(Ended ended) {
        std::string text = std::move(ended.text);
        if (!ended.done && ended.wall_s >= limits_.timeout_s)
            text = fmt::format("it took longer than {:g} s", limits_.timeout_s);
        write_parcel(socket_, {ended.done ? done : failed, std::stoull(ended.id), std::move(text)});
    }

    const int socket_;
    const std::function<std::string(const std::string&)>& work_;
    const SimulationLimits limits_;
    Pool pool_;
    std::deque<Parcel> queue_;
};

[[noreturn]] void no_process() {
    throw ReplayError(fmt::format("cannot start a process: {}", std::strerror(errno)));
}

}  // namespace

SimulatorProcess::SimulatorProcess(const std::function<std::string(const std::string&)>& work,
                                   const SimulationLimits& limits)
    : limits_(limits) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) no_process();
    socket_.set(ends[0]);
    const Descriptor other(ends[1]);
    std::fflush(nullptr);
    const pid_t parent = getpid();
    {
        const DelayedInterrupts delayed;
        process_ = fork();
        if (process_ < 0) no_process();
        if (process_ == 0) ignore_interrupts();  // Ctrl-C is for our parent, which then closes the socket
    }
    if (process_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        close(socket_.get());
        try {
            Kitchen(other.get(), work, limits).serve();
        } catch (const std::exception& error) {
            std::fputs(error.what(), stderr);
            _exit(1);
        }
        _exit(0);
    }
    listener_ = std::thread([this] { listen(); });
}

SimulatorProcess::~SimulatorProcess() {
    stop();
}

void SimulatorProcess::refuse() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    shutdown(socket_.get(), SHUT_RDWR);
    news_.notify_all();
}

void SimulatorProcess::stop() {
    refuse();
    if (listener_.joinable()) listener_.join();
    if (process_ == 0) return;
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
}

void SimulatorProcess::listen() {
    while (std::optional<Parcel> parcel = read_parcel(socket_.get())) {
        using State = Finished::State;
        const State state = parcel->kind == done        ? State::done
                            : parcel->kind == cancelled ? State::cancelled
                            : parcel->kind == full      ? State::full
                                                        : State::failed;
        finish(parcel->number, {state, std::move(parcel->text)});
    }
    refuse();
}

void SimulatorProcess::finish(std::uint64_t number, Finished outcome) {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(number);
    if (found == waiting_.end()) return;
    found->second.outcome = std::move(outcome);
    found->second.finished = true;
    news_.notify_all();
}

Finished SimulatorProcess::run(const std::string& name, const std::string& question) {
    std::unique_lock lock(mutex_);
    const std::uint64_t number = next_++;
    waiting_[number].name = name;
    lock.unlock();
    const bool told = tell(asks, number, question);
    lock.lock();
    const std::chrono::duration<double> most_s(limits_.wait_s + limits_.timeout_s);
    if (!news_.wait_for(lock, most_s, [&] { return !told || stopped_ || waiting_[number].finished; })) {
        waiting_.erase(number);
        lock.unlock();
        tell(cancels, number, "");
        return {Finished::State::full, ""};
    }
    Finished outcome = std::move(waiting_[number].outcome);
    if (!waiting_[number].finished) outcome.state = Finished::State::stopped;
    waiting_.erase(number);
    return outcome;
}

bool SimulatorProcess::cancel(const std::string& name) {
    std::vector<std::uint64_t> found;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [number, one] : waiting_)
            if (one.name == name && !one.finished) found.push_back(number);
    }
    for (const std::uint64_t number : found) tell(cancels, number, "");
    return !found.empty();
}

bool SimulatorProcess::tell(char kind, std::uint64_t number, const std::string& text) {
    const std::lock_guard lock(telling_);
    return write_parcel(socket_.get(), {kind, number, text});
}

}  // namespace syncline::serve
