"use strict";
(() => {
  const byId = (id) => document.getElementById(id);

  // What comes from vendors and callers becomes text nodes and attributes, never
  // markup. Characters that can't be seen, or turn the direction of writing, are
  // shown by their numbers.
  const plain = (s) => String(s).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");

  const el = (tag, props, ...children) => {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(props || {})) {
      if (v === false || v == null) continue;
      if (k === "width") e.dataset.width = v; // set by morph: the policy forbids style attributes
      else e.setAttribute(k, v === true ? "" : plain(v));
    }
    for (const c of children.flat()) if (c != null && c !== false) e.append(c.nodeType ? c : document.createTextNode(plain(c)));
    return e;
  };
  const name = (s) => el("bdi", null, s === "" ? "(none)" : s);

  // morph makes the old tree equal to the new one and keeps the elements that
  // stay, so that focus, selection and place survive every update.
  const morph = (old, fresh) => {
    for (const a of [...old.attributes]) if (!fresh.hasAttribute(a.name) && a.name !== "style") old.removeAttribute(a.name);
    for (const a of fresh.attributes) if (old.getAttribute(a.name) !== a.value) old.setAttribute(a.name, a.value);
    if (fresh.dataset.width) old.style.width = fresh.dataset.width;
    const to = [...fresh.childNodes];
    while (old.childNodes.length > to.length) old.lastChild.remove();
    to.forEach((n, i) => {
      const o = old.childNodes[i];
      if (o && o.nodeType === 1 && o.nodeName === n.nodeName && o.dataset.key === n.dataset.key) return morph(o, n);
      if (o && o.nodeType === 3 && n.nodeType === 3) { if (o.data !== n.data) o.data = n.data; return; }
      if (o) o.replaceWith(n); else old.append(n);
      if (n.nodeType === 1) for (const w of [n, ...n.querySelectorAll("[data-width]")]) if (w.dataset.width) w.style.width = w.dataset.width;
    });
  };
  const fill = (id, ...children) => {
    const old = byId(id), fresh = old.cloneNode(false);
    fresh.append(...children.flat().filter(Boolean));
    morph(old, fresh);
  };

  const number = (n) => n.toLocaleString("en-US");
  const span = (ms) => {
    if (ms < 1000) return ms + " ms";
    let s = Math.ceil(ms / 1000);
    const parts = [];
    for (const [n, u] of [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]]) {
      if (s >= n) parts.push(Math.floor(s / n) + " " + u);
      s %= n;
    }
    return parts.slice(0, 2).join(" ");
  };
  const clock = (t) => el("time", { datetime: t }, new Date(t).toLocaleTimeString());
  const since = (t, now) => [clock(t), new Date(now) - new Date(t) < 1000 ? " (now)" : " (" + span(new Date(now) - new Date(t)) + " ago)"];
  const words = (s) => s.replaceAll("_", " ");
  const list = (by) => Object.entries(by || {}).map(([k, n]) => words(k) + " " + number(n)).join(", ");
  const badge = (kind, text) => el("span", { class: "badge " + kind }, text);
  const button = (text, label, data) => el("button", { type: "button", "aria-label": label, ...data }, text);

  const table = (caption, heads, rows) => el("table", null, el("caption", null, caption),
    el("thead", null, el("tr", null, heads.map((h) => el("th", { scope: "col" }, h)))),
    el("tbody", null, rows.map((cells) => el("tr", null, cells.map((c, i) =>
      i === 0 ? el("th", { scope: "row" }, c) : el("td", { "data-label": heads[i] }, c))))));

  const lane = (limit, l) => {
    const drawn = Math.max(0, l.ceiling - l.room), part = l.ceiling > 0 ? Math.min(1, drawn / l.ceiling) : 0;
    const wide = limit.amount > 0 ? Math.min(1, l.ceiling / limit.amount) : 1;
    const kind = part >= 1 ? " full" : part >= 0.8 ? " near" : "";
    return el("div", { class: "lane" }, el("span", { title: l.lane }, name(l.lane)),
      el("div", { class: "span" }, el("div", {
        class: "track", width: 100 * wide + "%", role: "meter", "aria-valuemin": 0, "aria-valuemax": l.ceiling, "aria-valuenow": Math.min(drawn, l.ceiling),
        "aria-label": l.lane + ", " + limit.limit, "aria-valuetext": number(l.room) + " left of " + number(l.ceiling),
      }, el("div", { class: "fill" + kind, width: 100 * part + "%" }))),
      el("span", null, number(l.room) + " of " + number(l.ceiling) + " left"));
  };

  const limit = (l) => el("div", { class: "limit" },
    el("div", { class: "head" }, el("strong", null, name(l.limit), l.account ? " (whole account)" : ""),
      el("span", null, number(l.used) + " of " + number(l.amount) + " used")),
    el("div", { class: "lanes" }, l.lanes.map((x) => lane(l, x))),
    l.reported > 0 && el("p", { class: "soft" }, badge("warn", "differs"), " the vendor reports " + number(l.reported) + ", configured is ", name(l.limit)));

  const fact = (title, text) => text && el("div", null, el("dt", null, title), el("dd", null, text));

  const pauseLine = (p) => el("p", null, badge("warn", "paused"), " " + (p.scope === "key" ? "the whole account" : "this budget") + " for another ",
    el("strong", null, span(p.left_ms)), ": " + words(p.class), p.detail && ", ", p.detail && name(p.detail));

  const guess = (b) => [b.guess_input && "input × " + b.guess_input.toFixed(2), b.guess_output && "output × " + b.guess_output.toFixed(2)].filter(Boolean).join(", ");

  const tenants = (b) => b.tenants.length > 0 && table("Tenants that used it most of late", ["Tenant", "Waiting", "Admitted", "Denied", "Use"],
    b.tenants.map((t) => [name(t.overflow ? "(all others)" : t.tenant), number(t.waiting), number(t.admitted), number(t.denied),
      t.limits.map((l, i) => el("span", null, (i ? " " : "") + number(l.used) + " of " + number(l.amount) + " " + l.unit + (i < t.limits.length - 1 ? ",\u00a0" : "")))]));

  const buttons = (b) => el("div", { class: "buttons" },
    [["model", "budget"], ["key", "account"]].map(([scope, what]) => b.pauses.some((p) => p.scope === scope)
      ? button("Resume " + what, "Resume " + what + " of " + b.budget, { "data-action": "resume", "data-id": b.id, "data-scope": scope })
      : button("Pause " + what + "…", "Pause " + what + " of " + b.budget, { "data-action": "pause", "data-id": b.id, "data-scope": scope, "data-name": what + " " + (scope === "key" ? b.account : b.budget) })));

  const budget = (b, v) => el("article", { class: "card", "data-key": b.id },
    el("div", { class: "top" }, el("h3", null, name(b.budget)),
      b.pauses.length > 0 && badge("warn", "paused"), b.dry_run && badge("good", "dry run"),
      v.keys.some((k) => k.state === "refused" && k.account === b.account) && badge("bad", "key refused")),
    el("p", { class: "soft" }, b.model && ["model ", name(b.model), ", "], "account ", name(b.account)),
    b.pauses.map(pauseLine),
    b.limits.length === 0 ? el("p", { class: "soft" }, "No limits are known yet.") : b.limits.map(limit),
    el("dl", null,
      fact("Waiting here", number(b.waiting) + (b.waiting ? " (" + list(b.waiting_by) + ")" : "")),
      fact("Leased here", b.leased > 0 && number(b.leased) + " calls (" + list(b.leased_by) + ")"),
      fact("Learned estimate", guess(b)),
      fact("Would have been denied", b.dry_run && (list(b.would_deny) || "none")),
      fact("Would have waited", b.dry_run && (list(b.would_wait) || "none"))),
    tenants(b), v.operator && buttons(b));

  const keys = (v) => v.keys.length === 0 ? el("p", { class: "soft" }, "No key was used yet.") : el("div", { class: "scroll" }, table("By fingerprint",
    ["Key", "Account", "State", "Answer", "Since", "Next probe", ...(v.operator ? ["Operator"] : [])], v.keys.map((k) => [
      name(k.key), name(k.account), badge(k.state === "open" ? "good" : "bad", k.state),
      k.class ? [words(k.class), k.detail && ", ", k.detail && name(k.detail)] : "",
      k.since ? since(k.since, v.now) : "", k.state === "open" ? "" : k.next_probe_ms > 0 ? "in " + span(k.next_probe_ms) : "now",
      ...(v.operator ? [k.state === "open" ? "" : button("Probe now", "Probe key " + k.key + " now", { "data-action": "probe", "data-id": k.id })] : []),
    ])));

  const fleet = (v) => el("div", { class: "card" }, el("dl", null,
    fact("Store", [v.store.kind + ", ", v.store.outages.length ? badge("bad", "out of reach") : badge("good", "healthy")]),
    fact("Notices", v.store.kind === "memory" ? "not needed" : v.store.hears ? "come through" : "don't come through"),
    fact("Use was read", v.store.asked ? since(v.store.asked, v.now) : "never"),
    fact("Processes", number(v.live))),
    v.members.length > 0 && table("Processes that share the store", ["Process", "Last seen"],
      v.members.map((m) => [[name(m.id), m.self ? " (this one)" : ""], span(m.seen_ms) + " ago"])));

  const about = (c) => [["budget", c.budget], ["model", c.model], ["key", c.key], ["account", c.account === c.key ? "" : c.account], ["server", c.server], ["limit", c.limit]]
    .filter(([, s]) => s).flatMap(([k, s], i) => [(i ? ", " : "") + k + " ", name(s)]);
  const because = (c) => [c.class && words(c.class), c.detail, c.reported && "reported " + number(c.reported), c.cause]
    .filter(Boolean).flatMap((s, i) => [i ? ", " : "", name(s)]);
  const changes = (v) => v.changes.length === 0 ? el("p", { class: "soft" }, "Nothing has changed yet.") : el("div", { class: "scroll" },
    table("The last " + v.changes.length + ", the newest first; at most 100", ["Time", "Change", "About", "Why", "For"], v.changes.map((c) =>
      [clock(c.time), words(c.kind), about(c), because(c), c.wait_ms > 0 ? span(c.wait_ms) : ""])));

  const outage = (o, now) => el("p", { class: "alarm" }, el("strong", null, "The store is out of reach"), o.server && [" at ", name(o.server)],
    " since ", since(o.since, now), o.cause && [": ", name(o.cause)]);

  // The state is read out when it changes, so it holds no figure that moves.
  const stateOf = (v) => {
    const refused = v.keys.filter((k) => k.state === "refused").length, paused = v.budgets.filter((b) => b.pauses.length > 0).length;
    const bad = [v.store.outages.length > 0 && "store out of reach", refused > 0 && refused + (refused > 1 ? " keys refused" : " key refused")].filter(Boolean);
    const warn = paused > 0 ? [paused + (paused > 1 ? " budgets paused" : " budget paused")] : [];
    return [bad.length ? "bad" : warn.length ? "warn" : "good", [...bad, ...warn].join(", ") || "All open"];
  };
  const say = (kind, text) => {
    const s = byId("state");
    if (s.className !== kind) s.className = kind;
    if (s.textContent !== text) s.textContent = text;
  };

  const show = (v) => {
    say(...stateOf(v));
    fill("facts", document.createTextNode(number(v.waiting) + " waiting here · " + number(v.live) + (v.live === 1 ? " process" : " processes")));
    fill("trouble", v.store.outages.map((o) => outage(o, v.now)),
      v.error && !v.store.outages.length && el("p", { class: "alarm" }, "The store didn't say what is used: ", name(v.error)));
    fill("budgets", v.budgets.length ? v.budgets.map((b) => budget(b, v)) : el("p", { class: "soft" }, "No call was made yet."));
    fill("keys", keys(v));
    fill("fleet", fleet(v));
    fill("changes", changes(v));
    document.body.dataset.updated = v.now;
  };

  const update = async () => {
    try {
      const r = await fetch("?format=json", { cache: "no-store", signal: AbortSignal.timeout(5000) });
      if (!r.ok) throw new Error("status " + r.status);
      show(await r.json());
    } catch {
      say("bad", "This process doesn't answer; what is shown is old");
    }
  };
  const loop = async () => {
    if (!document.hidden) await update();
    setTimeout(loop, 1000);
  };

  const order = async (form) => {
    const told = byId("told");
    try {
      const r = await fetch(location.pathname, { method: "POST", body: new URLSearchParams(form), signal: AbortSignal.timeout(10000) });
      const answer = await r.json();
      told.textContent = answer.done ? "Done: " + plain(answer.done) + "." : "Not done: " + plain(answer.error);
    } catch {
      told.textContent = "Not done: this process doesn't answer.";
    }
    await update();
  };
  let asked = null;
  document.addEventListener("click", (e) => {
    const b = e.target.closest("button[data-action]");
    if (!b) return;
    const { action, id, scope } = b.dataset;
    if (action !== "pause") return order(scope ? { action, id, scope } : { action, id });
    asked = { action, id, scope };
    byId("ask-title").textContent = "Pause " + b.dataset.name;
    byId("ask").returnValue = "";
    byId("ask").showModal();
  });
  byId("ask").addEventListener("close", () => {
    if (byId("ask").returnValue === "yes" && asked) order({ ...asked, for: byId("ask-for").value });
    asked = null;
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) update(); });
  loop();
})();
