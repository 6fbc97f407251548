#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

/// Successive halving (K. Jamieson, A. Talwalkar, AISTATS 2016) where what is limited is the number of simulations:
/// rungs of ever dearer settings, each with the better half of the points of the one before, and the last one as asked.
namespace syncline::batch {

/// How many points each rung takes, cheapest first: about half of those of the one before, together never more than
/// `budget`, nor than there are points. A budget that is too small to halve so often leaves out the cheapest rungs.
std::vector<std::size_t> rung_sizes(std::size_t points, std::size_t rungs, std::size_t budget);

/// Evaluates `points` at the setting of a rung and returns them, best first.
using Ranking = std::function<std::vector<std::size_t>(std::size_t rung, const std::vector<std::size_t>& points)>;

/// Takes the first of `order` to the first rung, the best of these to the next one, and so on; returns what the last
/// rung says, best first.
std::vector<std::size_t> successive_halving(std::vector<std::size_t> order, const std::vector<std::size_t>& sizes,
                                            const Ranking& ranking);

/// All points in an order whose every beginning is spread over the axes: drawn one by one without replacement, always
/// one of those whose values were drawn least so far, by chance among equals. `values[p][axis]`: which of the axis's
/// values point p has, from 0. At most `count` of them.
std::vector<std::size_t> spread_draw(const std::vector<std::vector<std::size_t>>& values, std::size_t count,
                                     std::uint64_t seed);

}  // namespace syncline::batch
