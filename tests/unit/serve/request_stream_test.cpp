#include <sys/socket.h>

#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "sim/base/descriptor.hpp"
#include "sim/serve/request_stream.hpp"
#include "tests/catch.hpp"

// Limits of a connection: bytes of a request, time of a request, time of its answer.

using namespace syncline;
using namespace syncline::serve;

namespace {

struct Ends {
    Ends() {
        std::array<int, 2> ends{};
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
        server.set(ends[0]);
        client.set(ends[1]);
    }
    void say(const std::string& text) const { REQUIRE(send(client.get(), text.data(), text.size(), 0) > 0); }

    Descriptor server, client;
};

/// Returns what can be read, a byte at a time as the library does.
std::string all_of(RequestStream& stream) {
    std::string text;
    for (char byte = 0; stream.read(&byte, 1) == 1;) text += byte;
    return text;
}

double seconds_of(const std::function<void()>& action) {
    const auto start = std::chrono::steady_clock::now();
    action();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("a request has a largest number of bytes") {
    const Ends ends;
    ends.say(std::string(6000, 'a') + std::string(6000, 'b'));
    RequestStream stream(ends.server.get(), {10'000, 5, 5, 5});
    CHECK(all_of(stream) == std::string(6000, 'a') + std::string(4000, 'b'));
}

TEST_CASE("a request ends with the client's") {
    const Ends ends;
    ends.say("GET /");
    shutdown(ends.client.get(), SHUT_WR);
    RequestStream stream(ends.server.get(), {100, 60, 60, 60});
    CHECK(all_of(stream) == "GET /");
}

TEST_CASE("a request that comes byte by byte has one time limit") {
    const Ends ends;
    std::thread client([&] {
        for (int i = 0; i < 40; ++i) {
            send(ends.client.get(), "x", 1, MSG_NOSIGNAL);
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    });
    RequestStream stream(ends.server.get(), {1000, 0.3, 5, 5});
    std::string text;
    const double seconds = seconds_of([&] { text = all_of(stream); });
    client.join();
    CHECK_FALSE(text.empty());
    CHECK(text.size() < 40);
    CHECK(seconds < 1.5);
}

TEST_CASE("an answer is written as a whole, or given up when nobody reads it") {
    const Ends ends;
    const std::string large(4'000'000, 'x');
    {
        std::size_t got = 0;
        std::thread client([&] {
            std::array<char, 65536> piece{};
            for (ssize_t count = 1; count > 0 && got < large.size(); got += static_cast<std::size_t>(count))
                count = recv(ends.client.get(), piece.data(), piece.size(), 0);
        });
        RequestStream stream(ends.server.get(), {100, 5, 60, 60});
        CHECK(stream.write(large.data(), large.size()) == static_cast<ssize_t>(large.size()));
        client.join();
        CHECK(got == large.size());
    }
    RequestStream stalled(ends.server.get(), {100, 5, 0.2, 60});
    CHECK(stalled.write(large.data(), large.size()) == -1);
}

TEST_CASE("an answer that is read in small pieces has one time limit") {
    const Ends ends;
    std::thread client([&] {
        std::array<char, 1000> piece{};
        for (int i = 0; i < 40; ++i) {
            recv(ends.client.get(), piece.data(), piece.size(), 0);
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    });
    RequestStream stream(ends.server.get(), {100, 5, 60, 0.3});
    const std::string large(4'000'000, 'x');
    const double seconds = seconds_of([&] { CHECK(stream.write(large.data(), large.size()) == -1); });
    client.join();
    CHECK(seconds < 1.5);
}
