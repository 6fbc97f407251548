#include "sim/serve/request_stream.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>

namespace syncline::serve {

namespace {

std::chrono::steady_clock::time_point in_seconds(double seconds) {
    using Clock = std::chrono::steady_clock;
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

RequestStream::RequestStream(socket_t socket, const RequestLimits& limits)
    : socket_(socket), limits_(limits), read_end_(in_seconds(limits.read_s)) {}

bool RequestStream::waits(short event, Clock::time_point until) const {
    while (true) {
        const double left_s = std::chrono::duration<double>(until - Clock::now()).count();
        pollfd ready{socket_, event, 0};
        const int count = poll(&ready, 1, static_cast<int>(std::ceil(1e3 * std::max(left_s, 0.0))));
        if (count > 0) return true;
        if (count == 0 || errno != EINTR) return false;
    }
}

bool RequestStream::is_readable() const {
    return waits(POLLIN, read_end_);
}

bool RequestStream::is_writable() const {
    return waits(POLLOUT, std::min(write_end_, in_seconds(limits_.stall_s)));
}

ssize_t RequestStream::read(char* bytes, std::size_t size) {
    if (begin_ == end_) {
        const std::size_t most = std::min(buffer_.size(), limits_.bytes - received_);
        if (most == 0 || !is_readable()) return -1;
        const ssize_t count = recv(socket_, buffer_.data(), most, 0);
        if (count <= 0) return count;
        begin_ = 0;
        end_ = static_cast<std::size_t>(count);
        received_ += end_;
    }
    const std::size_t count = std::min(size, end_ - begin_);
    std::copy_n(buffer_.data() + begin_, count, bytes);
    begin_ += count;
    return static_cast<ssize_t>(count);
}

ssize_t RequestStream::write(const char* bytes, std::size_t size) {
    if (write_end_ == Clock::time_point::max()) write_end_ = in_seconds(limits_.write_s);
    for (std::size_t done = 0; done < size;) {
        if (!is_writable()) return -1;
        const ssize_t count = send(socket_, bytes + done, size - done, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && errno != EAGAIN && errno != EINTR) return -1;
        if (count > 0) done += static_cast<std::size_t>(count);
    }
    return static_cast<ssize_t>(size);
}

void RequestStream::get_remote_ip_and_port(std::string& ip, int& port) const {
    // Only this machine is served.
    ip = "127.0.0.1";
    port = 0;
}

void RequestStream::get_local_ip_and_port(std::string& ip, int& port) const {
    get_remote_ip_and_port(ip, port);
}

void RequestStream::finish() {
    constexpr double moment_s = 1;
    constexpr std::size_t most = 16'000'000;
    shutdown(socket_, SHUT_WR);
    std::array<char, 65536> unread{};
    const Clock::time_point until = in_seconds(moment_s);
    for (std::size_t total = 0; total < most && waits(POLLIN, until);) {
        const ssize_t count = recv(socket_, unread.data(), unread.size(), MSG_DONTWAIT);
        if (count <= 0) return;
        total += static_cast<std::size_t>(count);
    }
}

}  // namespace syncline::serve
