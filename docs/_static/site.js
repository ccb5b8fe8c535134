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
