#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace syncline {

/// Why things were left out, counted: sentences that differ in their numbers alone are one reason.
///
/// Numbers go with the unit or the 'x' of a grid behind them: "needs 12 GiB" and "needs 900 MiB", "8x2" and "16x1" are
/// alike.
class Reasons {
public:
    struct Reason {
        std::string example;          ///< the first sentence
        std::vector<std::string> of;  ///< the first few things of which it was said
        std::int64_t count = 0;
        bool varies = false;  ///< other sentences had other numbers
    };

    void add(const std::string& sentence, const std::string& of = "", std::int64_t count = 1);

    static constexpr std::size_t few = 3;

    /// The most frequent first; of equal ones the first that came.
    std::vector<Reason> all() const;
    std::int64_t total() const;

private:
    std::vector<Reason> reasons_;
    std::map<std::string, std::size_t> known_;  ///< by the sentence without its numbers
};

}  // namespace syncline
