import { useRef, useState, type JSX } from 'react'
import { Button } from '#web/ui/button.tsx'
import { classNames } from '#web/ui/class-names.ts'
import styles from './message.module.css'

const LONGEST_WHOLE = 2_000
const MOST_LINES = 24

const isLong = (content: string): boolean =>
  content.length > LONGEST_WHOLE || content.split('\n', MOST_LINES + 1).length > MOST_LINES

export function QuestionWords({ content }: { content: string }): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  const words = useRef<HTMLParagraphElement>(null)
  if (!isLong(content))
    return (
      <p className={styles.words} dir="auto">
        {content}
      </p>
    )
  const toggle = (): void => {
    setOpen(!isOpen)
    // The start of a folded message may be far above the view.
    if (isOpen) requestAnimationFrame(() => words.current?.scrollIntoView({ block: 'nearest' }))
  }
  return (
    <>
      <p ref={words} className={classNames(styles.words, !isOpen && styles.folded)} dir="auto">
        {content}
      </p>
      <Button variant="link" className={styles.more} aria-expanded={isOpen} onClick={toggle}>
        {isOpen ? 'Show less' : 'Show more'}
      </Button>
    </>
  )
}
