#include "sim/serve/http.hpp"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "sim/base/descriptor.hpp"
#include "sim/output/written_files.hpp"
#include "sim/serve/live_assets.hpp"
#include "sim/serve/request_stream.hpp"

namespace syncline::serve {

namespace {

constexpr std::size_t threads = 64, most_body_bytes = 65536, most_head_bytes = 8192, longest_path = 200;
constexpr int usual_port = 8023, port_of_http = 80;
constexpr RequestLimits request_limits{most_body_bytes + 2 * most_head_bytes, 5, 5, 30};
constexpr const char* loopback = "127.0.0.1";
constexpr std::string_view api = "/api/v1";

std::string random_token() {
    std::array<unsigned char, 16> bytes{};
    if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
        throw OutputError(fmt::format("no random numbers: {}", std::strerror(errno)));
    std::string token;
    for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
    return token;
}

/// Takes the same time whatever differs.
bool same_secret(const std::string& a, const std::string& b) {
    if (a.size() != b.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        difference |= static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
    return difference == 0;
}

void put(httplib::Response& response, const Reply& reply) {
    response.status = reply.status;
    if (reply.status != 204) response.set_content(reply.text, reply.type);
    if (reply.status == 429) response.set_header("Retry-After", "1");
}

}  // namespace

struct Http::Server {
    /// Serves each connection within limits, and one request of it.
    class Limited : public httplib::Server {
        bool process_and_close_socket(socket_t socket) override try {
            const Descriptor closes(socket);
            RequestStream stream(socket, request_limits);
            bool closed = false;
            const bool served = process_request(stream, true, closed, nullptr);
            stream.finish();
            return served;
        } catch (const std::exception&) {
            return false;  // a connection that cannot be served, for want of memory, must not end the program
        }
    };
    Limited http;
    Api& answers;
    int port = 0;
    std::string token = random_token();
    socket_t listens = INVALID_SOCKET;

    explicit Server(Api& api_of) : answers(api_of) {}

    std::string host() const { return fmt::format("{}:{}", loopback, port); }

    /// Returns whether a name with our port is ours.
    bool is_ours(const std::string& name) const {
        const bool unsaid = port == port_of_http && (name == loopback || name == "localhost");
        return unsaid || name == host() || name == fmt::format("localhost:{}", port);
    }

    /// Returns why a request is refused before it is looked at; nothing if it is not.
    std::optional<Reply> refused(const httplib::Request& request) const {
        std::size_t head = 0;
        for (const auto& [name, value] : request.headers) head += name.size() + value.size();
        if (head > most_head_bytes) return refusal(431, "head", "the headers have at most 8 kB");
        if (request.path.size() > longest_path) return refusal(404, "not-found", "there is no such address");
        if (request.get_header_value_count("Host") != 1 || !is_ours(request.get_header_value("Host")))
            return refusal(403, "host", "this address serves this machine only");
        const std::string origin = request.get_header_value("Origin"),
                          site = request.get_header_value("Sec-Fetch-Site");
        const bool own = origin.empty() || (origin.starts_with("http://") && is_ours(origin.substr(7)));
        // The page itself has no secrets, and a link to it may stand anywhere.
        if (request.path.starts_with(api) && (!own || !(site.empty() || site == "same-origin" || site == "none")))
            return refusal(403, "origin", "another page must not ask");
        // The library would repeat a file once for each of many ranges, and unpack a small body to a huge one.
        if (request.has_header("Range")) return refusal(416, "range", "an answer is given as a whole");
        if (request.has_header("Content-Encoding")) return refusal(415, "encoding", "a body must not be compressed");
        if (request.has_header("Transfer-Encoding")) return refusal(411, "length", "the body needs a Content-Length");
        if (!request.path.starts_with(api)) return {};
        if (!same_secret(request.get_header_value("Authorization"), "Bearer " + token))
            return refusal(401, "token", "the token is missing or wrong",
                           "use the address that the program has printed last");
        const bool json = request.get_header_value("Content-Type").starts_with("application/json");
        if (request.method == "POST" && !json) return refusal(415, "type", "the body is not application/json");
        return {};
    }

