#pragma once

#include <string>
#include <string_view>

/// Names of things by what they are: 32 hexadecimal digits (XXH3, 128 bits).
namespace syncline::batch {

/// Of several texts; where one ends and the next begins counts.
class Hash {
public:
    void add(std::string_view text);
    std::string digits() const;

private:
    std::string texts_;
};

std::string hash_of(std::string_view text);

}  // namespace syncline::batch
