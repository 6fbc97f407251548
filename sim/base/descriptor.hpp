#pragma once

#include <unistd.h>

namespace syncline {

/// A file descriptor that is closed at the end; below 0: none.
class Descriptor {
public:
    explicit Descriptor(int number = -1) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) close(number_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    void set(int number) { number_ = number; }
    int get() const { return number_; }

private:
    int number_;
};

}  // namespace syncline
