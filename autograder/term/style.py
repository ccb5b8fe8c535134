"""How the page about a class looks: large enough for a projector, in both themes, and on paper.

Okabe and Ito's colours, as in the lessons' figures; every text has a contrast of 7:1 or more with
its background, but for numbers on bars, which are large and have 4.5:1.
"""

STYLE = """
:root { color-scheme: light dark; --text: #1a1a1a; --quiet: #4a4a4a; --page: #ffffff;
  --block: #f2f2ef; --rule: #767676; --link: #0b4f7a; --passed: #0072b2; --failed: #d55e00;
  --partly: #56b4e9; --on-passed: #ffffff; --on-failed: #000000; --ground: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --text: #ececec; --quiet: #bdbdbd; --page: #16181a; --block: #24272a; --rule: #8c8c8c;
    --link: #9ed0f5; --passed: #56a9e0; --failed: #e8791f; --partly: #9ed0f5;
    --on-passed: #000000; --on-failed: #000000; --ground: #16181a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1.5rem 4rem; max-width: 80rem; color: var(--text);
  background: var(--page); font: 1.2rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 2.4rem; line-height: 1.15; margin: 1rem 0 .5rem; }
h2 { font-size: 1.9rem; line-height: 1.2; margin: 3.5rem 0 .75rem; padding-top: 1rem;
  border-top: 3px solid var(--rule); }
h3 { font-size: 1.5rem; line-height: 1.25; margin: 2.5rem 0 .75rem; }
h4 { font-size: 1.25rem; line-height: 1.3; margin: 0 0 .25rem; }
p { margin: .5rem 0; unicode-bidi: isolate; }
.shown, .named { margin: 0; padding: .5rem .9rem; background: var(--block); font-weight: 600; }
.shown { border-left: 8px solid var(--passed); }
.named { border-left: 8px solid var(--failed); }
.lead { font-size: 1.35rem; }
.quiet, figcaption { color: var(--quiet); font-size: 1.05rem; }
.who { font-size: 1rem; background: var(--block); padding: .4rem .7rem; }
.numbers { display: flex; flex-wrap: wrap; gap: .5rem 2.5rem; margin: 1rem 0; }
.numbers dt { color: var(--quiet); font-size: 1.05rem; }
.numbers dd { margin: 0; font-size: 1.6rem; font-weight: 600; line-height: 1.2; }
figure { margin: 1.25rem 0; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--text); font-family: system-ui, sans-serif; }
svg .code { font-family: ui-monospace, Menlo, Consolas, monospace; }
svg .axis { stroke: var(--text); stroke-width: 2; }
svg .passed { fill: var(--passed); }
svg .failed { fill: var(--failed); }
svg .partly { fill: url(#stripes); stroke: var(--passed); stroke-width: 2; }
svg .half { fill: var(--partly); }
svg .missing { fill: var(--ground); stroke: var(--rule); stroke-width: 2; }
svg .stripe { fill: var(--partly); }
svg .stripe-ground { fill: var(--ground); }
svg text.on-passed { fill: var(--on-passed); }
svg text.on-failed { fill: var(--on-failed); }
svg text.on-partly { paint-order: stroke; stroke: var(--ground); stroke-width: 8px; }
.side { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(32rem, 100%), 1fr));
  gap: 1.25rem; align-items: start; }
article { border: 2px solid var(--rule); border-radius: 6px; padding: .9rem 1rem; min-width: 0; }
code, pre { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .92em; }
pre { background: var(--block); padding: .75rem; margin: .6rem 0 0; white-space: pre-wrap;
  unicode-bidi: isolate; font-size: 1.05rem; line-height: 1.4; tab-size: 4; }
pre code { font-size: 1em; }
pre:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
table { border-collapse: collapse; margin: 1rem 0; width: 100%; font-size: 1.1rem; }
th, td { padding: .4rem .7rem; border-bottom: 1px solid var(--rule); text-align: left;
  vertical-align: top; }
th[scope=row] { font-weight: 400; }
td, thead th:not(:first-child) { text-align: right; font-variant-numeric: tabular-nums; }
.people li { margin: .6rem 0; }
@media print {
  :root { color-scheme: light; --text: #000; --quiet: #333; --page: #fff; --block: #f2f2ef;
    --rule: #767676; --link: #000; --passed: #0072b2; --failed: #d55e00; --partly: #56b4e9;
    --on-passed: #fff; --on-failed: #000; --ground: #fff; }
  body { max-width: none; padding: 0; font-size: 10.5pt; print-color-adjust: exact; }
  h1 { font-size: 20pt; } h2 { font-size: 15pt; margin-top: 1.5rem; } h3 { font-size: 12.5pt; }
  h4 { font-size: 11pt; } pre { font-size: 8.5pt; } table, .who, .quiet, figcaption,
  .numbers dt { font-size: 9.5pt; } .numbers dd { font-size: 13pt; } .lead { font-size: 11.5pt; }
  .side { grid-template-columns: 1fr 1fr; gap: .6rem; }
  article { padding: .5rem .6rem; border-width: 1px; }
  h2, h3, h4 { break-after: avoid; }
  article, figure, tr, li { break-inside: avoid; }
  svg { max-height: 11cm; }
}
"""
