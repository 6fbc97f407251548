#pragma once

#include <string>

#include "sim/batch/database.hpp"
#include "sim/batch/expression.hpp"

namespace syncline::batch {

/// The column with a setting as it is written, where that is a quantity: the one named by its key has the value.
inline std::string written(const std::string& key) {
    return "written " + key;
}

/// Prepares what was put together from people's expressions; an unknown name is explained. Throws SqlError.
Statement prepared(Database& database, const std::string& sql, const Names& names);

}  // namespace syncline::batch
