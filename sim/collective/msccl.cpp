#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "sim/collective/data_flow.hpp"
#include "sim/collective/factories.hpp"
#include "sim/collective/msccl_schedule.hpp"
#include "sim/collective/segments.hpp"

/// A schedule from a file of MSCCL (msccl_schedule.hpp). A thread block is a lane; what it sends is under way while it
/// waits for what it receives next, as in MSCCL, whose connections have buffers. `segment` cuts the chunks into pieces,
/// and each thread block repeats its steps for each piece: MSCCL's loop, whose pieces are those that fit its buffers.
/// A device divides its reductions among the thread blocks that reduce.
///
/// As MSCCL needs a buffer that its chunks divide, chunks are rounded up to equal ones. There is no closed form. Left
/// out: copies inside a GPU; the file's protocol, and the sizes for which it is meant. Source: M. Cowan, S. Maleki, M.
/// Musuvathi, O. Saarikivi, Y. Xiong, "MSCCLang: Microsoft Collective Communication Language", ASPLOS 2023.
namespace syncline {

namespace {

/// The steps of a thread block for one piece.
struct LaneSteps {
    std::vector<Step> steps;
    std::vector<std::uint32_t> ends;  ///< by step of the file: the number of `steps` after which it is done
};

/// Returns which steps others of their GPU wait for, by thread block and step.
std::vector<std::vector<bool>> awaited_of(const MscclGpu& gpu) {
    std::vector<std::vector<bool>> awaited;
    for (const MscclBlock& block : gpu.blocks) awaited.emplace_back(block.steps.size(), false);
    for (const MscclBlock& block : gpu.blocks)
        for (const MscclStep& step : block.steps)
            if (step.after_block >= 0)
                awaited[static_cast<std::size_t>(step.after_block)][static_cast<std::size_t>(step.after_step)] = true;
    return awaited;
}

/// Returns a thread block's steps. What a step sends goes together with what the next one receives, unless somebody
/// waits for it. A step that waits for others has received before, since MSCCL's connections store what is sent; what
/// it receives it adds after. `after_steps` is the number of a step in the file.
LaneSteps steps_of(const MscclBlock& block, const std::vector<bool>& awaited) {
    LaneSteps lane;
    bool open = false;  // the last step may receive
    const auto add = [&](const MscclStep& of, bool waits) {
        Step& step = lane.steps.emplace_back();
        if (waits && of.after_block >= 0) {
            step.after_lane = static_cast<std::uint32_t>(of.after_block);
            step.after_steps = static_cast<std::uint32_t>(of.after_step);
        }
        return &step;
    };
    for (std::size_t i = 0; i < block.steps.size(); ++i) {
        const MscclStep& of = block.steps[i];
        if (of.receives()) {
            Step* const step = open ? &lane.steps.back() : add(of, false);
            step->receives.push_back({.peer = static_cast<std::uint32_t>(block.receives_from), .count = of.count});
            if (of.after_block < 0)
                step->reduce = of.adds_received();
            else
                add(of, true)->adds = of.adds_received() ? of.count : 0;
            open = false;
        } else if (of.type == MscclStep::Type::reduce) {
            add(of, true)->adds = of.count;
            open = false;
        } else if (of.after_block >= 0 && !of.sends()) {
            add(of, true);
            open = false;
        }
        if (of.sends()) {
            add(of, !of.receives())
                ->sends.push_back({.peer = static_cast<std::uint32_t>(block.sends_to), .count = of.count});
            open = true;
        }
        if (awaited[i]) open = false;
        lane.ends.push_back(static_cast<std::uint32_t>(lane.steps.size()));
    }
    return lane;
}

class Msccl : public CollectiveAlgorithm, public WithoutBlocks {
public:
    Msccl(std::shared_ptr<const MscclSchedule> schedule, double segment_bytes)
        : schedule_(std::move(schedule)), segment_bytes_(segment_bytes) {
        for (const MscclGpu& gpu : schedule_->gpus) {
            std::vector<LaneSteps>& blocks = steps_.emplace_back();
            const std::vector<std::vector<bool>> awaited = awaited_of(gpu);
            std::uint32_t reducing = 0;
            for (std::size_t i = 0; i < gpu.blocks.size(); ++i) {
                blocks.push_back(steps_of(gpu.blocks[i], awaited[i]));
                lanes_ = std::max(lanes_, gpu.blocks[i].channel + 1);
                reducing += std::any_of(blocks.back().steps.begin(), blocks.back().steps.end(),
                                        [](const Step& step) { return step.reduce || step.adds > 0; });
            }
            lanes_ = std::max(lanes_, static_cast<std::uint32_t>(gpu.blocks.size()));
            slices_ = std::max(slices_, reducing);
        }
    }

    std::uint32_t lanes() const override { return lanes_; }
    std::uint32_t slices() const override { return slices_; }

    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t round) const override {
        return lane_program(0, rank, ranks, bytes, round);
    }

    Program lane_program(std::uint32_t lane, std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes,
                         std::uint32_t) const override {
        const std::uint32_t chunks = schedule_->chunks;
        const std::uint64_t chunk = Partition{bytes, chunks}.largest();
        const std::uint32_t pieces = segment_count(chunk, segment_bytes_, chunks);
        Program program{{Partition{chunk, pieces}.largest() * chunks, chunks}, {}};
        if (ranks == 1 || lane >= steps_[rank].size()) return program;
        const std::vector<LaneSteps>& all = steps_[rank];
        program.channel = schedule_->gpus[rank].blocks[lane].channel;
        program.steps.reserve(pieces * all[lane].steps.size());
        for (std::uint32_t piece = 0; piece < pieces; ++piece) {
            for (Step step : all[lane].steps) {
                if (step.after_lane != Step::no_lane) {
                    const LaneSteps& other = all[step.after_lane];
                    step.after_steps =
                        piece * static_cast<std::uint32_t>(other.steps.size()) + other.ends[step.after_steps];
                }
                program.steps.push_back(std::move(step));
            }
        }
        return program;
    }

    std::optional<double> cost(std::uint32_t ranks, std::uint64_t, const MessageCost&) const override {
        return ranks == 1 ? std::optional(0.0) : std::nullopt;
    }

    std::string formula(bool) const override { return ""; }

private:
    const std::shared_ptr<const MscclSchedule> schedule_;
    const double segment_bytes_;
    std::vector<std::vector<LaneSteps>> steps_;  ///< by GPU and thread block; after_steps are steps of the file
    std::uint32_t lanes_ = 1, slices_ = 1;
};

}  // namespace

std::shared_ptr<const CollectiveAlgorithm> algorithms::msccl(const AlgorithmSpec& spec, std::uint32_t ranks) {
    const MscclSchedule& schedule = *spec.schedule;
    if (schedule.operation != spec.operation)
        throw std::logic_error(fmt::format("a schedule for {} cannot do {}", schedule.operation, spec.operation));
    if (ranks != 1 && schedule.gpus.size() != ranks)
        throw AlgorithmError("ranks",
                             fmt::format("the schedule is for {} ranks, not for {}", schedule.gpus.size(), ranks));
    return std::make_shared<Msccl>(spec.schedule, spec.segment_bytes);
}

}  // namespace syncline
