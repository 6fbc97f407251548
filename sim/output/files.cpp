#include "sim/output/files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "sim/base/interrupt.hpp"

namespace syncline {

namespace {

[[noreturn]] void fail(const std::string& doing, const std::string& reason) {
    throw OutputError(fmt::format("error: cannot {}: {}", doing, reason));
}

bool write_all(std::FILE* file, const std::string& text) {
    return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

}  // namespace

void write_file(const std::filesystem::path& path, const std::string& text) {
    std::error_code error;
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
    if (error) fail("make the directory " + path.parent_path().string(), error.message());

    const std::string temporary = fmt::format("{}.{}.tmp", path.string(), getpid());
    std::FILE* file = std::fopen(temporary.c_str(), "wb");
    if (file == nullptr) fail("write " + path.string(), std::strerror(errno));
    remove_when_interrupted(temporary.c_str());
    const bool written = write_all(file, text) && fsync(fileno(file)) == 0;
    const std::string reason = std::strerror(errno);
    std::fclose(file);
    if (written) std::filesystem::rename(temporary, path, error);
    std::error_code unremoved;
    if (!written || error) std::filesystem::remove(temporary, unremoved);
    remove_when_interrupted(nullptr);
    if (!written || error) fail("write " + path.string(), written ? error.message() : reason);
}

void write_stdout(const std::string& text) {
    if (!write_all(stdout, text)) fail("write to standard output", std::strerror(errno));
}

}  // namespace syncline
