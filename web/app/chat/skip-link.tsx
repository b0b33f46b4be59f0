import type { JSX } from 'react'
import styles from './workspace.module.css'

export const MAIN_ID = 'main'

/** Makes `main` focusable only until it loses the focus: otherwise a press on its background would focus it. */
function focusMain(): void {
  const main = document.getElementById(MAIN_ID)
  if (main === null) return
  main.tabIndex = -1
  main.addEventListener('blur', () => main.removeAttribute('tabindex'), { once: true })
  main.focus()
}

export function SkipLink(): JSX.Element {
  return (
    <a
      href={`#${MAIN_ID}`}
      className={styles.skip}
      onClick={(event) => {
        event.preventDefault()
        focusMain()
      }}
    >
      Skip to the conversation
    </a>
  )
}
