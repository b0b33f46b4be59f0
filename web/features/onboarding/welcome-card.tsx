import { X } from 'lucide-react'
import type { JSX, ReactNode } from 'react'
import { PRODUCT_NAME } from '#contract/product-names.ts'
import { Button } from '#web/ui/button.tsx'
import { Progress } from '#web/ui/progress.tsx'
import styles from './welcome-card.module.css'

export type WelcomeCardProps = {
  greetingName: string | null
  steps: { done: number; total: number }
  /** The drop area, shown by the upload button. */
  uploadArea: ReactNode
  uploading: boolean
  onUpload: () => void
  /** Opens the message box, which this card replaces; null while there is nothing to ask about. */
  onAsk: (() => void) | null
  onSample: () => void
  onTutorial: () => void
  onDismiss: () => void
}

export default function WelcomeCard(props: WelcomeCardProps): JSX.Element {
  const { done, total } = props.steps
  const percent = (done / total) * 100
  return (
    <section className={styles.card} aria-labelledby="welcome-title">
      <header className={styles.header}>
        <p className={styles.tag}>Getting Started</p>
        <Button variant="ghost" size="icon" aria-label="Dismiss getting started" onClick={props.onDismiss}>
          <X size={16} />
        </Button>
      </header>
      <h1 id="welcome-title" className={styles.title}>
        {props.greetingName === null ? `${PRODUCT_NAME}, your AI assistant` : `Welcome, ${props.greetingName}`}
      </h1>
      <p className={styles.words}>
        {PRODUCT_NAME} learns from your documents and answers your questions using your data. It helps you analyse
        documents, assists with research and content creation, and keeps everything private in your workspace.
      </p>
      <div className={styles.progress}>
        <p className={styles.progressWords}>
          <span>Onboarding</span>
          <span>
            {done} of {total} steps
          </span>
        </p>
        <Progress value={percent} label="Onboarding" />
      </div>
      {props.onAsk !== null && (
        <Button className={styles.ask} onClick={props.onAsk}>
          Ask a question
        </Button>
      )}
      <div className={styles.actions}>
        <Button
          variant={props.onAsk === null ? 'default' : 'outline'}
          aria-expanded={props.uploading}
          onClick={props.onUpload}
        >
          Upload your first document
        </Button>
        <Button variant="outline" onClick={props.onSample}>
          Try a sample question
        </Button>
        <Button variant="ghost" onClick={props.onTutorial}>
          Watch tutorial
        </Button>
      </div>
      {props.uploading && <div className={styles.upload}>{props.uploadArea}</div>}
    </section>
  )
}
