#include <fmt/format.h>

#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "sim/collective/msccl_schedule.hpp"

namespace syncline {

namespace {

using Type = MscclStep::Type;

/// Content of a place in a buffer: chunk `number` of an input buffer, of each GPU so many times.
struct Held {
    std::uint32_t number = 0;
    std::vector<std::uint32_t> times;  ///< by GPU

    bool operator==(const Held&) const = default;
};
using Value = std::shared_ptr<const Held>;  ///< null: nothing yet

/// A schedule as it runs. As in MSCCL a connection stores what is sent until it is received.
class Run {
public:
    explicit Run(const MscclSchedule& schedule) : schedule_(schedule) {
        for (std::uint32_t gpu = 0; gpu < size(); ++gpu) {
            const MscclGpu& of = schedule.gpus[gpu];
            inputs_.emplace_back(schedule.in_place ? schedule.chunks : of.input);
            outputs_.emplace_back(schedule.in_place ? 0 : of.output);
            scratches_.emplace_back(of.scratch);
            done_.emplace_back(of.blocks.size());
            for (std::uint32_t i = 0; i < of.input; ++i) at(gpu, {'i', i}) = own(gpu, i);
        }
    }

    void finish() {
        for (bool moved = true; moved;) {
            moved = false;
            for (std::uint32_t gpu = 0; gpu < size(); ++gpu)
                for (std::size_t block = 0; block < done_[gpu].size(); ++block)
                    while (advance(gpu, block)) moved = true;
        }
        for (std::uint32_t gpu = 0; gpu < size(); ++gpu)
            for (std::size_t block = 0; block < done_[gpu].size(); ++block) require_done(gpu, block);
        for (std::uint32_t gpu = 0; gpu < size(); ++gpu)
            for (std::uint32_t i = 0; i < schedule_.gpus[gpu].output; ++i) require_result(gpu, i);
    }

private:
    struct Sent {
        std::vector<Value> values;
        const MscclStep* by = nullptr;
    };

    std::uint32_t size() const { return static_cast<std::uint32_t>(schedule_.gpus.size()); }

    Value own(std::uint32_t gpu, std::uint32_t number) const {
        Held held{number, std::vector<std::uint32_t>(size())};
        held.times[gpu] = 1;
        return std::make_shared<const Held>(std::move(held));
    }

    /// Returns the place of a chunk. In place, the smaller of input and output is a part of the other.
    Value& at(std::uint32_t gpu, MscclStep::Chunks chunk) {
        const auto number = static_cast<std::size_t>(chunk.first);
        if (chunk.buffer == 's') return scratches_[gpu][number];
        if (!schedule_.in_place) return chunk.buffer == 'i' ? inputs_[gpu][number] : outputs_[gpu][number];
        const std::uint32_t chunks = chunk.buffer == 'i' ? schedule_.gpus[gpu].input : schedule_.gpus[gpu].output;
        return inputs_[gpu][chunks == schedule_.chunks ? number : std::size_t{gpu} * chunks + number];
    }

    std::deque<Sent>& connection(std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
        return connections_[{from, to, channel}];
    }

    /// Does the next step of a thread block; false if there is none, or it has to wait.
    bool advance(std::uint32_t gpu, std::size_t number) {
        const MscclBlock& block = schedule_.gpus[gpu].blocks[number];
        std::size_t& done = done_[gpu][number];
        if (done == block.steps.size()) return false;
        const MscclStep& step = block.steps[done];
        if (step.after_block >= 0 && waits(gpu, step)) return false;
        std::vector<Value> values;
        if (step.receives()) {
            auto& coming = connection(static_cast<std::uint32_t>(block.receives_from), gpu, block.channel);
            if (coming.empty()) return false;
            values = std::move(coming.front().values);
            coming.pop_front();
            if (values.size() != step.count)
                throw XmlError(step.place, fmt::format("the step receives {} chunks, but GPU {} sends {}", step.count,
                                                       block.receives_from, values.size()));
        }
        for (std::uint32_t i = 0; i < step.count; ++i) {
            const MscclStep::Chunks from{step.source.buffer, step.source.first + i},
                to{step.destination.buffer, step.destination.first + i};
            if (step.type == Type::send || step.type == Type::copy) values.push_back(read(gpu, from, step));
            if (step.adds_received()) values[i] = sum(read(gpu, from, step), values[i], step);
            if (step.type == Type::reduce) values.push_back(sum(read(gpu, to, step), read(gpu, from, step), step));
            if (step.type != Type::send && step.type != Type::receive_reduce_send) at(gpu, to) = values[i];
        }
        if (step.sends())
            connection(gpu, static_cast<std::uint32_t>(block.sends_to), block.channel)
                .push_back({std::move(values), &step});
        ++done;
        return true;
    }

