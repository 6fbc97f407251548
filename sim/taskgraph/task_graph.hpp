#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/collective/algorithm.hpp"
#include "sim/collective/protocol.hpp"
#include "sim/platform/interference.hpp"
#include "sim/platform/place.hpp"
#include "sim/taskgraph/pace.hpp"
#include "sim/taskgraph/rotations.hpp"
#include "sim/taskgraph/varying_work.hpp"

/// One training iteration as tasks, streams and dependencies, in flat arrays that index each other. A process is a
/// worker (a rank) or a server. Each of its streams executes its tasks in the order in which they were added, like a
/// CUDA stream, unless take_by_priority says otherwise; a task waits for those it depends on, in this iteration or an
/// earlier one. A collective is one task for each member of its group; its messages are generated during replay.
namespace syncline {

using StreamId = std::uint32_t;
using TaskId = std::uint32_t;
using ExchangeId = std::uint32_t;
using GroupId = std::uint32_t;
using QueueId = std::uint32_t;
using PartId = std::uint32_t;

inline constexpr TaskId no_task = ~TaskId{0};
inline constexpr StreamId no_stream = ~StreamId{0};

enum class StreamKind : std::uint8_t {
    compute,
    input_copy,
    release,
    exchange,
    push,
    pull,
    aggregate,
    activations,  ///< exchanges within a stage
    transfer,     ///< to another stage
    receive,      ///< from another stage; starts to wait long before
    weights,
    host_copy,  ///< copies of gradients and weights between device and host
    load,       ///< reading of input from the storage
    host        ///< work of the rank's processor, in an execution trace
};

enum class Phase : std::uint8_t {
    forward,
    backward,
    optimizer,  ///< the step of the optimizer
    update,     ///< end of an iteration, which takes no time
    input_copy,
    release,
    exchange,
    push,
    pull,
    aggregate,
    barrier,
    activations,  ///< activations or their gradients, between the ranks of a stage
    halo,
    transfer,      ///< between stages
    weights,       ///< gathering of weights whose shards are on different ranks
    encode,        ///< of a layer's gradients
    factor,        ///< computation between a bucket's two exchanges
    decode,        ///< of a bucket
    recompute,     ///< of a layer's forward pass, once more before its backward pass
    context,       ///< queries, keys, values, outputs or their gradients, between ranks that divide a sequence
    dispatch,      ///< tokens, or gradients of results, to the ranks of their experts
    combine,       ///< results, or gradients of tokens, back
    to_host,       ///< copy of offloaded gradients
    to_device,     ///< copy of the weights that the host has updated
    load,          ///< reading of input from the storage
    kernel,        ///< computation of an execution trace
    communication  ///< a send, a receive or a collective of one
};

struct Process {
    Place place;
    SpeedBesideExchange speed_beside_exchange = {};  ///< speed of its compute stream while others are in an exchange
    Pace pace = {};                                  ///< of its compute stream
    TaskId begins_with = no_task;                    ///< see TaskGraph::begin_with()
    PartId part = 0;                                 ///< see TaskGraph::append()
};

struct Stream {
    static constexpr QueueId no_queue = ~QueueId{0};
    static constexpr std::uint32_t no_turns = ~std::uint32_t{0};

    ProcessId process = 0;
    StreamKind kind = StreamKind::compute;
    QueueId queue = no_queue;        ///< the streams with which it agrees on the order of tasks, if any
    std::uint32_t turns = no_turns;  ///< the streams with which it takes turns, if any
};

/// One collective among a group. Messages of exchanges with the same tag between the same two processes are
/// delivered in order.
struct Exchange {
    std::shared_ptr<const CollectiveAlgorithm> algorithm;
    GroupId group = 0;
    std::uint32_t tag = 0;
    std::uint64_t bytes = 0;
    double gamma_s_per_B = 0;  ///< cost of the members' reductions
    Protocol protocol = {};
    ExchangeClass kind = ExchangeClass::collective;
    bool buffered = false;          ///< messages start when their senders are ready, whether receivers are or not
    std::uint64_t added_bytes = 0;  ///< of `bytes`, those that TaskGraph::represent() has added
};

struct Task {
    static constexpr ExchangeId no_exchange = ~ExchangeId{0};

