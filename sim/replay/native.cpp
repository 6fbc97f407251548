#include "sim/replay/native.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "sim/base/replay_error.hpp"
#include "sim/process/isolated.hpp"
#include "sim/replay/engine.hpp"

namespace syncline {

namespace {

/// Redirects standard error to a file in memory during its lifetime: SimGrid explains an error there before it ends the
/// process.
class Overheard {
public:
    Overheard() : file_(memfd_create("simgrid", MFD_CLOEXEC)), kept_(dup(STDERR_FILENO)) {}
    ~Overheard() {
        stop();
        close(kept_);
        close(file_);
    }
    Overheard(const Overheard&) = delete;
    Overheard& operator=(const Overheard&) = delete;

    void start() const { dup2(file_, STDERR_FILENO); }
    void stop() const { dup2(kept_, STDERR_FILENO); }
    std::string first_line() const {
        std::string text(4096, '\0');
        const ssize_t size = pread(file_, text.data(), text.size(), 0);
        text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
        text.resize(std::min(text.size(), text.find('\n')));
        // SimGrid's format: "[node:actor:(1) 0.000000] [category/CRITICAL] message"
        const auto category = text.rfind("] ");
        return category == std::string::npos ? text : text.substr(category + 2);
    }

private:
    int file_, kept_;
};

}  // namespace

void inspect(Cluster& cluster) {
    const NativePlatform& platform = *cluster.native;
    SimGridEngine& simgrid = engine();
    const Overheard overheard;
    std::string answer;
    try {
        answer = isolate([&] {
            overheard.start();
            simgrid.start({cluster.network, true});
            const SimGridEngine::Hosts hosts = simgrid.inspect(platform);
            return fmt::format("{} {}", hosts.count, hosts.slowest_flops_per_s);
        });
    } catch (const ReplayError& error) {
        const std::string said = overheard.first_line();
        throw ReplayError(fmt::format("SimGrid cannot load {}: {}", platform.file, said.empty() ? error.what() : said));
    }
    std::istringstream(answer) >> cluster.nodes >> answer;
    double& flops = cluster.device.flops_per_s;
    if (flops == 0) flops = std::stod(answer);
}

}  // namespace syncline
