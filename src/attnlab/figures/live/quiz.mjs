// Draws Quiz: questions, a button for each choice, and the answer once one is pressed.

import { element, mount, setText } from "./figure.mjs";

const LETTERS = "ABCDE";

function draw(body, model) {
  const questions = model.get("state").questions.map((asked, number) => {
    const head = element("div", { class: "asked", id: `asked-${crypto.randomUUID()}` });
    head.innerHTML = asked.asked;
    const rows = asked.choices.map((choice, at) => {
      const mark = element("span", { class: "mark" });
      const words = element("span");
      words.innerHTML = `${LETTERS[at]}. ${choice}`;
      const button = element("button", { type: "button" }, words, mark);
      button.addEventListener("click", () => {
        if (button.getAttribute("aria-disabled") !== "true") model.send({ choose: [number, at] });
      });
      return { mark, button, node: element("li", {}, button) };
    });
    const said = element("p", { class: "unseen", "aria-live": "polite" });
    const told = element("div", { "aria-hidden": "true" });
    const room = asked.room.map((blank) => element("p", {}, blank));
    const answers = element("div", { class: "answers" },
      element("div", { class: "room", "aria-hidden": "true" }, ...room), told);
    const again = asked.from ? [element("p", { class: "again" }, asked.from)] : [];
    body.append(element("div", { class: "question", role: "group", "aria-labelledby": head.id },
      ...again, head, element("ul", {}, ...rows.map(({ node }) => node)), answers, said));
    return { rows, told, said };
  });

  return () => {
    model.get("state").questions.forEach(({ chosen, right, told: answers, said: read }, number) => {
      const { rows, told, said } = questions[number];
      rows.forEach(({ mark, button }, at) => {
        if (chosen !== null) button.setAttribute("aria-disabled", "true");
        button.classList.toggle("chosen", at === chosen);
        button.classList.toggle("right", at === right);
        const sign = at === right ? "✓" : right !== null && at === chosen ? "✗" : "";
        const marks = [sign, at === chosen ? "your choice" : ""].filter(Boolean).join(" ");
        setText(mark, marks);
      });
      told.replaceChildren(...answers.map((answer) => {
        const line = element("p");
        line.innerHTML = answer;
        return line;
      }));
      setText(said, read);
    });
  };
}

export default { render: (context) => mount(context, draw) };
