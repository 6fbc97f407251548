#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "sim/replay/lanes.hpp"
#include "sim/replay/link_images.hpp"
#include "sim/replay/simulator.hpp"
#include "sim/replay/wires.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Symmetry of a simulation: rotations of all processes after which everything is as before.
///
/// A rotation moves process i of each span of s processes to place i + k (mod s), where k divides s: of the ranks of a
/// stage, which its replicas have in order, or of the tensor-parallel ranks of each replica. If it takes tasks to equal
/// tasks, groups to groups, their members' programs to the same programs among the shifted peers, and routes to routes
/// over equal links, then each process does at every moment what its images do, because a simulation is deterministic
/// and links are shared by max-min fairness, which knows no numbers. So are several rotations, one inside the other
/// (Rotations), which commute, and give a process n images, the product of their s/k. One image is simulated, and
/// stands for all (the quotient of the simulation by the group that the rotations generate):
///
/// - A message from p to q is that of its image whose sender is simulated: pairs are `canonical`. The receiver, if it
///   is not simulated, is represented by its own simulated image, which waits for the same message.
/// - Links have images, too. Of a link's m images, which divide n, one is simulated, with m/n of its bandwidth, since
///   each simulated message stands for n/m on that link. (A device's port has n images; a link that all nodes share,
///   one.)
/// - A route may pass several images of one link, as in a torus: the simulated message has as many times its bytes
///   there.
///
/// A group with simulated members must have the representatives of all its members. A rotation permutes members of a
/// group, or moves it to another one. A cyclic shift, such as that of all ranks, keeps any order among peers; others,
/// such as that of the hosts of each leaf in an all-to-all over a tree, change the order of a step's messages to
/// different peers, which matters only if they leave one after the other (overheads, windows, copies).
///
/// This is exact, up to rounding, if blocks are equal (TaskGraph::represent may make them so: rounding.hpp). Everything
/// is checked on the graph, or follows from the plan (alike.hpp), and on the routes; where the smallest period
/// fails, larger ones are tried. Left out: rings whose blocks differ by a byte, hence in which members
/// differ; noise; queues; messages for which loads or a hash choose one of several ways.
///
/// Averages. Nodes are seldom alike in a whole fabric: 168 nodes do not fill units of 32, and messages between some of
/// them pass more switches. If links in the middle of the routes restrict nothing (middle.hpp), routes may count
/// without these, where the user allows it, and with the mean of the latency that they have over the images; or with
/// the highest, if latency blocks, since the slowest message then sets the pace of a ring. This is not exact, and the
/// error has no bound: groups of which all messages pass a spine take longer than the mean (10 % of a small example),
/// and images that fall out of step by nanoseconds change who waits for whom (0.14 % with GPT-3 175B on 768 GPUs, up to
/// 4 % where four devices share a port).
///
/// Time of the search: O(tasks + members · steps of the programs + images · routes). Memory: 4 bytes for each task.
namespace syncline {

class Symmetry {
public:
    const Rotations& rotations() const { return rotations_; }
    /// Returns the number of processes that each simulated one stands for.
    std::uint32_t images() const { return rotations_.images(); }
    bool simulated(ProcessId process) const { return rotations_.stands(process); }
    ProcessId representative(ProcessId process) const { return rotations_.representative(process); }
    /// Returns the image of the pair whose sender is simulated.
    Pair canonical(const Pair& pair) const {
        const std::uint32_t home = rotations_.home(pair.from);
        return {pair.channel, rotations_.image(pair.from, home), rotations_.image(pair.to, home)};
    }
    /// Returns the simulated image of each link: see Wires::represent().
    const std::vector<std::uint32_t>& links() const { return links_.links; }
    /// Returns the links that are passed, by simulated sender and receiver.
    const Wires::PassedWays& passed() const { return links_.passed; }
    /// Returns the largest difference of their latency between images.
    double spread_s() const { return links_.spread_s; }

private:
    friend std::optional<Symmetry> find_symmetry(const TaskGraph&, const Lanes&, const Wires&, bool);
    friend class SymmetryCheck;

    explicit Symmetry(Rotations rotations) : rotations_(std::move(rotations)) {}

    Rotations rotations_;
    LinkImages links_;
};

/// Returns true if the rotation takes the processes of a node to one node, and those of a device to one device.
bool rotates_nodes(const std::vector<Place>& places, const Rotation& rotation);

/// Numbers of routes at which a search looks: a few show most rotations that are none.
inline constexpr std::size_t few_pairs = 256, all_pairs = std::numeric_limits<std::size_t>::max();

/// Returns the rotations that are symmetries on these links, of a graph with representatives only
/// (TaskGraph::represent) of rotations among `alike`, under which tasks are alike, as under those with multiples of
/// their periods: at most one of each span, the largest first (alike.hpp). They are searched for span by span, and may
/// still fail in a graph that has all of their representatives, more often if only the routes of `most_pairs` are
/// looked at.
Rotations rotations_of(const TaskGraph& graph, const std::vector<Rotation>& alike, const Lanes& lanes,
                       const Wires& wires, bool average, std::size_t most_pairs = few_pairs);

/// Returns the symmetry of this graph on these links, with the smallest period in each of its spans, the largest span
/// first; nothing if there is none. Of a graph with representatives only (TaskGraph::represent) it is theirs, or there
/// is none, and their tasks count as checked. With `average` it may be one with averages there, if it is none without.
std::optional<Symmetry> find_symmetry(const TaskGraph& graph, const Lanes& lanes, const Wires& wires,
                                      bool average = false);

}  // namespace syncline
