import { useState, type ComponentType, type JSX } from 'react'
import { SHORTCUTS } from '#web/lib/shortcuts.ts'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { DocumentsArrive, EverythingAtHand, SampleQuery, SampleSource } from './illustrations.tsx'
import styles from './walkthrough.module.css'

type Step = { title: string; words: string; Picture: ComponentType }

const FIRST: Step = {
  title: 'Bring your documents',
  words: 'Upload a PDF, a Word or Excel file, a text or a picture. It is read page by page; you can go on meanwhile.',
  Picture: DocumentsArrive,
}

const STEPS: readonly Step[] = [
  FIRST,
  {
    title: 'Ask in plain words',
    words: 'Each question is answered from the passages of your documents that fit it best.',
    Picture: SampleQuery,
  },
  {
    title: 'Check the source',
    words: 'A number in the answer opens the document at the page, with the passage marked.',
    Picture: SampleSource,
  },
  {
    title: 'Find it again',
    words: `${SHORTCUTS.openPalette.keys} finds conversations, what was said in them, and your documents, as you type.`,
    Picture: EverythingAtHand,
  },
]

export default function Walkthrough(props: { open: boolean; onClose: () => void; onFinish: () => void }): JSX.Element {
  const [step, setStep] = useState(0)
  const { title, words, Picture } = STEPS[step] ?? FIRST
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
      title={title}
      description={words}
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
      <Picture />
      <p className={styles.count}>
        {step + 1} of {STEPS.length}
      </p>
    </Dialog>
  )
}
