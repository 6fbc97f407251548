#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

/// A function that can be suspended, and that other such functions call with co_await.
///
/// It starts when it is awaited, and its caller continues when it has ended, with its value or exception. If it ends
/// without being suspended, the caller is not suspended either. So a chain of coroutines whose operations all block the
/// thread is an ordinary call, and a loop of such calls needs no stack, with any compiler at any level of optimisation.
namespace syncline {

template <class Value = void>
class Coroutine;

/// Common to coroutines with and without a value.
struct CoroutineState {
    std::coroutine_handle<> caller = nullptr;  ///< null until it waits
    std::exception_ptr error = nullptr;

    struct End {
        bool await_ready() const noexcept { return false; }
        template <class Promise>
        void await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
            // The caller destroys this coroutine as it continues: nothing of it may be used afterwards.
            if (const std::coroutine_handle<> waiting = ended.promise().caller) waiting.resume();
        }
        void await_resume() const noexcept {}
    };

    std::suspend_always initial_suspend() const noexcept { return {}; }
    End final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { error = std::current_exception(); }
};

template <class Value>
struct CoroutineResult : CoroutineState {
    std::optional<Value> value;
    void return_value(Value result) { value = std::move(result); }
    Value get() { return std::move(*value); }
};

template <>
struct CoroutineResult<void> : CoroutineState {
    void return_void() const noexcept {}
    void get() const noexcept {}
};

template <class Value>
class [[nodiscard]] Coroutine {
public:
    struct promise_type : CoroutineResult<Value> {
        Coroutine get_return_object() { return Coroutine(std::coroutine_handle<promise_type>::from_promise(*this)); }
    };

    Coroutine(Coroutine&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Coroutine& operator=(Coroutine&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Coroutine() {
        if (handle_) handle_.destroy();
    }

    /// Starts it, or continues it where it was suspended, if nothing awaits it.
    void resume() const { handle_.resume(); }
    bool done() const { return handle_.done(); }
    /// Returns the value or throws the exception with which it has ended.
    Value result() const {
        if (handle_.promise().error) std::rethrow_exception(handle_.promise().error);
        return handle_.promise().get();
    }

    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> caller) const {
        handle_.resume();
        if (handle_.done()) return false;
        handle_.promise().caller = caller;
        return true;
    }
    Value await_resume() const { return result(); }

private:
    explicit Coroutine(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

    std::coroutine_handle<promise_type> handle_;
};

/// An operation to await. `begin(caller)` starts it; it returns true if the caller is suspended, and will be resumed
/// when the operation is over, and false if it is over already.
template <class Begin>
struct Awaitable {
    Begin begin;

    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> caller) { return begin(caller); }
    void await_resume() const noexcept {}
};

template <class Begin>
Awaitable(Begin) -> Awaitable<Begin>;

}  // namespace syncline
