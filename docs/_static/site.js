// Figures ask for JupyterLab's theme: tell them this site's.
const root = document.documentElement;
const tell = () => root.setAttribute("data-jp-theme-light", root.dataset.theme !== "dark");
new MutationObserver(tell).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
tell();

// A formula that is wider than the page is scrolled, by keyboard too.
addEventListener("load", () => window.MathJax?.startup.promise.then(() => {
  for (const node of document.querySelectorAll("mjx-container[display=true]")) {
    if (node.scrollWidth > node.clientWidth) node.tabIndex = 0;
  }
}));

// So is a printed picture with a panel that is wider than the page.
addEventListener("load", () => {
  for (const picture of document.querySelectorAll('.cell_output .text_html > div:has(img[style*="--jp-shadow"])')) {
    if (picture.scrollWidth > picture.clientWidth) picture.tabIndex = 0;
  }
});

// Pages whose cells run, docs/runs.py. From a file a browser loads no module.
addEventListener("DOMContentLoaded", () => {
  const bar = document.querySelector("[data-run]");
  if (!bar) return;
  if (location.protocol !== "file:") return import("./run/page.mjs");
  bar.textContent = "The cells of this page run where a server shows it, and not from a file. In a terminal, in the folder "
    + "of the site: python -m http.server. Then open http://localhost:8000/.";
});
