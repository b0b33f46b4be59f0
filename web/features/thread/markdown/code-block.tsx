import { use, useLayoutEffect, useRef, useState, type JSX } from 'react'
import { useCopy } from '#web/features/thread/actions/use-copy.ts'
import { WritingContext } from '#web/features/thread/context/writing-context.tsx'
import { classNames } from '#web/ui/class-names.ts'
import { BarMark } from './bar-mark.tsx'
import styles from './code-block.module.css'
import type { CodeRun } from './highlight.ts'
import { useHighlight } from './use-highlight.ts'

type CodeBlockProps = {
  code: string
  /** The info string after the opening fence: the language, perhaps followed by more. */
  info: string
  closed: boolean
}

/**
 * Replaces the text node by coloured spans outside React, which renders only the plain text and resets it when the
 * code changes. Reconciling one element per token of a long program would be too slow.
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

export function CodeBlock({ code, info, closed }: CodeBlockProps): JSX.Element {
  const { copied, copy } = useCopy(code)
  const [wrapped, setWrapped] = useState(false)
  const language = /^[^\s{,:]*/.exec(info)?.[0].toLowerCase() ?? ''
  // A closed block does not subscribe to the streaming state and is not rendered again when that ends.
  const finished = closed || !use(WritingContext)
  const runs = useHighlight(code, language, finished)
  const lines = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    if (runs !== null && lines.current !== null) colour(lines.current, runs)
  }, [runs, code])
  return (
    <figure className={styles.block} translate="no" aria-label={language === '' ? 'Code' : `Code, ${language}`}>
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
