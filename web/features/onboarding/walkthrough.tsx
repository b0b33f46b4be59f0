import { useState, type JSX } from 'react'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import styles from './walkthrough.module.css'

const STEPS = [
  {
    title: 'Bring your documents',
    words: 'Upload a PDF, a Word or Excel file, a text or a picture. It is read page by page; you can go on meanwhile.',
  },
  {
    title: 'Ask in plain words',
    words: 'Each question is answered from the passages of your documents that fit it best.',
  },
  {
    title: 'Check the source',
    words: 'A number in the answer opens the document at the page, with the passage marked.',
  },
] as const

function Example({ step }: { step: number }): JSX.Element | null {
  if (step === 1) {
    return (
      <figure className={styles.example}>
        <figcaption>Example</figcaption>
        <blockquote className={styles.question}>What does the contract say about notice periods?</blockquote>
      </figure>
    )
  }
  if (step === 2) {
    return (
      <figure className={styles.example}>
        <figcaption>Example</figcaption>
        <div className={styles.source}>
          <p>Source: Document.pdf p.3</p>
          <p>98% confidence</p>
        </div>
      </figure>
    )
  }
  return null
}

/** A short walk through the product; its query and its source are marked as an example. */
export function Walkthrough(props: { open: boolean; onClose: () => void; onFinish: () => void }): JSX.Element {
  const [step, setStep] = useState(0)
  const current = STEPS[step] ?? STEPS[0]
  const last = step === STEPS.length - 1
  const close = (): void => {
    setStep(0)
    props.onClose()
  }
  return (
    <Dialog
      open={props.open}
      onOpenChange={(open) => {
        if (!open) close()
      }}
      title={current.title}
      description={current.words}
      actions={
        <>
          {step > 0 && (
            <Button variant="outline" onClick={() => setStep(step - 1)}>
              Back
            </Button>
          )}
          <Button
            onClick={() => {
              if (!last) return setStep(step + 1)
              props.onFinish()
              close()
            }}
          >
            {last ? 'Finish' : 'Next'}
          </Button>
        </>
      }
    >
      <Example step={step} />
      <p className={styles.count}>
        {step + 1} of {STEPS.length}
      </p>
    </Dialog>
  )
}
