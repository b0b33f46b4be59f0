/** KaTeX with its styles and fonts, loaded with the first formula. */
import type Katex from 'katex'

let typesetter: typeof Katex | null = null
let loading: Promise<void> | null = null
const waiting = new Set<() => void>()

async function load(): Promise<void> {
  const [{ default: katex }] = await Promise.all([import('katex'), import('katex/dist/katex.min.css')])
  typesetter = katex
  for (const notify of waiting) notify()
}

export const isReady = (): boolean => typesetter !== null

/** Calls back once formulas can be set, and starts loading KaTeX. Returns the unsubscribe function. */
export function onReady(tell: () => void): () => void {
  waiting.add(tell)
  loading ??= load().catch((error: unknown) => {
    loading = null
    console.error('Formulas cannot be set', error)
  })
  return () => waiting.delete(tell)
}

const REMEMBERED = 500

/** Rendered nodes by source: symbols recur often, and cloning is far cheaper than setting. */
const known = new Map<string, WeakRef<Node>>()

function remember(key: string, formula: Node): void {
  known.set(key, new WeakRef(formula))
  const oldest = known.keys().next()
  if (known.size > REMEMBERED && oldest.done !== true) known.delete(oldest.value)
}

/** Uses DOM properties only: the CSP forbids style attributes in markup. @returns KaTeX's error message, or null */
export function drawFormula(element: HTMLElement, source: string, display: boolean): string | null {
  const key = `${String(display)} ${source}`
  const set = known.get(key)?.deref()
  if (set !== undefined) {
    element.replaceChildren(set.cloneNode(true))
    return null
  }
  try {
    typesetter?.render(source, element, { displayMode: display, throwOnError: true, strict: 'ignore', maxSize: 40 })
    if (element.firstChild !== null) remember(key, element.firstChild)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
