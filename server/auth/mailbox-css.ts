/** Style of the mailbox page, in the roles of the client's own tokens; served as a file, for no style may be inline. */
export const MAILBOX_CSS = `
:root {
  --paper: oklch(0.2 0.01 60);
  --ink: oklch(0.93 0.012 75);
  --ink-soft: oklch(0.74 0.015 70);
  --rule: oklch(0.33 0.012 60);
  --lamp: oklch(0.8 0.12 70);
  color-scheme: dark;
}
@media (prefers-color-scheme: light) {
  :root {
    --paper: oklch(0.975 0.012 85);
    --ink: oklch(0.27 0.015 60);
    --ink-soft: oklch(0.47 0.02 60);
    --rule: oklch(0.87 0.015 80);
    --lamp: oklch(0.48 0.11 55);
    color-scheme: light;
  }
}
* { box-sizing: border-box; margin: 0; }
body { background: var(--paper); color: var(--ink); font: 17px/28px 'Literata Variable', Georgia, serif; }
main { max-width: 42rem; margin: 0 auto; padding: 64px 24px; }
h1 { font-size: 1.728rem; line-height: 40px; font-weight: 500; }
h2 { font-size: 1.2rem; line-height: 28px; font-weight: 500; }
a { color: var(--lamp); text-decoration-thickness: 1px; text-underline-offset: 3px; border-radius: 2px; }
a:hover { text-decoration-thickness: 2px; }
a:focus-visible { outline: 2px solid var(--lamp); outline-offset: 3px; }
.note, .empty, header p { color: var(--ink-soft); font: 14px/22px 'Inter Variable', system-ui, sans-serif; }
.note { margin-top: 8px; }
.empty { margin-top: 40px; }
ol { list-style: none; padding: 0; margin-top: 40px; }
li { border-top: 1px solid var(--rule); padding: 24px 0 40px; }
header p { font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.text { margin-top: 16px; white-space: pre-wrap; overflow-wrap: anywhere; }
`
