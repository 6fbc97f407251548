#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include <simgrid/s4u/Semaphore.hpp>

#include "sim/replay/fold_layout.hpp"
#include "sim/taskgraph/task_graph.hpp"

/// Folding: of steps that repeat, some are simulated, message by message, and stand for the rest.
///
/// Each member of a ring (fold_layout.hpp) tells when it has a step behind it. If step k took all of them the same time
/// T, and either they end it at the same moment (the state in which they began it) or as many steps before it took T,
/// too, as the first is ahead of the last, then all steps to come take T as long as nothing changes: what happens
/// depends only on who is where and on what is on the links. They are not simulated: each member sleeps for T times as
/// many, from the end of the step that all are in; all but the last ones, where members are at different steps.
///
/// Nothing changes while no other message shares a link with theirs, or a device's copy engines. Every section of an
/// exchange says which of these its messages use. When another one begins to use one of a ring's whose members are
/// folding, the guess was wrong, and cannot be taken back, as they have nothing on the wires: the simulation ends with
/// Disturbed, and is done once more without folding exchanges of that channel (replay_isolated()).
///
/// The error: none (rounding) where blocks have one size. Blocks that differ by a byte, and members that gather: see
/// fold_layout.hpp. error_s() adds all that up.
///
/// Time: O(members) per simulated step and per section; memory: members × sections of the exchanges under way, and of a
/// layout for each kind of exchange.
namespace syncline {

/// That something was folded which did not repeat.
struct Disturbed {
    std::uint32_t channel = 0;  ///< of the exchange
};

class Folding {
public:
    /// Exchanges of the channels `unfolded` are not folded.
    Folding(const TaskGraph& graph, Wires& wires, const std::vector<std::uint32_t>& unfolded);
    ~Folding();
    Folding(const Folding&) = delete;
    Folding& operator=(const Folding&) = delete;

    /// A ring in one exchange, while its members are in it.
    class Ring;

    /// A member in one of its sections.
    struct Visit {
        const Section* section = nullptr;
        Ring* ring = nullptr;  ///< null where nothing repeats
        std::uint32_t place = 0;
        bool padded = false;
    };

    /// A member carries out an exchange: several tasks of an iteration may be the same one, for a micro-batch each.
    struct Pass {
        ExchangeId exchange = 0;
        std::uint32_t iteration = 0;
        std::uint32_t time = 0;  ///< that the member carries it out, counted from 0
        const std::vector<Section>* sections = nullptr;
    };
    Pass begin(ExchangeId exchange, std::uint32_t member, std::uint32_t iteration);

    /// Puts the calling actor to sleep until the ring's other members are there, where it gathers.
    Visit enter(StreamId stream, const Pass& pass, const Section& section);
    /// That the member has `steps` of its section behind it. Returns how many further ones are folded, after sleeping
    /// as long as they take.
    std::uint32_t stepped(const Visit& visit, std::uint32_t steps);
    void leave(const Visit& visit);

    /// What folding can have changed in an iteration, at most.
    double error_s(std::uint32_t iteration) const { return iteration < errors_s_.size() ? errors_s_[iteration] : 0; }

private:
    using Key = std::tuple<ExchangeId, std::uint32_t, std::uint32_t>;  // exchange, Pass::time, ring of the layout

    const FoldLayout& layout(ExchangeId exchange, std::uint32_t iteration);
    simgrid::s4u::Semaphore& wake(StreamId stream);
    void use(const Section& section, const Ring* by);
    void judge(Ring& ring, std::uint32_t number);
    /// Whether no one else has used its links since then.
    bool alone(const Ring& ring, double since_s);
    void disturb(Ring& ring);
    /// Ends the simulation, before time goes on.
    void give_up(const Ring& ring);
    bool folds(ExchangeId exchange) const;
    void let_go(const Ring& ring);
    void add_error(const Ring& ring, double seconds);

    const TaskGraph& graph_;
    Wires& wires_;
    const std::vector<std::uint32_t>& unfolded_;
    /// By algorithm, group, channel, bytes, and where its programs differ by iteration that, too.
    std::map<std::tuple<const CollectiveAlgorithm*, GroupId, std::uint32_t, std::uint64_t, std::uint32_t>,
             std::unique_ptr<FoldLayout>>
        layouts_;
    std::vector<std::vector<std::uint32_t>> times_;  ///< by exchange and member: how often it was begun
    std::map<Key, std::unique_ptr<Ring>> rings_;
    const Surroundings around_;
    std::vector<std::uint32_t> users_;              ///< by resource: sections under way that use it
    std::vector<double> changed_s_;                 ///< by resource: when the last of them began or ended
    std::uint32_t users_of_all_ = 0;                ///< sections that use all of them ...
    double all_changed_s_ = 0;                      ///< ... and when the last of those began or ended
    std::vector<std::uint32_t> own_;                ///< scratch: of one ring
    std::vector<Ring*> folded_;                     ///< by resource: the folded ring that uses it
    std::vector<simgrid::s4u::SemaphorePtr> wake_;  ///< by stream
    std::vector<double> errors_s_;                  ///< by iteration
};

}  // namespace syncline
