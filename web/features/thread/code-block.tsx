import { Check, Copy, WrapText } from 'lucide-react'
import { use, useState, type JSX } from 'react'
import { classNames } from '#web/ui/class-names.ts'
import { useCopy } from './use-copy.ts'
import { useHighlight } from './use-highlight.ts'
import { WritingContext } from './writing-context.tsx'
import styles from './code-block.module.css'

type CodeBlockProps = {
  code: string
  /** What stands behind the opening marks: the language, perhaps followed by more. */
  info: string
  /** Whether its closing marks have come. */
  closed: boolean
}

/** Code as it was written, with its language, a button that copies it and one that wraps its lines. */
export function CodeBlock({ code, info, closed }: CodeBlockProps): JSX.Element {
  const { copied, copy } = useCopy(code)
  const [wrapped, setWrapped] = useState(false)
  const writing = use(WritingContext)
  const language = /^[^\s{,:]*/.exec(info)?.[0].toLowerCase() ?? ''
  const runs = useHighlight(code, language, closed || !writing)
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
          <WrapText size={14} />
        </button>
        <button type="button" className={styles.action} onClick={copy} aria-label={copied ? 'Copied' : 'Copy code'}>
          {copied ? <Check size={14} /> : <Copy size={14} />}
        </button>
      </figcaption>
      <pre className={classNames(styles.lines, wrapped && styles.wrapped)} tabIndex={0}>
        <code>
          {runs === null
            ? code
            : runs.map(({ role, text }, index) =>
                role === null ? (
                  text
                ) : (
                  <span key={index} className={styles[role]}>
                    {text}
                  </span>
                ),
              )}
        </code>
      </pre>
    </figure>
  )
}
