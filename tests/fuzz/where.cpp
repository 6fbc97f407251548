#include "sim/query/expression.hpp"
#include "sim/query/row_text.hpp"
#include "sim/query/table.hpp"
#include "tests/fuzz/query.hpp"
#include "tests/fuzz/targets.hpp"

/// An expression as a condition, as one to sort by, as a list of columns, and as groups.
void syncline::fuzz::where(std::string_view input) {
    const std::string text(input);
    batch::Table table(std::vector<std::string>{"training.ranks", "platform.fabric.bandwidth", "variant", "a.0.b"});
    table.set({{"training.ranks", "4"}, {"platform.fabric.bandwidth", "25 Gbps"}, {"variant", "ring"}});
    querying(text, [&] { table.holds(text); });
    querying(text, [&] { batch::to_table(table.select({{text}, {text}, {}, {}})); });
    querying(text, [&] { batch::to_json(table.select({{}, {}, {}, batch::split_list(text)})); });
    querying(text, [&] { batch::to_csv(table.select({{}, {}, batch::split_list(text), {"ranks"}})); });
}
