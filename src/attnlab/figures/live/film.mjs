// Draws Film: what stands between two frames is between them; a slider goes through all, and a button plays them.

import { drawn, element, mount, setText, settling } from "./figure.mjs";
import { player, steady } from "./motion.mjs";

const MOVING = 0.7; // of the time for a frame; the rest is rest
const FEW = 64; // combinations of menus that a recording has all of
const SEEN = 0.6; // of a film that has come into view
const GOES = 0.4; // of a move, in which what leaves fades away, and again, at its end, what comes appears
const FAINTEST = 0.4; // of a word that becomes another: it never goes away
const NUMBER = /-?\d+(\.\d+)?/g;
const PRESSES = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -Infinity, End: Infinity };

const clamped = (at, most) => Math.min(Math.max(at, 0), most);

/** What is a share of the way from one attribute to another: numbers in it move, and all else changes half way. */
export function between(one, other, share) {
  if (one === other) return one;
  const [from, to] = [String(one), String(other)];
  if (from.replace(NUMBER, "") !== to.replace(NUMBER, "")) return share < 0.5 ? one : other;
  const ends = to.match(NUMBER);
  let n = 0;
  return from.replace(NUMBER, (number) => Number(number) + (ends[n++] - number) * share);
}

/** The keys of all parts, from back to front: a new one stands behind the one that it follows in its frame. */
export function inOrder(frames) {
  const keys = [];
  for (const { parts } of frames) {
    let after = -1;
    for (const [, key] of parts) {
      const at = keys.indexOf(key);
      if (at < 0) keys.splice(after + 1, 0, key);
      after = at < 0 ? after + 1 : at;
    }
  }
  return keys;
}

/** The look of a part between two frames, either of which may lack it; null where it is not there. */
export function lookOf(before, after, share) {
  const [one, other] = [before ?? after, after ?? before];
  if (!one) return null;
  const [, , from, words] = one;
  const [, , to, next] = other;
  const look = {};
  for (const name of Object.keys(from)) look[name] = between(from[name], to[name] ?? from[name], share);
  const faded = before ? share / GOES : (1 - share) / GOES;
  const there = before && after ? 1 : clamped(1 - faded, 1);
  const turned = words === next ? 1 : FAINTEST + (1 - FAINTEST) * Math.abs(1 - 2 * share);
  const opacity = (look.opacity ?? 1) * there * turned;
  return opacity > 0 ? { look: { ...look, opacity }, text: share < 0.5 ? words : next } : null;
}

const eased = (share) => share * share * (3 - 2 * share);

/** A sheet for frames: paint(at) draws what is there at a time, counted in frames. */
function sheet(view, frames) {
  const byKey = frames.map(({ parts }) => new Map(parts.map((part) => [part[1], part])));
  const nodes = inOrder(frames).map((key) => {
    const [tag] = byKey.find((each) => each.has(key)).get(key);
    return [key, drawn(tag)];
  });
  const node = drawn("svg", { role: "img", viewBox: view.join(" "), fill: "currentColor" }, ...nodes.map(([, each]) => each));
  node.style.maxWidth = `${1.5 * view[2]}px`;
  const paint = (at) => {
    const n = Math.floor(at);
    const share = eased(at - n);
    for (const [key, part] of nodes) {
      const seen = lookOf(byKey[n].get(key), byKey[n + 1]?.get(key), share);
      part.style.display = seen ? "" : "none";
      if (!seen) continue;
      for (const [name, value] of Object.entries(seen.look)) part.setAttribute(name, value);
      setText(part, seen.text);
    }
  };
  return { node, paint };
}

function draw(body, model) {
  let shown, frames, most, pace, moving;
  let at = 0;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const { rest } = settling(model, "at");
  const field = element("input", { type: "range", min: 0, step: "any", "aria-label": "picture" });
  const told = element("p", { class: "told", "aria-hidden": "true" });
  const said = element("p", { class: "unseen", "aria-live": "polite" });
  const place = element("div");
  const tools = element("div", { class: "tools" });
  const choices = element("div", { class: "tools" });
  body.className = "film";
  body.append(choices, place, told, tools, said);
  const measure = steady(told, () => (frames ?? []).map((frame) => [frame.told]));

  const words = (to) => frames[Math.round(to)].told;
  const show = (to) => {
    at = to;
    shown.paint(at);
    shown.node.setAttribute("aria-label", words(at));
    setText(told, words(at));
    field.value = at;
    field.style.setProperty("--share", at / most);
    field.setAttribute("aria-valuetext", `${Math.round(at) + 1} of ${most + 1}: ${words(at)}`);
  };
  const halt = () => cancelAnimationFrame(moving);
  const glide = (to) => {
    halt();
    if (still.matches || at === to) return show(to);
    const [from, began] = [at, performance.now()];
    const step = (now) => {
      const share = clamped((now - began) / (MOVING * pace), 1);
      show(from + (to - from) * share);
      if (share < 1 && body.isConnected) moving = requestAnimationFrame(step);
    };
    moving = requestAnimationFrame(step);
  };
  const next = () => {
    const to = at < most ? Math.floor(at) + 1 : 0;
    if (to) glide(to);
    else show(0);
    if (to === most) rest(to);
    return to < most;
  };
  const play = player(body, next, () => pace);
  tools.append(play, field);

  field.addEventListener("input", () => {
    halt();
    show(Number(field.value));
    rest(at);
  });
  field.addEventListener("keydown", (event) => {
    const by = PRESSES[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const to = clamped(by > 0 ? Math.floor(at + by) : Math.ceil(at + by), most);
    glide(to);
    rest(to);
    setText(said, words(to));
  });

  const send = (chosen) => model.send({ change: { chosen } });
  const menu = (menus) => menus.map(({ label, options, at: chosen }) => {
    const select = element("select", {}, ...options.map((option) => element("option", {}, option)));
    select.selectedIndex = chosen;
    select.addEventListener("change", () => {
      send([...choices.querySelectorAll("select")].map(({ selectedIndex }) => selectedIndex));
    });
    return element("label", {}, `${label} `, select);
  });

  const seen = new IntersectionObserver(([{ isIntersecting }]) => {
    if (!isIntersecting) return;
    seen.disconnect();
    if (at === 0) play.click();
  }, { threshold: SEEN });

  model.on("change:at", () => {
    if (frames && model.get("at") !== at) show(clamped(model.get("at"), most));
  });

  return () => {
    const state = model.get("state");
    const isFirst = !frames;
    halt();
    ({ frames, pace } = state);
    most = frames.length - 1;
    field.max = most;
    field.style.setProperty("--steps", most);
    shown = sheet(state.view, frames);
    place.replaceChildren(shown.node);
    if (isFirst) choices.replaceChildren(...menu(state.menus));
    choices.hidden = !state.menus.length;
    choices.querySelectorAll("select").forEach((select, n) => { select.selectedIndex = state.menus[n].at; });
    measure();
    show(still.matches && !(isFirst && model.get("at")) ? state.telling : isFirst ? clamped(model.get("at"), most) : 0);
    if (isFirst) seen.observe(place);
    else if (!still.matches) play.click();
  };
}

export default { render: (context) => mount(context, draw), isWhole: ({ menus }) => menus.reduce((many, { options }) => many * options.length, 1) <= FEW };
