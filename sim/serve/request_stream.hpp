#pragma once

#include <httplib.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>

/// A connection with limits on what a client may send and how long it may take. cpp-httplib limits the pause between
/// two bytes only, and neither the length of a line nor the number of headers.
namespace syncline::serve {

struct RequestLimits {
    std::size_t bytes = 0;  ///< of the head and the body together
    double read_s = 0;      ///< from the first wait to the last byte of the request
    double stall_s = 0;     ///< during which nothing of the answer is read
    double write_s = 0;     ///< from the first to the last byte of the answer
};

class RequestStream : public httplib::Stream {
public:
    /// The socket stays the caller's.
    RequestStream(socket_t socket, const RequestLimits& limits);

    bool is_readable() const override;
    bool is_writable() const override;
    /// Returns -1 once a limit is reached.
    ssize_t read(char* bytes, std::size_t size) override;
    /// Writes all, or returns -1.
    ssize_t write(const char* bytes, std::size_t size) override;
    void get_remote_ip_and_port(std::string& ip, int& port) const override;
    void get_local_ip_and_port(std::string& ip, int& port) const override;
    socket_t socket() const override { return socket_; }

    /// Says that the answer is complete, and reads what the client still sends, for a moment: a socket that is closed
    /// with unread bytes takes the answer away from a client that has not read it.
    void finish();

private:
    using Clock = std::chrono::steady_clock;

    /// Waits for an event until then; false if there is none.
    bool waits(short event, Clock::time_point until) const;

    const socket_t socket_;
    const RequestLimits limits_;
    const Clock::time_point read_end_;
    Clock::time_point write_end_ = Clock::time_point::max();
    std::size_t received_ = 0;         // bytes
    std::array<char, 4096> buffer_{};  // the library asks for one byte at a time
    std::size_t begin_ = 0, end_ = 0;  // of what is in it
};

}  // namespace syncline::serve
