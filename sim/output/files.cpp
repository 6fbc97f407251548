#include "sim/output/files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "sim/base/interrupt.hpp"

namespace syncline {

namespace {

[[noreturn]] void fail(const std::string& doing, const std::string& reason) {
    throw OutputError(fmt::format("error: cannot {}: {}", doing, reason));
}

bool write_all(std::FILE* file, const std::string& text) {
    return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

/// A file that is being written; the destructor closes it.
class Written {
public:
    Written(const std::filesystem::path& opened, const std::filesystem::path& shown)
        : shown_(shown.string()), file_(std::fopen(opened.c_str(), "wb")) {
        if (file_ == nullptr) fail();
    }
    ~Written() {
        if (file_ != nullptr) std::fclose(file_);
    }
    Written(const Written&) = delete;
    Written& operator=(const Written&) = delete;

    void take(const std::function<void(const Sink&)>& produce) {
        produce([this](std::string_view text) {
            if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail();
        });
        if (std::fflush(file_) != 0) fail();
    }
    void sync() {
        if (fsync(fileno(file_)) != 0) fail();
    }
    void close() {
        if (std::fclose(std::exchange(file_, nullptr)) != 0) fail();
    }

private:
    [[noreturn]] void fail() const { syncline::fail("write " + shown_, std::strerror(errno)); }

    std::string shown_;
    std::FILE* file_;
};

/// Writes directly to a pipe or device, which cannot be replaced by a rename.
void write_special(const std::filesystem::path& path, const std::function<void(const Sink&)>& produce) {
    Written file(path, path);
    file.take(produce);
    file.close();
}

/// A temporary file name; the destructor and an interrupt remove the file if it still exists.
class Temporary {
public:
    explicit Temporary(const std::filesystem::path& beside)
        : path_(fmt::format("{}.{}.tmp", beside.string(), getpid())) {
        remove_when_interrupted(path_.c_str());
    }
    ~Temporary() {
        std::error_code unremoved;
        std::filesystem::remove(path_, unremoved);
        remove_when_interrupted(nullptr);
    }
    Temporary(const Temporary&) = delete;
    Temporary& operator=(const Temporary&) = delete;

    const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace

void write_file(const std::filesystem::path& given, const std::function<void(const Sink&)>& produce) {
    std::error_code error;
    const bool there = std::filesystem::exists(given, error);
    if (there && !std::filesystem::is_regular_file(given, error) && !std::filesystem::is_directory(given, error))
        return write_special(given, produce);
    // A symbolic link is kept; its target is replaced.
    const std::filesystem::path path = there ? std::filesystem::canonical(given, error) : given;
    error.clear();
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
    if (error) fail("create the directory " + path.parent_path().string(), error.message());

    const Temporary temporary(path);
    Written file(temporary.path(), path);
    file.take(produce);
    file.sync();
    file.close();
    std::filesystem::rename(temporary.path(), path, error);
    if (error) fail("write " + path.string(), error.message());
}

void write_file(const std::filesystem::path& path, const std::string& text) {
    write_file(path, [&text](const Sink& sink) { sink(text); });
}

void write_stdout(const std::string& text) {
    if (!write_all(stdout, text)) fail("write to standard output", std::strerror(errno));
}

}  // namespace syncline
