#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "sim/output/undated_pdf.hpp"
#include "sim/output/written_files.hpp"
#include "sim/plot/plot.hpp"

namespace syncline::batch {

namespace {

/// A connection to a child process: our end and the child's end.
struct Ends {
    int ours = -1, childs = -1;

    // A socket is used because writing to it can be prevented from raising SIGPIPE when the reader is gone.
    Ends() {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            throw std::system_error(errno, std::generic_category(), "socketpair");
        ours = ends[0];
        childs = ends[1];
    }
    ~Ends() {
        close(ours);
        if (childs >= 0) close(childs);
    }
    Ends(const Ends&) = delete;
    Ends& operator=(const Ends&) = delete;

    void hand_over() {
        close(childs);
        childs = -1;
    }
};

pid_t start_gnuplot(const Ends& connection) {
    // -d ignores the user's own settings.
    const char* arguments[] = {"gnuplot", "-d", "-", nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, connection.childs, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, connection.childs, STDOUT_FILENO);
    pid_t child = 0;
    const int problem = posix_spawnp(&child, "gnuplot", &actions, nullptr, const_cast<char**>(arguments), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (problem == ENOENT) throw OutputError("error: gnuplot is not installed\n  hint: install gnuplot-nox");
    if (problem != 0) throw OutputError(fmt::format("error: cannot start gnuplot: {}", std::strerror(problem)));
    return child;
}

/// Sends all of `text`; returns false if the reader is gone.
bool send_all(int socket, std::string_view text) {
    while (!text.empty()) {
        const ssize_t sent = send(socket, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) return false;
        if (sent > 0) text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return shutdown(socket, SHUT_WR) == 0;
}

std::string receive_all(int socket) {
    std::string text;
    char buffer[65536];
    while (true) {
        const ssize_t count = recv(socket, buffer, sizeof buffer, 0);
        if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
        if (count == 0 || (count < 0 && errno != EINTR)) return text;
    }
}

/// Returns an SVG as XML: gnuplot 5.4 writes text without escaping the end of a section that it does not use.
std::string valid(std::string picture) {
    constexpr std::string_view bad = "]]>", good = "]]&gt;";
    for (auto at = picture.find(bad); at != picture.npos; at = picture.find(bad, at + good.size()))
        picture.replace(at, bad.size(), good);
    return picture;
}

}  // namespace

std::string drawn(const std::string& script) {
    Ends connection;
    const pid_t child = start_gnuplot(connection);
    connection.hand_over();
    // gnuplot writes only at the last line of a script, so it never waits for us while we wait for it.
    const bool sent = send_all(connection.ours, script);
    std::string picture = receive_all(connection.ours);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!sent || status != 0 || picture.empty()) throw OutputError("error: gnuplot cannot draw this");
    if (picture.starts_with("%PDF")) return undated_pdf(std::move(picture));
    return picture.starts_with("<?xml") ? valid(std::move(picture)) : picture;
}

}  // namespace syncline::batch