    StreamId stream = 0;
    Phase phase = Phase::forward;
    std::uint32_t subject = 0;          ///< the layer or bucket that the task belongs to
    double seconds = 0;                 ///< time that the stream is busy, unless the task is an exchange
    ExchangeId exchange = no_exchange;  ///< the collective, if the task is one ...
    std::uint32_t member = 0;           ///< ... and which member of its group this stream is
    std::uint32_t priority = 0;         ///< in take_by_priority: the lowest value goes first
    std::uint32_t micro_batch = 0;      ///< of a pass, and of its exchanges
    /// If positive, the stream is busy until the next tick of a clock with this period, whenever the task starts: see
    /// next_tick(). The clock restarts with each iteration of the process: see TaskGraph::begin_with().
    double tick_s = 0;
};

/// In iteration i a task waits for the task `on` of iteration i - `distance`; for nothing if there is no such
/// iteration.
struct Dependency {
    TaskId on = 0;
    std::uint32_t distance = 0;
};

/// Maximum number of bytes by which TaskGraph::represent() may round up an exchange, and all exchanges together.
struct Rounding {
    std::uint64_t each = 0, all = 0;
};

class TaskGraph {
public:
    ProcessId add_process(Process process);
    StreamId add_stream(ProcessId process, StreamKind kind);
    GroupId add_group(std::vector<ProcessId> members);
    ExchangeId add_exchange(const Exchange& exchange);
    TaskId add_task(const Task& task);
    void depend(TaskId task, TaskId on, std::uint32_t distance = 0);
    /// Makes the process of `task` begin each iteration when the task's dependencies have ended. The process does not
    /// begin iteration i + 2 before its tasks with ticks have ended in iteration i.
    void begin_with(TaskId task);

    /// Makes these streams execute their tasks in one order that they agree on. When the first of them becomes free, it
    /// takes, among the tasks whose dependencies have ended on all of the streams, the one with the lowest priority,
    /// and of several the one added first; the others follow. The i-th tasks of all streams correspond: same exchange,
    /// if any, and same priority. A stream is in at most one such queue, and completes an iteration before it begins
    /// the next.
    QueueId take_by_priority(std::vector<StreamId> streams);
    /// Makes these streams, which neither compute nor exchange, execute one task at a time: the one whose dependencies
    /// ended first, as a processor that serves them in the order of arrival.
    void take_turns(const std::vector<StreamId>& streams);
    /// Makes `task` wait for so many of its dependencies only, whichever end first.
    void wait_for_first(TaskId task, std::uint32_t count);
    /// Gives `task` up once `by` has ended in the same iteration: its computation stops, and if it has not begun, it
    /// takes no time, and sends nothing. All members of an exchange must be given up by the same task, and do what the
    /// first of them does that gets there; so none may wait in it for another that is given up.
    void give_up(TaskId task, TaskId by);

    /// Makes `seconds` of a task's time those of an average: in an iteration they are multiplied by the factor of this
    /// row of the varying work.
    void vary(TaskId task, double seconds, std::uint32_t row);
    void set_work(std::shared_ptr<const VaryingWork> work) { works_ = {std::move(work)}; }

    /// Says that processes may be alike within spans of so many consecutive ones, the largest first: see symmetry.hpp.
    /// A hint that nothing else depends on.
    void set_spans(std::vector<std::uint32_t> spans) { spans_ = std::move(spans); }
    /// Says that only processes that stand for others have streams. Those of the others would be alike; a group has all
    /// its members. Only symmetry.hpp can replay such a graph. Members of several images would differ by a byte in
    /// exchanges whose blocks do: those that are added afterwards, of groups that a rotation of the largest span turns,
    /// are rounded up to blocks of equal size, in each part of the buffer, as far as `negligible` permits. See
    /// sim/replay/rounding.hpp for the effects.
    void represent(Rotations rotations, Rounding negligible) {
        rotations_ = std::move(rotations);
        negligible_ = negligible;
    }
    /// Sets the noise of all messages' latencies.
    void set_lateness(const Lateness& lateness) { latenesses_ = {lateness}; }

    /// Sorts dependencies and streams; nothing may be added afterwards. Throws std::logic_error if tasks of one
    /// iteration form a cycle, streams' orders included, or if the streams of a queue differ.
    void seal();

    /// First number of a part's processes, streams, tasks, exchanges and groups.
    struct Part {
        ProcessId process = 0;
        StreamId stream = 0;
        TaskId task = 0;
        ExchangeId exchange = 0;
        GroupId group = 0;
    };
    /// Adds a sealed graph as a part of its own, to be replayed at the same time as the others, each for its own number
    /// of iterations (ReplayOptions::parts). Parts share nothing but the cluster: numbers are counted on, tags are not,
    /// since no two processes exchange with each other in two parts. Everything else stays as it is, so that a part
    /// replayed by itself sends the same messages on the same channels. A graph of parts is sealed. Throws
    /// std::logic_error if the graph has representatives only (represent()), or if tasks were added otherwise.
    void append(const TaskGraph& part);
    /// Returns the parts that were added; none: the graph is a whole.
    const std::vector<Part>& parts() const { return parts_; }

