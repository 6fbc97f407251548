#pragma once

#include <string>
#include <string_view>

/// Names of things by their content: 32 hexadecimal digits (XXH3, 128 bits).
namespace syncline::batch {

/// A hash of several texts, which depends on the boundaries between them.
class Hash {
public:
    void add(std::string_view text);
    std::string digits() const;

private:
    std::string texts_;
};

std::string hash_of(std::string_view text);

}  // namespace syncline::batch
