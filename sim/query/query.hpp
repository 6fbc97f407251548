#pragma once

#include <string>

#include "sim/query/expression.hpp"
#include "sim/store/database.hpp"

namespace syncline::batch {

/// Returns the name of the column with a setting as written, if it is a quantity; the column named by its key has the
/// value.
inline std::string written(const std::string& key) {
    return "written " + key;
}

/// Returns a user's expression on the columns of `table` as SQL, in brackets. Throws SqlError, which explains unknown
/// names, if it is anything else: see Database::check().
std::string checked(const Database& database, const std::string& table, const ColumnNames& names,
                    const std::string& expression);

}  // namespace syncline::batch
