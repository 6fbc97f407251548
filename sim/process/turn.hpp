#pragma once

#include <exception>
#include <functional>
#include <semaphore>
#include <thread>

namespace syncline {

/// Work in a thread that runs only while its creator waits: after resume(), until it pauses or ends. Nothing is ever
/// concurrent, so the work may share the creator's data; its creator may fork, because no lock is held by the thread
/// in the meantime.
class Turn {
public:
    explicit Turn(std::function<void()> work);
    /// Ends work that is paused by an exception from its pause().
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    /// Returns the turn in whose thread the caller runs; null if there is none.
    static Turn* current();

    /// Runs the work until it pauses or ends. It must not have ended.
    void resume();
    /// Returns to the creator until resume(). Only the work itself calls it.
    void pause();

    bool ended() const { return ended_; }
    /// The exception that ended the work; null if there is none.
    const std::exception_ptr& error() const { return error_; }

private:
    struct Cancelled {};

    std::binary_semaphore runs_{0}, waits_{0};
    bool cancelled_ = false, ended_ = false;
    std::exception_ptr error_;
    std::thread thread_;
};

}  // namespace syncline
