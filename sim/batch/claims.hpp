#pragma once

#include <filesystem>
#include <string>

/// Who runs what, among programs that work on one store: a run's claim is a lock on one byte of `results.lock`.
///
/// The kernel lets go of it when the program that holds it ends, however it does. One Claims per store and program:
/// locks belong to the process (fcntl), so that a second one in it would find all of them free.
namespace syncline::batch {

class Claims {
public:
    /// Throws OutputError.
    explicit Claims(const std::filesystem::path& directory);
    ~Claims();
    Claims(const Claims&) = delete;
    Claims& operator=(const Claims&) = delete;

    /// False if another program has it. Throws OutputError where the file system has no locks.
    bool take(const std::string& run_id);
    void release(const std::string& run_id);

private:
    bool lock(const std::string& run_id, short kind);

    std::filesystem::path file_;
    int descriptor_;
};

}  // namespace syncline::batch
