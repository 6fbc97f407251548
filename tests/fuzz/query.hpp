#pragma once

#include <string>

#include "sim/query/table.hpp"
#include "tests/fuzz/reading.hpp"

namespace syncline::fuzz {

/// Runs `query`, in which `expression` is a user's.
template <class Query>
void querying(const std::string& expression, const Query& query) {
    try {
        query();
    } catch (const batch::SqlError& error) {
        batch::located(error, {"--where", 1, 1, expression});
    }
}

}  // namespace syncline::fuzz
