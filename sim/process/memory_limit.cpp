#include "sim/process/memory_limit.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace syncline {

namespace {

/// Lowers `bytes` to the limits of this process's control group and of those that contain it.
void apply_control_groups(double& bytes) {
    std::ifstream groups("/proc/self/cgroup");
    std::string line;
    while (std::getline(groups, line)) {
        if (line.rfind("0::", 0) != 0) continue;  // version 1
        // In a container its own group is the root.
        for (std::string path = line.substr(3) == "/" ? "" : line.substr(3);; path.erase(path.rfind('/'))) {
            std::ifstream file("/sys/fs/cgroup" + path + "/memory.max");
            if (double limit = 0; file >> limit) bytes = std::min(bytes, limit);  // "max" is no number
            if (path.empty()) break;
        }
    }
}

}  // namespace

double usable_memory_bytes() {
    double bytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        bytes = std::min(bytes, static_cast<double>(limit.rlim_cur));
    apply_control_groups(bytes);
    return bytes;
}

}  // namespace syncline
