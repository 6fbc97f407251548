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

/// What is no regular file, a pipe or a device, is written to as it is.
void write_special(const std::filesystem::path& path, const std::string& text) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    const bool written = file != nullptr && write_all(file, text);
    const std::string reason = std::strerror(errno);
    const bool closed = file == nullptr || std::fclose(file) == 0;
    if (!written || !closed) fail("write " + path.string(), reason);
}

}  // namespace

void write_file(const std::filesystem::path& given, const std::string& text) {
    std::error_code error;
    const bool there = std::filesystem::exists(given, error);
    if (there && !std::filesystem::is_regular_file(given, error) && !std::filesystem::is_directory(given, error))
        return write_special(given, text);
    // A link stays one: what it points to is replaced.
    const std::filesystem::path path = there ? std::filesystem::canonical(given, error) : given;
    error.clear();
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
