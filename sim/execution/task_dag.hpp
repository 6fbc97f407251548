#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/execution/trace_builder.hpp"
#include "sim/execution/trace_files.hpp"

namespace syncline {

/// Tasks of a workflow and the bytes that they hand on, which belong to no rank yet.
class TaskDag {
public:
    explicit TaskDag(TraceBuilder& builder) : builder_(builder) {}

    /// Adds a task under a name that must be new. Throws TraceError.
    std::uint32_t add(std::string_view name, double flop, double seconds);

    std::optional<std::uint32_t> find(std::string_view name) const;

    /// The task computes nothing: it is where the first task is that it depends on, and hands on these bytes.
    void make_transfer(std::uint32_t task, std::uint64_t bytes) { tasks_[task].transferred = bytes; }

    /// A machine of its name is a rank, if all tasks have one.
    void set_machine(std::uint32_t task, std::string_view machine);

    /// The task is on rank 0, out of turn.
    void put_first(std::uint32_t task) { tasks_[task].first = true; }

    /// A task depends on another one, which hands on these bytes: each time by a message of its own.
    void connect(std::uint32_t from, std::uint32_t to, std::uint64_t bytes);

    /// Makes a task follow all that no other one follows, or precede all that follow none.
    void put_at_end(std::uint32_t task);
    void put_at_begin(std::uint32_t task);

    /// Puts the tasks on ranks: by machines, or else each on the next rank, in their order. Those of a rank run one at
    /// a time. What tasks of different ranks hand on are messages; on one rank they take no time.
    void place(const TraceOptions& options);

private:
    struct Task {
        std::uint32_t name;
        double flop, seconds;
        std::optional<std::uint64_t> transferred = {};
        std::optional<std::uint32_t> machine = {};
        bool first = false;
        std::uint32_t rank = 0;
    };

    struct Edge {
        std::uint32_t to, from;
        std::uint64_t bytes;
        auto operator<=>(const Edge&) const = default;
    };

    /// Returns the edges to a task, once they are sorted.
    std::span<const Edge> edges_to(std::uint32_t task) const;
    std::vector<std::uint32_t> order() const;
    void choose_ranks(const TraceOptions& options, const std::vector<std::uint32_t>& order);

    TraceBuilder& builder_;
    std::vector<Task> tasks_;
    std::map<std::string, std::uint32_t, std::less<>> numbers_, machines_;
    std::vector<Edge> edges_;
};

}  // namespace syncline
