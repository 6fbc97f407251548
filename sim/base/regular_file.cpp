#include "sim/base/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "sim/base/descriptor.hpp"

namespace syncline {

namespace {

using Problem = FileContent::Problem;

FileContent failure(int code) {
    if (code == ENOENT || code == ENOTDIR) return {Problem::missing, "", ""};
    return {Problem::unreadable, "", std::generic_category().message(code)};
}

Problem problem_of(const struct stat& status) {
    if (S_ISDIR(status.st_mode)) return Problem::directory;
    return S_ISREG(status.st_mode) ? Problem::none : Problem::special;
}

}  // namespace

FileContent read_regular(const std::filesystem::path& path, std::size_t most_bytes) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) return failure(errno);
    if (const Problem problem = problem_of(status); problem != Problem::none) return {problem, "", ""};
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (file.get() < 0 || fstat(file.get(), &status) != 0) return failure(errno);
    // Another one may have taken its name since.
    if (const Problem problem = problem_of(status); problem != Problem::none) return {problem, "", ""};

    // Reads to the end, not to the file's size: the file may have grown since, and files in /proc have no size.
    FileContent content;
    std::string block(std::min<std::size_t>(most_bytes + 1, std::size_t{1} << 16), '\0');
    while (content.text.size() <= most_bytes) {
        const ssize_t count = read(file.get(), block.data(), block.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return failure(errno);
        if (count == 0) return content;
        content.text.append(block, 0, static_cast<std::size_t>(count));
    }
    content.text.resize(most_bytes);
    content.problem = Problem::too_large;
    return content;
}

bool is_regular(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
}

}  // namespace syncline
