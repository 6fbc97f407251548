#include "sim/collective/msccl_schedule.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace syncline {

namespace {

using Type = MscclStep::Type;

constexpr std::int64_t largest_number = 1 << 20;                 // in a file
constexpr std::uint32_t most_channels = 64;                      // NCCL's limit
constexpr std::uint64_t most_together = std::uint64_t{1} << 26;  // GPUs, as often as they have chunks of GPUs

const std::map<std::string, Type>& types() {
    static const std::map<std::string, Type> all{{"s", Type::send},
                                                 {"r", Type::receive},
                                                 {"rcs", Type::receive_send},
                                                 {"rrc", Type::receive_reduce},
                                                 {"rrs", Type::receive_reduce_send},
                                                 {"rrcs", Type::receive_reduce_both},
                                                 {"cpy", Type::copy},
                                                 {"re", Type::reduce},
                                                 {"nop", Type::nothing}};
    return all;
}

const std::map<std::string, std::string>& operations() {
    static const std::map<std::string, std::string> all{{"allreduce", "allreduce"},
                                                        {"allgather", "allgather"},
                                                        {"reduce_scatter", "reduce-scatter"},
                                                        {"reducescatter", "reduce-scatter"},
                                                        {"alltoall", "all-to-all"}};
    return all;
}

std::string text_of(const XmlTag& tag, std::string_view name) {
    const std::optional<std::string> value = tag.attribute(name);
    if (!value) throw XmlError(tag.place, fmt::format("<{}> has no attribute '{}'", tag.name, name));
    return *value;
}

std::int64_t number_of(const XmlTag& tag, std::string_view name, std::int64_t least) {
    const std::string text = text_of(tag, name);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        throw XmlError(tag.place, fmt::format("'{}' of <{}>: '{}' is not a whole number", name, tag.name, text));
    if (value < least || value > largest_number)
        throw XmlError(tag.place, fmt::format("'{}' of <{}>: {} is out of range", name, tag.name, value),
                       fmt::format("it is from {} to {}", least, largest_number));
    return value;
}

std::uint32_t count_of(const XmlTag& tag, std::string_view name, std::int64_t least = 0) {
    return static_cast<std::uint32_t>(number_of(tag, name, least));
}

template <class Value>
const Value& word_of(const XmlTag& tag, std::string_view name, const std::map<std::string, Value>& words) {
    const std::string text = text_of(tag, name);
    const auto found = words.find(text);
    if (found != words.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [word, value] : words) known.push_back(word);
    throw XmlError(tag.place, fmt::format("'{}' of <{}>: '{}' is not supported", name, tag.name, text),
                   fmt::format("it is one of {}", fmt::join(known, ", ")));
}

class Reader : public XmlHandler {
public:
    MscclSchedule schedule;

    void open(const XmlTag& tag) override {
        constexpr std::string_view names[]{"algo", "gpu", "tb", "step"};
        const std::size_t depth = depth_++;
        if (depth >= std::size(names) || tag.name != names[depth])
            throw XmlError(tag.place, fmt::format("the element <{}> is not expected here", tag.name),
                           "a schedule of MSCCL is <algo> of <gpu> of <tb> of <step>");
        if (depth == 0) return open_schedule(tag);
        if (depth == 1) return open_gpu(tag);
        if (depth == 2) return open_block(tag);
        open_step(tag);
    }

    void close(std::string_view, std::string_view) override {
        if (--depth_ == 0 && schedule.gpus.size() != gpus_)
            throw XmlError(schedule.place,
                           fmt::format("there are {} GPUs, but 'ngpus' is {}", schedule.gpus.size(), gpus_));
    }

private:
    void open_schedule(const XmlTag& tag) {
        schedule.place = tag.place;
        schedule.name = tag.attribute("name").value_or("");
        schedule.operation = word_of(tag, "coll", operations());
        schedule.chunks = count_of(tag, "nchunksperloop", 1);
        gpus_ = count_of(tag, "ngpus", 1);
        // Without `outofplace`, as in files for older versions, `inplace` alone decides.
        schedule.in_place = tag.attribute("outofplace") ? number_of(tag, "outofplace", 0) == 0
                                                        : tag.attribute("inplace").value_or("0") == "1";
        if (std::uint64_t{gpus_} * gpus_ * schedule.chunks > most_together)
            throw XmlError(tag.place, fmt::format("{} GPUs with {} chunks are too many", gpus_, schedule.chunks));
        const bool divides = schedule.operation != "allreduce";
        if (divides && schedule.chunks % gpus_ != 0)
            throw XmlError(tag.place, fmt::format("{} chunks are not divided among {} GPUs", schedule.chunks, gpus_));
    }