    void set_up() {
        http.new_task_queue = [] { return new httplib::ThreadPool(threads); };
        http.set_payload_max_length(most_body_bytes);
        // The library's own options would let a second program have the same port.
        http.set_socket_options([this](socket_t socket) {
            listens = socket;
            const int yes = 1;
            setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        });
        http.set_default_headers(
            {{"Content-Security-Policy",
              "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data: blob:; "
              "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
             {"X-Content-Type-Options", "nosniff"},
             {"Referrer-Policy", "no-referrer"},
             {"Cross-Origin-Resource-Policy", "same-origin"},
             {"Cache-Control", "no-store"}});
        http.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
            const std::optional<Reply> reply = refused(request);
            if (!reply) return httplib::Server::HandlerResponse::Unhandled;
            put(response, *reply);
            return httplib::Server::HandlerResponse::Handled;
        });
        http.set_error_handler([](const httplib::Request&, httplib::Response& response) {
            if (!response.body.empty()) return;
            put(response, response.status == 413   ? refusal(413, "too-long", "a body has at most 64 kB")
                          : response.status == 404 ? refusal(404, "not-found", "there is no such address")
                                                   : refusal(response.status, "bad-request", "this is not understood"));
        });
        http.set_exception_handler(
            [](const httplib::Request&, httplib::Response& response, const std::exception_ptr& error) {
                std::string what = "unknown";
                try {
                    std::rethrow_exception(error);
                } catch (const std::exception& known) {
                    what = known.what();
                }
                put(response, refusal(500, "bug", "a bug in syncline: " + what, "please report it"));
            });
        const auto asset = [this](const std::string& path, std::string_view text, const char* type) {
            http.Get(path, [text, type](const httplib::Request&, httplib::Response& response) {
                response.set_content(text.data(), text.size(), type);
            });
        };
        asset("/", assets::live_html(), "text/html; charset=utf-8");
        asset("/lesson/[0-9]+", assets::live_html(), "text/html; charset=utf-8");
        asset("/live.css", assets::live_css(), "text/css; charset=utf-8");
        asset("/live.js", assets::live_js(), "text/javascript; charset=utf-8");
        asset("/chart.js", assets::chart_js(), "text/javascript; charset=utf-8");
        const auto rest = [](const httplib::Request& request) { return request.path.substr(api.size()); };
        http.Get("/api/v1/.*", [this, rest](const httplib::Request& request, httplib::Response& response) {
            put(response, answers.get(rest(request), {request.params.begin(), request.params.end()}));
        });
        http.Post("/api/v1/.*", [this, rest](const httplib::Request& request, httplib::Response& response) {
            put(response, answers.post(rest(request), request.body));
        });
        http.Delete("/api/v1/.*", [this, rest](const httplib::Request& request, httplib::Response& response) {
            put(response, answers.remove(rest(request)));
        });
    }
};

Http::Http(Api& api_of, std::optional<int> port) : server_(std::make_unique<Server>(api_of)) {
    Server& server = *server_;
    server.set_up();
    const int wished = port.value_or(usual_port);
    if (wished > 0 && server.http.bind_to_port(loopback, wished)) server.port = wished;
    if (server.port == 0 && port && *port > 0)
        throw OutputError(
            fmt::format("error: port {} is taken, or not allowed\n  hint: --port 0 takes a free one", *port));
    if (server.port == 0) server.port = server.http.bind_to_any_port(loopback);
    if (server.port <= 0) throw OutputError("error: there is no free port");
    // The library lets five connections wait; a class of students asks at once.
    listen(server.listens, SOMAXCONN);
}

Http::~Http() = default;

std::string Http::address() const {
    return fmt::format("http://{}/#token={}", server_->host(), server_->token);
}

void Http::serve() {
    server_->http.listen_after_bind();
}

void Http::stop() {
    server_->http.stop();
}

}  // namespace syncline::serve
