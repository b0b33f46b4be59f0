import { use, useLayoutEffect, useRef, useState, type JSX } from 'react'
import { useCopy } from '#web/features/thread/actions/use-copy.ts'
import { WritingContext } from '#web/features/thread/list/writing-context.tsx'
import { BarMark } from '#web/features/thread/message/bar-mark.tsx'
import { classNames } from '#web/ui/class-names.ts'
import styles from './code-block.module.css'
import type { CodeRun } from './highlight.ts'
import { useHighlight } from './use-highlight.ts'

type CodeBlockProps = {
  code: string
  /** What stands behind the opening marks: the language, perhaps followed by more. */
  info: string
  /** Whether its closing marks have come. */
  closed: boolean
}

/**
 * Puts the coloured parts in the place of the plain text, which is React's: it knows of one text and sets it anew when the
 * code becomes another. A program is many small elements, and an account of each would cost more than they do.
 */
function colour(element: HTMLElement, runs: readonly CodeRun[]): void {
  const parts = new DocumentFragment()
  for (const { role, text } of runs) {
    if (role === null) {
      parts.append(text)
      continue
    }
    const part = document.createElement('span')
    part.className = styles[role] ?? ''
    part.textContent = text
    parts.append(part)
  }
  element.replaceChildren(parts)
}

/** Code as it was written, with its language, a button that copies it and one that wraps its lines. */
export function CodeBlock({ code, info, closed }: CodeBlockProps): JSX.Element {
  const { copied, copy } = useCopy(code)
  const [wrapped, setWrapped] = useState(false)
  const language = /^[^\s{,:]*/.exec(info)?.[0].toLowerCase() ?? ''
  // A block that is closed has no part in the writing, and is not drawn again when that ends.
  const finished = closed || !use(WritingContext)
  const runs = useHighlight(code, language, finished)
  const lines = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    if (runs !== null && lines.current !== null) colour(lines.current, runs)
  }, [runs, code])
  return (
    <figure className={styles.block} aria-label={language === '' ? 'Code' : `Code, ${language}`}>
      <figcaption className={styles.bar}>
        <span className={styles.language}>{language === '' ? 'text' : language}</span>
        <button
          type="button"
          className={styles.action}
          aria-label="Wrap lines"
          aria-pressed={wrapped}
          onClick={() => setWrapped(!wrapped)}
        >
          <BarMark name="wrap" />
        </button>
        <button type="button" className={styles.action} onClick={copy} aria-label={copied ? 'Copied' : 'Copy code'}>
          <BarMark name={copied ? 'copied' : 'copy'} />
        </button>
      </figcaption>
      <pre className={classNames(styles.lines, wrapped && styles.wrapped)} tabIndex={0}>
        <code ref={lines}>{code}</code>
      </pre>
    </figure>
  )
}
