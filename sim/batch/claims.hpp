#pragma once

#include <filesystem>
#include <string>

/// Claims of runs among programs that work on one store: a lock on one byte of `results.lock`, which the kernel
/// releases when its program ends. A program must have only one Claims per store: locks belong to the process (fcntl).
namespace syncline::batch {

class Claims {
public:
    /// Opens the file of locks. Throws OutputError.
    explicit Claims(const std::filesystem::path& directory);
    ~Claims();
    Claims(const Claims&) = delete;
    Claims& operator=(const Claims&) = delete;

    /// Claims a run. Returns false if another program has claimed it. Throws OutputError if the file system has no
    /// locks.
    bool take(const std::string& run_id);
    void release(const std::string& run_id);

private:
    bool lock(const std::string& run_id, short kind);

    std::filesystem::path file_;
    int descriptor_;
};

}  // namespace syncline::batch
