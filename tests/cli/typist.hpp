#pragma once

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

namespace syncline::test {

/// A lesson in a terminal of its own, in which a user types.
class Typist {
public:
    explicit Typist(std::string lesson) : Typist(std::vector<std::string>{std::move(lesson)}) {}
    explicit Typist(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"syncline", "lesson"});
        std::vector<char*> words;
        for (std::string& argument : arguments) words.push_back(argument.data());
        words.push_back(nullptr);
        child_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
        REQUIRE(child_ >= 0);
        if (child_ > 0) return;
        if (chdir(SYNCLINE_SOURCE_DIR) == 0) execv(SYNCLINE_PROGRAM, words.data());
        _exit(127);
    }
    ~Typist() {
        close(terminal_);
        if (child_ > 0) waitpid(child_, nullptr, 0);
    }
    Typist(const Typist&) = delete;
    Typist& operator=(const Typist&) = delete;

    /// Returns the output up to `end`, or all of it if no more comes.
    std::string shown(const std::string& end) {
        std::string text;
        constexpr int limit_ms = static_cast<int>(20'000 * patience);
        for (pollfd ready{terminal_, POLLIN, 0}; !text.ends_with(end) && poll(&ready, 1, limit_ms) > 0;) {
            char some[4096];
            const ssize_t count = read(terminal_, some, sizeof some);
            if (count <= 0) break;  // a terminal without a writer says EIO
            text.append(some, static_cast<std::size_t>(count));
        }
        return text;
    }

    void type(const std::string& line) {
        const std::string typed = line + "\n";
        CHECK(write(terminal_, typed.data(), typed.size()) == static_cast<ssize_t>(typed.size()));
    }
    void press_enter() { type(""); }
    void press(char key) { CHECK(write(terminal_, &key, 1) == 1); }

    int status() {
        int status = 0;
        CHECK(waitpid(std::exchange(child_, 0), &status, 0) > 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

private:
    int terminal_ = -1;
    pid_t child_ = 0;
};

}  // namespace syncline::test
