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

// So is a printed picture whose words would be too small.
const READ_WHOLE = 600; // px: a picture up to this width has words for a phone
addEventListener("load", () => {
  for (const picture of document.querySelectorAll('.cell_output .text_html > img[style*="--jp-shadow"]:not([aria-hidden])')) {
    const { parentElement: place, naturalWidth } = picture;
    place.classList.toggle("sideways", naturalWidth > READ_WHOLE);
    if (place.scrollWidth > place.clientWidth) place.tabIndex = 0;
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
