// measure ROUNDS COMMAND... [-- COMMAND...]...: runs the commands in turn, ROUNDS times, so that temporary disturbances
// affect all of them alike. Prints one line per command: median CPU seconds (user and system), median wall-clock
// seconds, peak memory in MB (10^6 bytes). The output of the commands is discarded.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

struct Command {
    std::vector<char*> arguments;  // ends with a null pointer, as exec requires
    std::vector<double> cpu_s;
    std::vector<double> wall_s;
    double peak_memory_MB = 0;
};

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

bool run(Command& command) {
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = fork();
    if (child == 0) {
        const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(null, STDOUT_FILENO);
        execvp(command.arguments[0], command.arguments.data());
        std::perror(command.arguments[0]);
        _exit(127);
    }
    int status = 0;
    rusage usage{};
    if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return false;

    command.wall_s.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    command.cpu_s.push_back(seconds(usage.ru_utime) + seconds(usage.ru_stime));
    command.peak_memory_MB = std::max(command.peak_memory_MB, static_cast<double>(usage.ru_maxrss) * 1024 / 1e6);
    return true;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

int main(int argc, char* argv[]) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 0;
    std::vector<Command> commands(1);
    for (int i = 2; i < argc; ++i) {
        if (std::strcmp(argv[i], "--") == 0) {
            commands.emplace_back();
        } else {
            commands.back().arguments.push_back(argv[i]);
        }
    }
    for (Command& command : commands) {
        if (rounds < 1 || command.arguments.empty()) {
            std::fprintf(stderr, "usage: measure ROUNDS COMMAND... [-- COMMAND...]...\n");
            return 2;
        }
        command.arguments.push_back(nullptr);
    }

    for (int round = 0; round < rounds; ++round) {
        for (Command& command : commands) {
            if (!run(command)) {
                std::fprintf(stderr, "measure: failed:");
                for (const char* argument : command.arguments)
                    std::fprintf(stderr, " %s", argument != nullptr ? argument : "\n");
                return 1;
            }
        }
    }
    for (const Command& command : commands) {
        std::printf("%.6f %.6f %.1f\n", median(command.cpu_s), median(command.wall_s), command.peak_memory_MB);
    }
    return 0;
}
