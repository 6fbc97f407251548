#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/execution/trace_text.hpp"

namespace syncline {

/// Takes a trace in JSON value by value: a tree of all would take a gigabyte. Readers derive from it.
class TraceJson : public nlohmann::json_sax<nlohmann::json> {
public:
    /// `file` must outlive the reader.
    explicit TraceJson(const TraceFile& file) : file_(file) {}

    bool null() override { return true; }
    bool binary(binary_t&) override { return true; }
    /// Throws ConfigError with the line, or TraceError with the byte of a compressed text.
    bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception& error) override;

protected:
    /// A list or an object begins, or ends. Throws TraceError if there are too many within one another.
    void deeper();
    void higher() { --depth_; }

    int depth_ = 0;  ///< number of lists and objects around the present value

private:
    const TraceFile& file_;
};

/// Reads the text of a file, which may be in gzip and is inflated bit by bit. Throws ConfigError or TraceError.
void parse_json(const TraceFile& file, TraceJson& reader);

}  // namespace syncline
