#include "sim/store/scalars.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

namespace syncline::batch {

namespace {

class Scalars : public nlohmann::json_sax<nlohmann::json> {
public:
    explicit Scalars(const std::function<void(const std::string&, Value)>& visit) : visit_(visit) {}

    bool null() override { return take({}); }
    bool boolean(bool flag) override { return take(std::int64_t{flag}); }
    bool number_integer(number_integer_t number) override { return take(number); }
    bool number_unsigned(number_unsigned_t number) override {
        const auto whole = static_cast<std::int64_t>(number);
        return whole < 0 ? take(static_cast<double>(number)) : take(whole);
    }
    bool number_float(number_float_t number, const string_t&) override { return take(number); }
    bool string(string_t& text) override { return take(std::move(text)); }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override {
        ends_.push_back(path_.size());
        return true;
    }
    bool end_object() override {
        path_.resize(ends_.back());
        ends_.pop_back();
        return true;
    }
    bool key(string_t& name) override {
        path_.resize(ends_.back());
        if (!path_.empty()) path_ += '.';
        path_ += name;
        return true;
    }
    bool start_array(std::size_t) override {
        require_object();
        ++lists_;
        return true;
    }
    bool end_array() override {
        --lists_;
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
        throw std::invalid_argument(fmt::format("a text in it is not JSON: {}", error.what()));
    }

private:
    void require_object() const {
        if (ends_.empty()) throw std::invalid_argument("a text in it is not a JSON object");
    }

    bool take(Value value) {
        require_object();
        if (lists_ == 0) visit_(path_, std::move(value));
        return true;
    }

    const std::function<void(const std::string&, Value)>& visit_;
    std::string path_;
    std::vector<std::size_t> ends_;  ///< lengths of the paths of open objects
    int lists_ = 0;
};

}  // namespace

void each_scalar(const std::string& json, const std::function<void(const std::string& path, Value value)>& visit) {
    Scalars scalars(visit);
    nlohmann::json::sax_parse(json, &scalars);
}

}  // namespace syncline::batch
