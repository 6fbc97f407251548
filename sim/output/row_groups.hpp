#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "sim/base/pattern.hpp"

/// Rows of tables that are alike, such as equal layers: one row with their number stands for all.
namespace syncline::text {

/// Rows that are alike: their first one, to which the others may be added, and their number.
template <class Item>
struct Group {
    Item first;
    std::size_t count = 1;
};

/// Returns whether two times are equal, to a percent.
inline bool same_time(double a, double b) {
    return std::abs(a - b) <= 0.01 * std::max(std::abs(a), std::abs(b));
}

/// Groups items that are alike: with names that differ in numbers only, and for which `alike` holds. `add` adds one to
/// the first one of its group.
template <class Item, class Alike, class Add>
std::vector<Group<Item>> grouped(const std::vector<Item>& items, std::string Item::*name, Alike alike, Add add) {
    std::vector<Group<Item>> groups;
    std::map<std::string, std::vector<std::size_t>> by_pattern;
    for (const Item& item : items) {
        std::vector<std::size_t>& same = by_pattern[pattern_of(item.*name)];
        const auto found = std::ranges::find_if(same, [&](std::size_t group) { return alike(groups[group], item); });
        if (found == same.end()) {
            same.push_back(groups.size());
            groups.push_back({item});
        } else {
            add(groups[*found], item);
            ++groups[*found].count;
        }
    }
    return groups;
}

/// Returns the name of a row: "backward of layer1 (x32)".
template <class Item>
std::string name_of_group(const Group<Item>& group, std::string Item::*name) {
    return group.first.*name + (group.count > 1 ? fmt::format(" (x{})", group.count) : "");
}

/// Returns the line below a table that shows the first ones only: "and 3 more"; empty if it shows all.
template <class Item>
std::string and_more(const std::vector<Item>& items, std::size_t shown) {
    return items.size() > shown ? fmt::format("and {} more\n", items.size() - shown) : "";
}

}  // namespace syncline::text
