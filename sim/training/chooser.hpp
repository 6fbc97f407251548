#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/collective/selection.hpp"
#include "sim/platform/cluster.hpp"
#include "sim/platform/place.hpp"

/// Which algorithm carries out the exchange of so many bytes on a cluster, made and ready to run: the one that the plan
/// names, or the one that its selection chooses.
namespace syncline {

struct Chosen {
    AlgorithmSpec spec;
    Protocol protocol;
    std::string why;
    std::shared_ptr<const CollectiveAlgorithm> algorithm;  ///< the same object for the same choice
};

/// Ranks, nodes and bandwidths of a group. A platform in SimGrid's format shows no bandwidths here: they are infinite.
Terrain terrain_of(const Cluster& cluster, const std::vector<Place>& places);

class Chooser {
public:
    /// `selection`, if there is one, decides in place of `named`, whose operation it is asked for.
    Chooser(const Cluster& cluster, const std::vector<Place>& places, AlgorithmSpec named,
            const std::optional<Selection>& selection);

    Chosen choose(std::uint64_t bytes);

private:
    Choice decide(std::uint64_t bytes) const;

    const AlgorithmSpec named_;
    const std::optional<Selection> selection_;
    const Terrain terrain_;
    std::map<std::pair<std::size_t, std::size_t>, std::shared_ptr<const CollectiveAlgorithm>> made_;
};

/// What results call the algorithm: its name, or "mpich: rabenseifner, recursive-doubling", in the order of use, where
/// a selection decides.
std::string algorithm_label(const std::optional<Selection>& selection, const std::vector<Chosen>& chosen);

}  // namespace syncline
