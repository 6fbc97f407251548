#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

/// Successive halving (K. Jamieson, A. Talwalkar, AISTATS 2016) with a limited number of simulations: rungs of
/// increasingly expensive settings, up to the one asked for, each with the better half of the previous one's points.
namespace syncline::batch {

/// Returns the number of points of each rung, cheapest first: about half of those of the previous one, in total at most
/// `budget` and at most `points`. A budget that is too small for all rungs leaves out the cheapest ones.
std::vector<std::size_t> rung_sizes(std::size_t points, std::size_t rungs, std::size_t budget);

/// Evaluates `points` at the setting of a rung and returns them, best first.
using Ranking = std::function<std::vector<std::size_t>(std::size_t rung, const std::vector<std::size_t>& points)>;

/// Takes the first points of `order` to the first rung, the best of these to the next one, and so on; returns the
/// points of the last rung, best first.
std::vector<std::size_t> successive_halving(std::vector<std::size_t> order, const std::vector<std::size_t>& sizes,
                                            const Ranking& ranking);

/// Returns up to `count` points in an order whose every beginning is spread over the axes: they are drawn one by one
/// without replacement, always one of those whose values were drawn least often so far, at random among equals.
/// `values[p][axis]` is the index of the axis's value of point p, from 0.
std::vector<std::size_t> spread_draw(const std::vector<std::vector<std::size_t>>& values, std::size_t count,
                                     std::uint64_t seed);

}  // namespace syncline::batch
