#pragma once

#include <memory>
#include <optional>
#include <string>

#include "sim/serve/api.hpp"

/// The page and its API over HTTP, for this machine alone (cpp-httplib).
///
/// Who may ask. The socket is bound to 127.0.0.1. `Host` must name this machine and port, so that a foreign name that
/// is made to mean 127.0.0.1 (DNS rebinding) is refused; `Origin` and `Sec-Fetch-Site`, which browsers send, must be
/// ours.
/// `/api` needs the token: 128 random bits, which stand in the fragment of the printed address and so reach no log; it
/// is compared in constant time. There are no headers that would let other pages read an answer.
///
/// What may be asked. A fixed list of addresses; no file is ever opened by a name from a request. A head has at most
/// 8 kB, a body 64 kB; it is neither in chunks nor compressed, and an answer is not given in ranges. A request must be
/// complete within 5 seconds, and its answer read within 30, without a pause of 5; a connection serves one request.
/// Left out: another user of this machine who opens 64 connections keeps the threads of others busy.
namespace syncline::serve {

class Http {
public:
    /// Without `port` the usual one, or a free one if that is taken; 0: a free one. Throws OutputError if the port is
    /// taken.
    Http(Api& api, std::optional<int> port);
    ~Http();
    Http(const Http&) = delete;
    Http& operator=(const Http&) = delete;

    /// "http://127.0.0.1:8023/#token=…", or of a lesson.
    std::string address() const;
    /// Serves until stop(), which another thread calls.
    void serve();
    void stop();

private:
    struct Server;
    std::unique_ptr<Server> server_;
};

}  // namespace syncline::serve
