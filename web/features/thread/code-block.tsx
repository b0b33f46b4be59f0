import { Check, Copy } from 'lucide-react'
import type { JSX } from 'react'
import { useCopy } from './use-copy.ts'
import styles from './markdown.module.css'

/** Code as it was written, with its language and a button that copies it; long lines scroll inside. */
export function CodeBlock({ code, language }: { code: string; language: string }): JSX.Element {
  const { copied, copy } = useCopy(code)
  return (
    <figure className={styles.code}>
      <figcaption>
        <span>{language.split(/\s/)[0] || 'text'}</span>
        <button type="button" onClick={copy} aria-label={copied ? 'Copied' : 'Copy code'}>
          {copied ? <Check size={14} /> : <Copy size={14} />}
        </button>
      </figcaption>
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </figure>
  )
}