    void open_gpu(const XmlTag& tag) {
        if (number_of(tag, "id", 0) != std::ssize(schedule.gpus))
            throw XmlError(tag.place, fmt::format("this GPU should have the id {}", schedule.gpus.size()),
                           "GPUs are numbered from 0, in order");
        if (schedule.gpus.size() == gpus_)
            throw XmlError(tag.place, fmt::format("there are more than the {} GPUs of 'ngpus'", gpus_));
        MscclGpu& gpu = schedule.gpus.emplace_back();
        gpu.place = tag.place;
        gpu.scratch = count_of(tag, "s_chunks");
        const auto sized = [&](const char* name, bool share) {
            const std::uint32_t chunks = share ? schedule.chunks / gpus_ : schedule.chunks, given = count_of(tag, name);
            if (given != 0 && given != chunks)
                throw XmlError(tag.place, fmt::format("'{}' is {}, but {} chunks in a loop make {}", name, given,
                                                      schedule.chunks, chunks));
            if (given == 0 && schedule.operation == "allreduce") schedule.in_place = true;
            return chunks;
        };
        gpu.input = sized("i_chunks", schedule.operation == "allgather");
        gpu.output = sized("o_chunks", schedule.operation == "reduce-scatter");
    }

    void open_block(const XmlTag& tag) {
        MscclGpu& gpu = schedule.gpus.back();
        if (number_of(tag, "id", 0) != std::ssize(gpu.blocks))
            throw XmlError(tag.place, fmt::format("this thread block should have the id {}", gpu.blocks.size()),
                           "thread blocks are numbered from 0, in order");
        MscclBlock block;
        block.sends_to = peer(tag, "send");
        block.receives_from = peer(tag, "recv");
        block.channel = count_of(tag, "chan");
        if (block.channel >= most_channels)
            throw XmlError(tag.place, fmt::format("there is no channel {}", block.channel),
                           fmt::format("channels are numbered from 0, and there are at most {}", most_channels));
        block.place = tag.place;
        const std::size_t number = schedule.gpus.size() - 1;
        for (const auto& [other, outwards] : {std::pair{block.sends_to, true}, {block.receives_from, false}})
            if (other != MscclBlock::nobody && !connections_.insert({number, block.channel, other, outwards}).second)
                throw XmlError(tag.place, fmt::format("two thread blocks have the connection with GPU {} on channel {}",
                                                      other, block.channel));
        gpu.blocks.push_back(std::move(block));
    }

    std::int64_t peer(const XmlTag& tag, std::string_view name) const {
        const std::int64_t other = number_of(tag, name, MscclBlock::nobody);
        if (other >= gpus_ || other == std::ssize(schedule.gpus) - 1)
            throw XmlError(tag.place, fmt::format("'{}' of <tb>: there is no other GPU {}", name, other));
        return other;
    }

    void open_step(const XmlTag& tag) {
        const MscclGpu& gpu = schedule.gpus.back();
        MscclBlock& block = schedule.gpus.back().blocks.back();
        if (number_of(tag, "s", 0) != std::ssize(block.steps))
            throw XmlError(tag.place, fmt::format("this step should have the number {}", block.steps.size()),
                           "steps are numbered from 0, in order");
        MscclStep step;
        step.place = tag.place;
        step.type = word_of(tag, "type", types());
        step.after_block = number_of(tag, "depid", -1);
        if (step.after_block != -1) step.after_step = number_of(tag, "deps", 0);
        if (step.sends() && block.sends_to == MscclBlock::nobody)
            throw XmlError(tag.place, "the thread block of this step sends to no GPU", "its 'send' is -1");
        if (step.receives() && block.receives_from == MscclBlock::nobody)
            throw XmlError(tag.place, "the thread block of this step receives from no GPU", "its 'recv' is -1");
        if (step.type != Type::nothing) {
            step.count = count_of(tag, "cnt", 1);
            const bool reads = !step.receives() || step.adds_received(),
                       writes = step.type != Type::send && step.type != Type::receive_reduce_send;
            if (reads) step.source = chunks(tag, "src", step.count, gpu);
            if (writes) step.destination = chunks(tag, "dst", step.count, gpu);
        }
        block.steps.push_back(step);
    }

    MscclStep::Chunks chunks(const XmlTag& tag, const std::string& end, std::uint32_t count,
                             const MscclGpu& gpu) const {
        const std::map<std::string, std::pair<char, std::uint32_t>> buffers{
            {"i", {'i', gpu.input}}, {"o", {'o', gpu.output}}, {"s", {'s', gpu.scratch}}};
        const auto [buffer, size] = word_of(tag, end + "buf", buffers);
        const std::int64_t first = number_of(tag, end + "off", 0);
        if (first + count > size)
            throw XmlError(tag.place, fmt::format("chunks {} to {} are beyond the {} of buffer '{}'", first,
                                                  first + count - 1, size, buffer));
        return {buffer, first};
    }

    std::size_t depth_ = 0;
    std::uint32_t gpus_ = 1;
    std::set<std::tuple<std::size_t, std::uint32_t, std::int64_t, bool>> connections_;
};

}  // namespace

std::shared_ptr<const MscclSchedule> read_msccl(const std::string& file, std::string_view text) {
    try {
        Reader reader;
        parse_xml(text, reader);
        check_msccl(reader.schedule);
        return std::make_shared<const MscclSchedule>(std::move(reader.schedule));
    } catch (const XmlError& error) {
        refuse_xml(file, text, error);
    }
}

}  // namespace syncline
