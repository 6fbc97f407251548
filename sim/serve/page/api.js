// The server's API: the token of the printed address, requests, and runs of which a newer one cancels the older.

const random_hex = (digits_wanted) => [...crypto.getRandomValues(new Uint8Array(digits_wanted / 2))]
                                          .map((byte) => byte.toString(16).padStart(2, "0"))
                                          .join("");

/// Takes the token out of the address, so that a copied link does not have it.
function stored(name, made) {
    if (made !== null) sessionStorage.setItem(name, made);
    return sessionStorage.getItem(name);
}
const token = stored("syncline-token", address.get("token"));
if (address.has("token")) remember("token", null);
const student = sessionStorage.getItem("syncline-student") ?? stored("syncline-student", random_hex(16));

/// An answer that is not 2xx. `code`, `hint` and `problems` are as the server wrote them.
class Refused extends Error {
    constructor(status, answer) {
        super(answer?.error?.message ?? `the server answered ${status}`);
        this.status = status;
        this.code = answer?.error?.code ?? "";
        this.hint = answer?.error?.hint ?? "";
        this.problems = answer?.problems ?? [];
    }
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/// Returns the answer to a request; throws Refused, or Refused(0) if there is no server. A full queue is tried again.
async function api(path, body = null, method = body === null ? "GET" : "POST", tries = 3) {
    const headers = {Authorization: `Bearer ${token}`, ...(body === null ? {} : {"Content-Type": "application/json"})};
    let response;
    try {
        response =
            await fetch(`/api/v1/${path}`, {method, headers, body: body === null ? undefined : JSON.stringify(body)});
    } catch {
        throw new Refused(0, {
            error: {
                code: "gone",
                message: "the server does not answer",
                hint: "start `syncline serve` again, and open its address"
            }
        });
    }
    if (response.status === 429 && tries > 1) {
        await pause(1000 * Math.min(5, Number(response.headers.get("Retry-After") ?? 1)));
        return api(path, body, method, tries - 1);
    }
    const json = /json/.test(response.headers.get("Content-Type") ?? "");
    const answer = json ? await response.json() : await response.text();
    if (!response.ok) throw new Refused(response.status, answer);
    return answer;
}

const page_id = random_hex(8);  // ids of runs are the page's own
let requests = 0;

/// Returns a function that posts to `path`, with an id, and cancels its previous request if that is still in flight.
/// It returns null if a newer request has replaced this one, or somebody took it with `take()`, which
/// returns its id; a request that is then given that id as `other` cancels it.
function latest(path) {
    let current = null;
    const post = async (body, other = null) => {
        const id = `${page_id}-${++requests}`, replaces = current ?? other;
        current = id;
        try {
            const answer = await api(path, {id, ...(replaces === null ? {} : {replaces}), student, ...body});
            return current === id ? answer : null;
        } catch (refused) {
            if (current !== id || refused.status === 409) return null;
            throw refused;
        } finally {
            if (current === id) current = null;
        }
    };
    post.take = () => {
        const taken = current;
        current = null;
        return taken;
    };
    return post;
}

/// Returns a hint: a command to type, or a sentence.
const hint_of = (hint) =>
    (hint.startsWith("syncline ") ? [" In a terminal: ", make("code", {}, hint)] : [" ", ...inline_markdown(sentence_of(hint))]);

/// Returns an element that says what went wrong, and what to do.
function trouble(refused) {
    const lines = refused.problems.filter(({message}) => message !== refused.message);
    return make(
        "div", {class: "trouble", role: "alert"}, make("b", {}, sentence_of(refused.message)),
        ...(refused.hint ? hint_of(refused.hint) : []),
        ...(lines.length === 0 ? [] : [make("ul", {}, ...lines.map(({key, message, hint}) => make("li", {}, [
                                                                       key, message, hint
                                                                   ].filter(Boolean).join(": "))))]));
}
