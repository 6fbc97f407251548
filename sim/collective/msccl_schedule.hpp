#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/xml_reader.hpp"

/// Schedules of collectives in the XML of Microsoft's MSCCL, as msccl-tools writes them and MSCCL's interpreter runs
/// them (microsoft/msccl-tools, msccl/language/ir.py; Azure/msccl-scheduler, src/parser.cc). A GPU has thread blocks,
/// each with at most one peer to which it sends and one from which it receives, on a channel. A thread block does its
/// steps in order; a step may wait until another thread block of its GPU has done one of its own.
///
/// The buffer has nchunksperloop chunks. Each GPU has three buffers of chunks: input, output and scratch.
namespace syncline {

struct MscclStep {
    enum class Type {
        send,
        receive,
        receive_send,         ///< rcs: stores what it receives, and passes it on
        receive_reduce,       ///< rrc: adds what it receives to its source, into its destination
        receive_reduce_send,  ///< rrs: passes the sum on, and does not store it
        receive_reduce_both,  ///< rrcs: stores the sum, and passes it on
        copy,
        reduce,  ///< re: adds its source to its destination
        nothing
    };
    struct Chunks {
        char buffer = 'i';
        std::int64_t first = 0;
    };

    Type type = Type::nothing;
    Chunks source, destination;
    std::uint32_t count = 0;                         ///< of chunks
    std::int64_t after_block = -1, after_step = -1;  ///< waits for this step of this thread block; -1: for none
    XmlLocation place = {};

    bool sends() const {
        return type == Type::send || type == Type::receive_send || type == Type::receive_reduce_send ||
               type == Type::receive_reduce_both;
    }
    bool receives() const {
        return type != Type::send && type != Type::copy && type != Type::reduce && type != Type::nothing;
    }
    bool adds_received() const {
        return type == Type::receive_reduce || type == Type::receive_reduce_send || type == Type::receive_reduce_both;
    }
};

struct MscclBlock {
    static constexpr std::int64_t nobody = -1;

    std::int64_t sends_to = nobody, receives_from = nobody;
    std::uint32_t channel = 0;
    std::vector<MscclStep> steps;
    XmlLocation place = {};
};

struct MscclGpu {
    std::uint32_t input = 0, output = 0, scratch = 0;  ///< chunks
    std::vector<MscclBlock> blocks;                    ///< by number
    XmlLocation place = {};
};

struct MscclSchedule {
    std::string name;
    std::string operation;     ///< as AlgorithmSpec names it
    std::uint32_t chunks = 1;  ///< of the whole buffer
    bool in_place = false;     ///< output and input are in the same memory
    std::vector<MscclGpu> gpus;
    XmlLocation place = {};
};

/// Reads and checks the text of a file: ConfigError with the place of what is wrong in it.
std::shared_ptr<const MscclSchedule> read_msccl(const std::string& file, std::string_view text);

/// Runs a schedule without time. Throws XmlError if a step adds or sends what is not there or waits for ever, and
/// unless every GPU ends with the operation's result: each chunk from the right GPUs, from each of these once.
void check_msccl(const MscclSchedule& schedule);

}  // namespace syncline
