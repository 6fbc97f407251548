#pragma once

#include <optional>
#include <string>
#include <vector>

/// Values of knobs as texts, as in `--set KEY=TEXT`: numbers, quantities (`25 us`), percentages, words, and lists and
/// mappings of them in brackets.
namespace syncline::serve {

/// Returns whether two texts mean the same: `1 GBps` and `1000 MBps`, `[0, 1]` and `[0,1]`. A topology's name means the
/// mapping that only has this `topology`; a file's name the mapping with this `name`.
bool same_value(const std::string& one, const std::string& other);

/// Returns the number that a text means, in the base unit of its dimension; `none` is 0. Nothing for other words.
std::optional<double> number_of(const std::string& text);

/// Returns a quantity times a factor, in the unit whose number is from 1 to 1000, or each of a list of quantities, of
/// which `none` stays. Nothing if it is none.
std::optional<std::string> times(const std::string& text, double factor);

/// Returns the index of a value; if it is missing, puts it in its place: where numbers still ascend, else in front.
std::size_t put_in(std::vector<std::string>& values, const std::string& value);

}  // namespace syncline::serve
