#include "tests/cli/program.hpp"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/catch.hpp"

// The other tests rely on this when they run the program and kill its processes.

using namespace syncline::test;

namespace {

/// A process that waits, and is killed at the end of the test. Its end sends `signal` to this process; 0: none.
class Waiting {
public:
    explicit Waiting(int signal)
        : process_(static_cast<pid_t>(syscall(SYS_clone, signal, nullptr, nullptr, nullptr, nullptr))) {
        if (process_ != 0) return;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (true) pause();
    }
    ~Waiting() {
        if (process_ < 0) return;
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, __WALL);
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    pid_t process() const { return process_; }

private:
    pid_t process_;
};

}  // namespace

TEST_CASE("children of a program: a sanitizer's helper, which ends without SIGCHLD, is not killed as a worker",
          "[memory]") {
    const Waiting worker(SIGCHLD), helper(0);
    REQUIRE(worker.process() > 0);
    REQUIRE(helper.process() > 0);
    CHECK(children_of(getpid()) == std::vector<pid_t>{worker.process()});
}
