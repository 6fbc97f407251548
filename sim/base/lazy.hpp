#pragma once

#include <functional>
#include <optional>
#include <utility>

namespace syncline {

/// A value that is made when it is first asked for: costly, and often not needed. Not for several threads at a time.
template <class Value>
class Lazy {
public:
    /// `make` is called at most once, perhaps much later, so that it owns what it needs.
    explicit Lazy(std::function<Value()> make) : make_(std::move(make)) {}

    const Value& operator*() const {
        if (!value_) {
            value_ = make_();
            make_ = nullptr;
        }
        return *value_;
    }
    const Value* operator->() const { return &**this; }

private:
    mutable std::function<Value()> make_;
    mutable std::optional<Value> value_;
};

}  // namespace syncline
