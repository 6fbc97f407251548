#include "sim/output/written_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
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
    Written(std::FILE* file, const std::filesystem::path& shown) : shown_(shown.string()), file_(file) {
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
    void set_mode(mode_t mode) const { fchmod(fileno(file_), mode); }
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

/// A file to which others append, too; it is locked until the destructor closes it. Where files cannot be locked, it
/// is not.
class AppendedFile {
public:
    explicit AppendedFile(const std::filesystem::path& path)
        : shown_(path.string()), file_(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
        if (file_ < 0) fail(errno);
        while (flock(file_, LOCK_EX) != 0 && errno == EINTR) {
        }
    }
    ~AppendedFile() { ::close(file_); }
    AppendedFile(const AppendedFile&) = delete;
    AppendedFile& operator=(const AppendedFile&) = delete;

    void append(const std::string& header, const std::string& text) const {
        struct stat before {};
        if (fstat(file_, &before) != 0) fail(errno);
        std::string added = before.st_size == 0 ? header : "";
        char last = '\n';
        if (before.st_size > 0 && pread(file_, &last, 1, before.st_size - 1) != 1) fail(errno);
        if (last != '\n') added += '\n';
        added += text;
        const ssize_t written = ::write(file_, added.data(), added.size());
        if (written == static_cast<ssize_t>(added.size())) return;
        const int reason = written < 0 ? errno : ENOSPC;
        if (written > 0 && ftruncate(file_, before.st_size) != 0) fail(errno);
        fail(reason);
    }

private:
    [[noreturn]] void fail(int reason) const { syncline::fail("write " + shown_, std::strerror(reason)); }

    std::string shown_;
    int file_;
};

/// Writes directly to a pipe or device, which cannot be replaced by a rename.
void write_special(const std::filesystem::path& path, const std::function<void(const Sink&)>& produce) {
    Written file(std::fopen(path.c_str(), "wb"), path);
    file.take(produce);
    file.close();
}

/// Returns true if `path` still names the open file: another program may have renamed or removed it.
bool is_named(int file, const std::string& path) {
    struct stat opened {
    }, named{};
    return fstat(file, &opened) == 0 && lstat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

/// A temporary file, which is locked while it is open; the destructor and an interrupt remove it if it still exists.
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
    /// Returns null if it cannot be created.
    std::FILE* open() const {
        for (;;) {
            const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
            if (file < 0) return nullptr;
            // Where files cannot be locked, orphans stay. Another program may take the file for an orphan before it is
            // locked.
            while (flock(file, LOCK_EX) != 0 && errno == EINTR) {
            }
            if (is_named(file, path_) && ftruncate(file, 0) == 0) return fdopen(file, "wb");
            ::close(file);
        }
    }

private:
    std::string path_;
};

/// Removes the temporary files beside `path` that killed programs have left. A program that still writes has locked its
/// own.
void remove_orphans(const std::filesystem::path& path) {
    const std::string begin = path.filename().string() + ".";
    const auto directory = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    std::error_code error;
    for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (!name.starts_with(begin) || !name.ends_with(".tmp") || name.size() < begin.size() + 5) continue;
        const std::string_view number = std::string_view(name).substr(begin.size(), name.size() - begin.size() - 4);
        if (number.find_first_not_of("0123456789") != std::string_view::npos) continue;
        std::error_code unknown;
        if (entry->symlink_status(unknown).type() != std::filesystem::file_type::regular) continue;
        const int file = ::open(entry->path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
        if (file < 0) continue;
        if (flock(file, LOCK_EX | LOCK_NB) == 0 && is_named(file, entry->path())) unlink(entry->path().c_str());
        ::close(file);
    }
}

/// Returns true for devices and pipes, which are written to in place.
bool is_special(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error) &&
           !std::filesystem::is_directory(path, error);
}

/// Returns the file to replace: a symbolic link is kept, and its target is replaced. Makes the directories above it.
std::filesystem::path place_of(const std::filesystem::path& given) {
    std::error_code error;
    const bool there = std::filesystem::exists(given, error);
    const std::filesystem::path path = there ? std::filesystem::canonical(given, error) : given;
    error.clear();
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
    if (error) fail("create the directory " + path.parent_path().string(), error.message());
    return path;
}

}  // namespace

void write_file(const std::filesystem::path& given, const std::function<void(const Sink&)>& produce) {
    if (is_special(given)) return write_special(given, produce);
    const std::filesystem::path path = place_of(given);
    remove_orphans(path);
    const Temporary temporary(path);
    Written file(temporary.open(), path);
    struct stat before {};
    if (stat(path.c_str(), &before) == 0) file.set_mode(before.st_mode & 0777);
    file.take(produce);
    file.sync();
    std::error_code error;
    std::filesystem::rename(temporary.path(), path, error);  // while it is locked
    if (error) fail("write " + path.string(), error.message());
    file.close();
}

void require_writable(const std::filesystem::path& given) {
    if (is_special(given)) return;
    const std::filesystem::path path = place_of(given);
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) fail("write " + path.string(), "it is a directory");
    const Temporary temporary(path);
    Written(temporary.open(), path).close();
}

void write_file(const std::filesystem::path& path, const std::string& text) {
    write_file(path, [&text](const Sink& sink) { sink(text); });
}

void append_file(const std::filesystem::path& given, const std::string& header, const std::string& text) {
    AppendedFile(place_of(given)).append(header, text);
}

void redraw(std::string_view line) {
    write_all(stderr, "\r" + printable(line) + "\x1b[K");
}

void write_stdout(const std::string& text) {
    write_data(printable(text, "\n\t"));
}

void write_data(const std::string& text) {
    if (!write_all(stdout, text)) fail("write to standard output", std::strerror(errno));
}

}  // namespace syncline
