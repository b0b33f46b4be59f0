import { AtSign, FileText } from 'lucide-react'
import type { JSX } from 'react'
import { classNames } from '#web/ui/class-names.ts'
import type { ComposerState } from './use-composer.ts'
import styles from './composer.module.css'

export function SuggestionList({ id, composer }: { id: string; composer: ComposerState }): JSX.Element | null {
  if (composer.suggestions.length === 0) return null
  return (
    <ul
      id={id}
      role="listbox"
      aria-label={composer.suggestions[0]?.kind === 'document' ? 'Documents' : 'Tools'}
      className={styles.suggestions}
    >
      {composer.suggestions.map((suggestion, index) => (
        <li
          key={suggestion.shown}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === composer.highlighted}
          className={classNames(styles.suggestion, index === composer.highlighted && styles.highlighted)}
          onMouseDown={(event) => {
            event.preventDefault()
            composer.pick(suggestion)
          }}
        >
          {suggestion.kind === 'tool' ? <AtSign size={14} aria-hidden /> : <FileText size={14} aria-hidden />}
          <span className={styles.command}>{suggestion.shown}</span>
          <span className={styles.description}>{suggestion.description}</span>
        </li>
      ))}
    </ul>
  )
}
