#include "sim/process/turn.hpp"

#include <csignal>
#include <utility>

namespace syncline {

namespace {

thread_local Turn* current_turn = nullptr;

/// Blocks all signals during its lifetime, and in threads that are created meanwhile: handlers run in the main thread.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
    sigset_t before_{};
};

}  // namespace

Turn::Turn(std::function<void()> work) {
    const SignalsBlocked blocked;
    thread_ = std::thread([this, work = std::move(work)] {
        current_turn = this;
        runs_.acquire();
        try {
            if (!cancelled_) work();
        } catch (const Cancelled&) {
        } catch (...) {
            error_ = std::current_exception();
        }
        ended_ = true;
        waits_.release();
    });
}

Turn::~Turn() {
    cancelled_ = true;
    if (!ended_) resume();
}

Turn* Turn::current() {
    return current_turn;
}

void Turn::resume() {
    runs_.release();
    waits_.acquire();
    if (ended_) thread_.join();  // the end of a thread takes locks, too
}

void Turn::pause() {
    if (!cancelled_) {
        waits_.release();
        runs_.acquire();
    }
    if (cancelled_) throw Cancelled();
}

}  // namespace syncline
