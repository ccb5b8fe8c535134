// Draws Film: what stands between two frames is between them; a slider goes through all, and a button plays them.

import { drawn, element, mount, setText, settling } from "./figure.mjs";
import { player, steady } from "./motion.mjs";

const MOVING = 0.7; // of the time for a frame; the rest is rest
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
  const { frames, pace, telling, view } = model.get("state");
  const most = frames.length - 1;
  const { node, paint } = sheet(view, frames);
  let moving;
  let at = 0;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const { rest } = settling(model, "at");
  const field = element("input", { type: "range", min: 0, max: most, step: "any", "aria-label": "picture" });
  field.style.setProperty("--steps", most);
  const told = element("p", { class: "told", "aria-hidden": "true" });
  const said = element("p", { class: "unseen", "aria-live": "polite" });
  const tools = element("div", { class: "tools" });
  body.className = "film";
  body.append(node, told, tools, said);
  const measure = steady(told, () => frames.map((frame) => [frame.told]));

  const words = (to) => frames[Math.round(to)].told;
  const show = (to) => {
    at = to;
    paint(at);
    node.setAttribute("aria-label", words(at));
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

  const seen = new IntersectionObserver(([{ isIntersecting }]) => {
    if (!isIntersecting) return;
    seen.disconnect();
    if (at === 0) play.click();
  }, { threshold: SEEN });

  model.on("change:at", () => {
    if (model.get("at") !== at) show(clamped(model.get("at"), most));
  });

  return () => {
    measure();
    show(still.matches && !model.get("at") ? telling : clamped(model.get("at"), most));
    seen.observe(node);
  };
}

export default { render: (context) => mount(context, draw), isWhole: true };