    const std::vector<Process>& processes() const { return processes_; }
    const std::vector<Stream>& streams() const { return streams_; }
    const std::vector<Task>& tasks() const { return tasks_; }
    const Exchange& exchange(ExchangeId id) const { return exchanges_[id]; }
    std::size_t exchanges() const { return exchanges_.size(); }
    std::size_t groups() const { return groups_.size(); }
    std::span<const ProcessId> group(GroupId id) const { return groups_[id]; }
    const std::vector<std::vector<StreamId>>& queues() const { return queues_; }
    std::uint32_t turns() const { return turns_; }  ///< number of sets of streams that take turns
    /// Returns the number of its dependencies that the task waits for, if not for all; else 0.
    std::uint32_t first_of(TaskId task) const { return task < first_of_.size() ? first_of_[task] : 0; }
    bool waits_for_first() const { return !first_of_.empty(); }
    /// Returns the task by which this one is given up; no_task if there is none.
    TaskId given_up_by(TaskId task) const { return task < given_up_by_.size() ? given_up_by_[task] : no_task; }
    bool gives_up() const { return !given_up_by_.empty(); }
    /// Returns the part of a task that varies.
    VaryingPart varying(TaskId task) const { return task < varying_.size() ? varying_[task] : VaryingPart{}; }
    bool varies() const { return !varying_.empty(); }
    /// Returns the time of a task in an iteration, if it is not an exchange, without noise.
    double seconds_of(TaskId task, std::uint32_t iteration) const {
        const double seconds = tasks_[task].seconds;
        if (task >= varying_.size() || varying_[task].seconds == 0) return seconds;
        const VaryingPart& part = varying_[task];
        const PartId of = processes_[streams_[tasks_[task].stream].process].part;
        return seconds + part.seconds * (works_[of]->factor(part.row, iteration) - 1);
    }
    const Lateness& lateness(PartId part = 0) const { return latenesses_[part]; }
    const std::vector<std::uint32_t>& spans() const { return spans_; }
    const Rotations& rotations() const { return rotations_; }  ///< of represent()
    /// Returns true if the process has its streams.
    bool built(ProcessId process) const { return rotations_.stands(process); }
    /// Returns the number of processes for which each one stands that has its streams.
    std::uint32_t images() const { return rotations_.images(); }

    // After seal():
    std::span<const TaskId> tasks_of(StreamId stream) const;
    std::span<const Dependency> dependencies_of(TaskId task) const;
    /// Returns the number of iterations that a task may wait back for.
    std::uint32_t largest_distance() const { return largest_distance_; }

private:
    void check_acyclic() const;
    void check_queues() const;

    struct Edge {
        TaskId task;
        Dependency dependency;
    };

    std::vector<Process> processes_;
    std::vector<Stream> streams_;
    std::vector<Task> tasks_;
    std::vector<Exchange> exchanges_;
    std::vector<std::vector<ProcessId>> groups_;
    std::vector<std::vector<StreamId>> queues_;
    std::uint32_t turns_ = 0;
    std::vector<std::uint32_t> first_of_;                       ///< by task, as far as any are
    std::vector<TaskId> given_up_by_;                           ///< by task, as far as any are
    std::vector<VaryingPart> varying_;                          ///< by task, as far as any are
    std::vector<Lateness> latenesses_{1};                       // by part
    std::vector<std::shared_ptr<const VaryingWork>> works_{1};  // by part
    std::vector<Part> parts_;
    std::vector<std::uint32_t> spans_;
    Rotations rotations_;
    Rounding negligible_;  // that may still be added
    std::vector<Edge> edges_;
    // Rows of two sparse matrices: row i is [start[i], start[i+1]) of the other array.
    std::vector<std::uint32_t> stream_start_;
    std::vector<TaskId> stream_tasks_;
    std::vector<std::uint32_t> dependency_start_;
    std::vector<Dependency> dependencies_;
    std::uint32_t largest_distance_ = 0;
};

/// Returns true if nothing depends on when an exchange ends but what waits for it: no queue, and no tick.
bool free_of_clocks(const TaskGraph& graph);

/// Counts the messages of `iterations` iterations from the collectives' programs.
std::uint64_t count_messages(const TaskGraph& graph, std::uint32_t iterations = 1);

}  // namespace syncline
