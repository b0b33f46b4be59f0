import { AtSign } from 'lucide-react'
import type { JSX } from 'react'
import { classNames } from '#web/ui/class-names.ts'
import type { ComposerState } from './use-composer.ts'
import styles from './composer.module.css'

/** The tools that fit what is typed after an @. */
export function SuggestionList({ id, composer }: { id: string; composer: ComposerState }): JSX.Element | null {
  if (composer.suggestions.length === 0) return null
  return (
    <ul id={id} role="listbox" aria-label="Tools" className={styles.suggestions}>
      {composer.suggestions.map((suggestion, index) => (
        <li
          key={suggestion.name}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === composer.highlighted}
          className={classNames(styles.suggestion, index === composer.highlighted && styles.highlighted)}
          onMouseDown={(event) => {
            event.preventDefault()
            composer.pick(suggestion)
          }}
        >
          <AtSign size={14} aria-hidden />
          <span className={styles.command}>{suggestion.command}</span>
          <span className={styles.description}>{suggestion.description}</span>
        </li>
      ))}
    </ul>
  )
}
