#pragma once

#include <string>

#include "sim/query/table.hpp"

namespace syncline {

/// Returns the output of `syncline results` as an HTML page: the best points, a chart of any result over any setting,
/// and a sortable table of the rows. Rows beyond `most_rows` are left out, and the page says so. See report.hpp.
std::string report_page(const std::string& title, const batch::Table& table, const batch::Rows& rows,
                        std::size_t most_rows = 10'000);

}  // namespace syncline
