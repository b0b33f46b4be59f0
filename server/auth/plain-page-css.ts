/** Styles of pages that the server writes itself. The values are the client's design tokens. */
export const PLAIN_PAGE_CSS = `
:root {
  --paper: oklch(0.185 0.008 60);
  --ink: oklch(0.905 0.014 80);
  --ink-soft: oklch(0.72 0.014 75);
  --rule: oklch(0.305 0.01 65);
  color-scheme: dark;
}
@media (prefers-color-scheme: light) {
  :root {
    --paper: oklch(0.972 0.012 85);
    --ink: oklch(0.27 0.016 60);
    --ink-soft: oklch(0.47 0.016 65);
    --rule: oklch(0.885 0.014 80);
    color-scheme: light;
  }
}
* { box-sizing: border-box; margin: 0; }
body { background: var(--paper); color: var(--ink); font: 17px/28px 'Literata Variable', Georgia, serif; }
main { max-width: 42rem; margin: 0 auto; padding: 64px 24px; }
h1 { font-size: 1.728rem; line-height: 40px; font-weight: 500; }
h2 { font-size: 1.2rem; line-height: 28px; font-weight: 500; }
a { color: inherit; text-decoration-thickness: 1px; text-underline-offset: 3px; border-radius: 2px; }
a:hover { text-decoration-thickness: 2px; }
a:focus-visible, button:focus-visible { outline: 2px solid var(--ink); outline-offset: 2px; }
button {
  margin-top: 32px; padding: 10px 16px; border: 0; border-radius: 6px; background: var(--ink); color: var(--paper);
  font: 500 15px/20px 'Inter Variable', system-ui, sans-serif; cursor: pointer;
}
.note, .empty, header p { color: var(--ink-soft); font: 14px/22px 'Inter Variable', system-ui, sans-serif; }
.note { margin-top: 8px; overflow-wrap: anywhere; }
.empty { margin-top: 40px; }
ol { list-style: none; padding: 0; margin-top: 40px; }
li { border-top: 1px solid var(--rule); padding: 24px 0 40px; }
header p { font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.text { margin-top: 16px; white-space: pre-wrap; overflow-wrap: anywhere; }
`
