#include "sim/execution/trace_json.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <string_view>

#include "sim/execution/byte_stream.hpp"
#include "sim/execution/trace_error.hpp"

namespace syncline {

namespace {

/// The bytes of a stream, as an iterator. One without a stream is the end.
class Bytes {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    Bytes() = default;
    explicit Bytes(ByteStream& stream) : stream_(&stream) { fill(); }

    const char& operator*() const { return *next_; }
    Bytes& operator++() {
        if (++next_ == end_) fill();
        return *this;
    }
    Bytes operator++(int) {
        Bytes before = *this;
        ++*this;
        return before;
    }
    bool operator==(const Bytes& other) const { return next_ == other.next_; }

private:
    void fill() {
        const std::string_view bytes = stream_->take(stream_->peek().size());
        next_ = bytes.empty() ? nullptr : bytes.data();
        end_ = bytes.empty() ? nullptr : bytes.data() + bytes.size();
    }

    ByteStream* stream_ = nullptr;
    const char *next_ = nullptr, *end_ = nullptr;
};

}  // namespace

bool TraceJson::parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception& error) {
    const std::string_view message = error.what();
    constexpr std::string_view before_reason = ": ";
    const std::size_t found = message.rfind(before_reason);
    const std::string reason(found == std::string_view::npos ? message : message.substr(found + before_reason.size()));
    const std::size_t place = byte == 0 ? 0 : byte - 1;
    if (file_.bytes.starts_with("\x1f\x8b"))
        throw TraceError(fmt::format("byte {} of the text: this is no JSON: {}", place, reason));
    refuse(file_, place, "this is no JSON", reason);
}

void TraceJson::deeper() {
    constexpr int most = 100;
    if (++depth_ > most) throw TraceError(fmt::format("it is nested more than {} levels deep", most));
}

void parse_json(const TraceFile& file, TraceJson& reader) {
    ByteStream stream(file.bytes);
    nlohmann::json::sax_parse(Bytes(stream), Bytes(), &reader);
}

}  // namespace syncline
