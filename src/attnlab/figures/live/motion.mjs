// What moves in the browser, for all figures: drawings that become others, what comes from elsewhere, a button that plays.

import { element, setText } from "./figure.mjs";

// One drawing becomes the next ---------------------------------------------------------------------

/**
 * Makes what a node shows into another drawing by Python. What is in both stays, so that it moves, as figure.css says how.
 * An element is taken for the one of the same tag and data-key, or of the same tag and place where there are no keys.
 */
export function redrawn(node, markup) {
  const next = element("template");
  next.innerHTML = markup;
  node.classList.add("moves");
  keepChildren(node, next.content);
}

const sameAs = (node) => (other) => node.tagName === other.tagName && node.dataset.key === other.dataset.key;

function keepChildren(old, next) {
  const had = [...old.children];
  const wanted = [...next.children].map((node) => {
    const at = had.findIndex(sameAs(node));
    return at < 0 ? node : become(had.splice(at, 1)[0], node);
  });
  for (const gone of had) gone.remove();
  wanted.forEach((node, n) => {
    if (old.children[n] !== node) old.insertBefore(node, old.children[n] ?? null);
  });
}

function become(old, next) {
  for (const { name } of [...old.attributes]) if (!next.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  keepChildren(old, next);
  if (!next.children.length) setText(old, next.textContent);
  return old;
}

/** A node comes from where a box is or was; figure.css says how. */
export function arrive(node, from) {
  node.classList.remove("arrives");
  const to = node.getBoundingClientRect();
  const unit = node.getScreenCTM?.().a ?? 1; // px, in a drawing
  const by = (start, size) => (from[start] - to[start] + (from[size] - to[size]) / 2) / unit;
  node.style.setProperty("--from", `${by("x", "width")}px ${by("y", "height")}px`);
  node.classList.add("arrives");
}

// Nothing jumps ------------------------------------------------------------------------------------

/**
 * Keeps a node as tall as the tallest of its contents, at every width. contents(isNew) gives lists of nodes or words, where
 * the width is new with room to spare. The function that it returns measures again, and takes no room away.
 */
export function steady(node, contents) {
  let most = 0;
  const measure = (isNew = false) => {
    const probe = node.cloneNode(false);
    probe.style.cssText = `position: absolute; visibility: hidden; width: ${node.clientWidth}px`;
    node.after(probe);
    const heights = contents(isNew).map((content) => {
      probe.replaceChildren(...content.map((part) => part.cloneNode?.(true) ?? part));
      return probe.offsetHeight;
    });
    probe.remove();
    most = Math.max(most, ...heights);
    node.style.minHeight = `${most}px`;
  };
  const width = element("div"); // its height is always 0
  node.before(width);
  new ResizeObserver(() => {
    most = 0;
    measure(true);
  }).observe(width);
  return measure;
}

// Play and pause -----------------------------------------------------------------------------------

const STARTS = ["Enter", " "]; // keys that press a button
const DOES = ["pointerdown", "keydown", "input", "click"]; // what a reader does

/**
 * A button that plays. next() goes one step on, from the last to the first, and tells whether there are more. Whatever the
 * reader does elsewhere in the body ends it. Where motion is to be reduced, a press is one step. pace() is ms for a step.
 */
export function player(body, next, pace) {
  let playing;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const button = element("button", { type: "button", class: "play" });
  const label = () => {
    const words = playing ? "Pause" : still.matches ? "Play one step" : "Play";
    button.setAttribute("aria-label", words);
    setText(button, `${playing ? "❚❚" : "▶"} ${words}`);
  };
  const pause = () => {
    clearTimeout(playing);
    playing = undefined;
    label();
  };
  const step = () => {
    const goesOn = next() && !still.matches && body.isConnected;
    playing = goesOn ? setTimeout(step, pace()) : undefined;
    label();
  };
  button.addEventListener("click", () => (playing ? pause() : step()));
  still.addEventListener("change", pause);
  for (const deed of DOES) {
    body.addEventListener(deed, ({ target, key }) => {
      const isPress = button.contains(target) && (!key || STARTS.includes(key));
      if (playing && !isPress) pause();
    });
  }
  label();
  return button;
}
