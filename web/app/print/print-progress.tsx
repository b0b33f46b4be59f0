import { drawApart, type Apart } from '#web/app/apart.tsx'
import { Button } from '#web/ui/button.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Progress } from '#web/ui/progress.tsx'

/** Preparations that are over sooner show no dialog. */
const SHOWN_AFTER_MS = 400

export type PrintProgress = { tell: (done: number, total: number) => void; end: () => void }

/** A dialog with the pages that are prepared so far, and Cancel. */
export function showPrintProgress(onCancel: () => void): PrintProgress {
  let counted = { done: 0, total: 0 }
  let apart: Apart | null = null
  const draw = (): void => {
    const { done, total } = counted
    apart?.draw(
      <Dialog
        open
        onOpenChange={cancel}
        title="Preparing to Print"
        description="The print dialog of your browser opens once all pages are ready."
        isClosable={false}
        actions={
          <Button variant="outline" onClick={cancel}>
            Cancel
          </Button>
        }
      >
        <Progress value={total === 0 ? null : (100 * done) / total} label={`${done} of ${total} pages prepared`} />
      </Dialog>,
    )
  }
  const timer = setTimeout(() => {
    apart = drawApart()
    draw()
  }, SHOWN_AFTER_MS)
  const end = (): void => {
    clearTimeout(timer)
    apart?.end()
    apart = null
  }
  function cancel(): void {
    end()
    onCancel()
  }
  return {
    tell: (done, total) => {
      counted = { done, total }
      draw()
    },
    end,
  }
}
