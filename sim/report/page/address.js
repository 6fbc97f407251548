// The reader's choices in the page's address: a copied link shows what the reader saw.

const address = new URLSearchParams(location.hash.slice(1));

/// Puts a choice into the address; null removes it.
function remember(name, value) {
    if (value === null || value === "")
        address.delete(name);
    else
        address.set(name, value);
    history.replaceState(null, "", address.size === 0 ? location.pathname : `#${address}`);
}

/// Shows the section that the address names, as does the link of the contents. A plain "#why" is an address, too.
function show_place() {
    const id = address.get("at") ?? location.hash.slice(1);
    if (/^[\w-]+$/.test(id)) document.getElementById(id)?.scrollIntoView();
}
window.addEventListener("hashchange", () => location.reload());
