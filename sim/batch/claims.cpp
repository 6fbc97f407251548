#include "sim/batch/claims.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sim/output/written_files.hpp"

namespace syncline::batch {

namespace {

/// Returns the byte that represents a run: sixty bits of its hash. A lock may be on bytes that the file does not have.
off_t byte_of(const std::string& run_id) {
    return static_cast<off_t>(std::stoull(run_id.substr(0, 15), nullptr, 16));
}

[[noreturn]] void fail(const char* doing, const std::filesystem::path& file) {
    throw OutputError(fmt::format("error: cannot {} {}: {}", doing, file.string(), std::strerror(errno)));
}

}  // namespace

Claims::Claims(const std::filesystem::path& directory)
    : file_(directory / "results.lock"), descriptor_(open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail("open", file_);
}

Claims::~Claims() {
    close(descriptor_);
}

bool Claims::take(const std::string& run_id) {
    return lock(run_id, F_WRLCK);
}

void Claims::release(const std::string& run_id) {
    lock(run_id, F_UNLCK);
}

bool Claims::lock(const std::string& run_id, short kind) {
    struct flock byte {};
    byte.l_type = kind;
    byte.l_whence = SEEK_SET;
    byte.l_start = byte_of(run_id);
    byte.l_len = 1;
    if (fcntl(descriptor_, F_SETLK, &byte) == 0) return true;
    if (errno == EACCES || errno == EAGAIN) return false;
    fail("lock", file_);
}

}  // namespace syncline::batch
