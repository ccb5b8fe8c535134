// Plays a figure where no Python runs: a model, as anywidget's is, that looks up what was recorded.

const RECORDED = "A recording, without Python. In the notebook, everything here answers.";
const ELSEWHERE = "this was not recorded; it answers in the notebook";

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** Which of the recorded inputs has what is asked, and most of what there is now; −1 if none has. */
export function closest(inputs, at, change) {
  const asked = Object.entries(change);
  const fits = (each) => asked.every(([name, value]) => name in each && same(each[name], value));
  const kept = (each) => Object.keys(each).filter((name) => same(each[name], inputs[at][name])).length;
  return inputs.reduce((best, each, n) => (fits(each) && (best < 0 || kept(each) > kept(inputs[best])) ? n : best), -1);
}

/** A recording's states; a message moves from one to another, or is a problem that the figure says. */
export function played({ inputs, shown }) {
  let at = 0;
  const listeners = {};
  const values = { ...shown[0], problem: "" };
  const set = (name, value) => {
    if (same(values[name], value)) return;
    values[name] = value;
    for (const listener of listeners[`change:${name}`] ?? []) listener();
  };
  const go = (to) => {
    at = to;
    const state = { ...shown[0].state, ...shown[to].state };
    for (const [name, value] of Object.entries({ ...shown[to], state })) set(name, value);
  };
  return {
    get: (name) => values[name],
    set,
    save_changes() {},
    on(event, listener) { (listeners[event] ??= []).push(listener); },
    send(message, callbacks) {
      set("problem", "");
      const to = message.change ? closest(inputs, at, message.change) : -1;
      if (to < 0) set("problem", ELSEWHERE);
      else go(to);
      callbacks?.iopub?.status({ content: { execution_state: "idle" } });
    },
  };
}

/** What was recorded: as JSON it would be five to twenty times as long. */
async function unpacked(text) {
  const packed = new Blob([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))]);
  return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

async function play(figure, place) {
  const recording = await unpacked(place.querySelector("script").textContent);
  const note = document.createElement("p");
  note.className = "recorded";
  note.textContent = RECORDED;
  const style = place.querySelector("style");
  place.replaceChildren(style);
  figure.render({ model: played(recording), el: place });
  if (!figure.isWhole) place.append(note);
  place.dataset.recording = "played";
}

/** Puts a figure in the place of each still one of its name that a recording stands beside, once, when it comes near. */
export function playAll(figure, name) {
  const near = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      play(figure, target);
    }
  }, { rootMargin: "100% 0%" });
  for (const place of document.querySelectorAll(`[data-recording="${name}"]`)) {
    place.dataset.recording = "waiting";
    near.observe(place);
  }
}
