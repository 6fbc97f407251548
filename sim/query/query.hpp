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

/// Prepares SQL that contains users' expressions. Throws SqlError, which explains unknown names.
Statement prepared(Database& database, const std::string& sql, const ColumnNames& names);

}  // namespace syncline::batch
