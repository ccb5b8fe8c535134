// Figures ask for JupyterLab's theme: tell them this site's.
const root = document.documentElement;
const tell = () => root.setAttribute("data-jp-theme-light", root.dataset.theme !== "dark");
new MutationObserver(tell).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
tell();
