#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

/// Units of results' fields, from the tables in result_fields.hpp.
namespace syncline {

enum class Unit {
    text,           ///< also flags
    list,           ///< elements of several kinds, or one number per rank
    number,         ///< a plain number or a count
    share,          ///< a fraction of one
    seconds,        ///< the names of these fields end with `_s`
    bytes,          ///< B
    bandwidth,      ///< bytes per second; the names end with `_Bps`
    samples_per_s,  ///< the names end with `_samples_per_s`
    tokens_per_s,   ///< the names end with `_per_s`
    tflops,         ///< 10¹² FLOP per second
    money,          ///< in the currency of a price
    joules,         ///< the names end with `_J`
    watts           ///< the names end with `_W`
};

/// Returns "s", "B/s", …; empty for plain numbers, shares, texts and lists.
const char* symbol(Unit unit);
/// Returns the name of a field or column without its ending for `unit`: "iteration_time" of iteration_time_s.
std::string without_unit(std::string name, Unit unit);

/// Returns the unit of the field `name` of any kind of result; `number` if there is none.
Unit unit_of(std::string_view name);
/// Returns the units of all fields, by name.
const std::map<std::string, Unit, std::less<>>& field_units();

}  // namespace syncline
