#pragma once

#include <string>

#include "sim/batch/table.hpp"

namespace syncline {

/// What `syncline results` shows as one page of HTML: the rows as a table to sort, any figure against any setting, the
/// best points. Beyond `most_rows` rows are left out, and the page says so. See report.hpp.
std::string report_page(const std::string& title, const batch::Table& table, const batch::Rows& rows,
                        std::size_t most_rows = 10'000);

}  // namespace syncline