    bool waits(std::uint32_t gpu, const MscclStep& step) const {
        const std::vector<MscclBlock>& blocks = schedule_.gpus[gpu].blocks;
        const auto block = static_cast<std::size_t>(step.after_block),
                   other = static_cast<std::size_t>(step.after_step);
        if (block >= blocks.size() || other >= blocks[block].steps.size())
            throw XmlError(step.place, fmt::format("there is no step {} of thread block {} for which this one waits",
                                                   step.after_step, step.after_block));
        return done_[gpu][block] <= other;
    }

    const Value& read(std::uint32_t gpu, MscclStep::Chunks chunk, const MscclStep& step) {
        const Value& value = at(gpu, chunk);
        if (!value)
            throw XmlError(step.place,
                           fmt::format("chunk {} of buffer '{}' holds nothing yet", chunk.first, chunk.buffer));
        return value;
    }

    static Value sum(const Value& a, const Value& b, const MscclStep& step) {
        if (a->number != b->number)
            throw XmlError(step.place, fmt::format("the step adds chunk {} to chunk {}", b->number, a->number));
        Held both = *a;
        for (std::size_t i = 0; i < both.times.size(); ++i) both.times[i] += b->times[i];
        return std::make_shared<const Held>(std::move(both));
    }

    void require_done(std::uint32_t gpu, std::size_t number) {
        const MscclBlock& block = schedule_.gpus[gpu].blocks[number];
        const std::size_t done = done_[gpu][number];
        if (done < block.steps.size()) {
            const MscclStep& step = block.steps[done];
            if (step.after_block >= 0 && waits(gpu, step))
                throw XmlError(step.place, fmt::format("the step waits for ever for step {} of thread block {}",
                                                       step.after_step, step.after_block));
            throw XmlError(step.place, fmt::format("the step waits for ever for GPU {} on channel {}",
                                                   block.receives_from, block.channel));
        }
        if (block.sends_to == MscclBlock::nobody) return;
        const auto& left = connection(gpu, static_cast<std::uint32_t>(block.sends_to), block.channel);
        if (!left.empty())
            throw XmlError(left.front().by->place,
                           fmt::format("GPU {} never receives what the step sends", block.sends_to));
    }

    /// Returns the GPUs whose chunk belongs in a place of the output, and the chunk.
    Held expected(std::uint32_t gpu, std::uint32_t place) const {
        if (schedule_.operation == "allreduce") return {place, std::vector<std::uint32_t>(size(), 1)};
        const std::uint32_t share = schedule_.chunks / size();
        if (schedule_.operation == "reduce-scatter")
            return {gpu * share + place, std::vector<std::uint32_t>(size(), 1)};
        Held one{schedule_.operation == "allgather" ? place % share : gpu * share + place % share,
                 std::vector<std::uint32_t>(size())};
        one.times[place / share] = 1;
        return one;
    }

    void require_result(std::uint32_t gpu, std::uint32_t place) {
        const Held right = expected(gpu, place);
        const Value& value = at(gpu, {'o', place});
        const auto wrong = [&](const std::string& what) {
            throw XmlError(schedule_.gpus[gpu].place,
                           fmt::format("GPU {} ends without the result in chunk {}: {}", gpu, place, what));
        };
        if (!value) wrong("it holds nothing");
        if (value->number != right.number) wrong(fmt::format("it holds chunk {}", value->number));
        for (std::uint32_t other = 0; other < size(); ++other)
            if (value->times[other] != right.times[other])
                wrong(fmt::format("it holds the data of GPU {} {} times", other, value->times[other]));
    }

    const MscclSchedule& schedule_;
    std::vector<std::vector<Value>> inputs_, outputs_, scratches_;  ///< by GPU
    std::vector<std::vector<std::size_t>> done_;                    ///< steps, by GPU and thread block
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::deque<Sent>> connections_;
};

}  // namespace

void check_msccl(const MscclSchedule& schedule) {
    Run(schedule).finish();
}

}  // namespace syncline
