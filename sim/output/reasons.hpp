#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace syncline {

/// Counts the reasons why things were skipped. Sentences that differ only in their numbers, with a unit or the 'x' of a
/// grid, are one reason.
class Reasons {
public:
    struct Reason {
        std::string example;          ///< the first sentence
        std::vector<std::string> of;  ///< the first few skipped things
        std::int64_t count = 0;
        bool varies = false;  ///< some sentences had other numbers
    };

    void add(const std::string& sentence, const std::string& of = "", std::int64_t count = 1);

    static constexpr std::size_t few = 3;

    /// Returns all reasons, the most frequent first; equally frequent ones in order of arrival.
    std::vector<Reason> all() const;
    std::int64_t total() const;

private:
    std::vector<Reason> reasons_;
    std::map<std::string, std::size_t> known_;  ///< by the sentence without its numbers
};

}  // namespace syncline
