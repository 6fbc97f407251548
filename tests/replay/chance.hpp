#pragma once

#include <cstdint>
#include <random>
#include <vector>

/// Draws for random worlds that are the same with every compiler, unlike distributions of the standard library.
namespace syncline {

class Chance {
public:
    explicit Chance(std::uint64_t seed) : random_(seed) {}
    std::uint32_t below(std::uint64_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
    template <class Value>
    Value of(const std::vector<Value>& values) {
        return values[below(values.size())];
    }

private:
    std::mt19937_64 random_;
};

}  // namespace syncline
